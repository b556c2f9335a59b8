//! Transcripts into the store: what is new of each file, read in full, as rows.
//!
//! One [`HistoryIndex`] belongs to one thread. It is asked for one file after another, within a step of the store that
//! the caller commits; a failed step makes it forget what it thinks is stored ([`HistoryIndex::void`]). What it keeps
//! of a file over a restart lies in the store beside the rows, in the same transaction.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use watchbill_core::history::{Heard, HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_store::{Step, Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::layout::Place;

use super::beside::{Alone, Beside};
use super::file::{FileHistory, With};
use super::indexed::{IndexError, IndexedFile};
use super::rows::{Rows, hook_event};

/// Where the store remembers how much of each text is in it.
pub(crate) const CUT: &str = "index_cut";
/// Files that are kept ready: those that grow at the moment, or are to be read in one step.
pub(crate) const READY: usize = 64;

/// The reader of histories.
pub struct HistoryIndex {
    settings: HistorySettings,
    forgotten: HashSet<SessionId>,
    ready: HashMap<PathBuf, FileHistory>,
    /// The files of `ready`, the one used last at the end.
    used: Vec<PathBuf>,
    scratch: Vec<u8>,
    /// The number of the store that it reads for.
    store: u64,
}

impl HistoryIndex {
    /// Knows nothing yet. `store` says which sessions the person wants forgotten.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(mut settings: HistorySettings, store: &Store) -> Result<Self, StoreError> {
        // What is stored already was cut so, and all texts are to be cut alike.
        if let Some(cut) = store.meta(CUT)?.and_then(|cut| cut.parse().ok()) {
            settings.cut = cut;
        }
        Ok(Self {
            settings,
            forgotten: store.forgotten()?.into_iter().collect(),
            ready: HashMap::new(),
            used: Vec::new(),
            scratch: Vec::new(),
            store: store.number(),
        })
    }

    /// Whether it reads for this store, and not for one that was removed.
    pub fn is_of(&self, store: &Store) -> bool {
        self.store == store.number()
    }

    /// Takes up what the store knows of a file. To be called before the step begins in which it is read; for a file
    /// that is ready already it costs nothing.
    ///
    /// # Errors
    /// When the store cannot be read. What is stored in another form is no error: the file is read from its beginning.
    pub fn take_up(&mut self, store: &Store, path: &Path, place: &Place) -> Result<(), StoreError> {
        // Most are not there, and to compare with each one that is takes a hundredth of a first index.
        if self.ready.contains_key(path) {
            if let Some(at) = self.used.iter().rposition(|used| used == path) {
                self.used[at..].rotate_left(1);
            }
            return Ok(());
        }
        if self.used.len() == READY {
            let longest_unused = self.used.remove(0);
            self.ready.remove(&longest_unused);
        }
        self.ready.insert(path.to_path_buf(), FileHistory::take_up(store, path, place)?);
        self.used.push(path.to_path_buf());
        Ok(())
    }

    /// Reads what is new of a file that was taken up, at most `budget` bytes, and stores it in the step.
    ///
    /// # Errors
    /// When the file cannot be read, or the store cannot be written: then the step must be dropped and
    /// [`HistoryIndex::void`] be called.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        step: &mut Step<'_>,
        path: &Path,
        budget: u64,
    ) -> Result<IndexedFile, IndexError> {
        self.read_both(fs, step, path, budget, None::<&mut Alone>)
    }

    /// The same; what is folded `beside` is handed every record too.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_both<B: Beside>(
        &mut self,
        fs: &dyn Fs,
        step: &mut Step<'_>,
        path: &Path,
        budget: u64,
        beside: Option<&mut B>,
    ) -> Result<IndexedFile, IndexError> {
        let Some(file) = self.ready.get_mut(path) else { return Ok(IndexedFile::default()) };
        if self.settings.exclude.leaves_out(&path.to_string_lossy()) {
            file.remove(step)?;
            return Ok(IndexedFile { skipped: true, ..IndexedFile::default() });
        }
        let Self { settings, forgotten, scratch, .. } = self;
        file.read(fs, step, path, budget, With { settings, forgotten, scratch, beside })
    }

    /// Stores what a hook event tells, once however often it is heard. The session's own transcript need not be there yet.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn hear(&mut self, step: &mut Step<'_>, heard: Heard<'_>) -> Result<(), StoreError> {
        let id = &heard.payload.session;
        if self.forgotten.contains(id) {
            return Ok(());
        }
        if heard.payload.cwd.as_deref().is_some_and(|cwd| self.settings.exclude.leaves_out(cwd)) {
            return Ok(());
        }
        let session = step.session_key(id)?;
        let is_new = step.add_hook_event(session, &hook_event(heard))?;
        if let Some(cwd) = heard.payload.cwd.as_deref() {
            step.note_hook_folder(session, cwd)?;
        }
        // The fold of its transcript knows which prompts both tell; without one each is told by the hook alone.
        let known = self.ready.values_mut().find_map(|file| file.own_of(id));
        let mut lonely = None;
        let fold = known.unwrap_or_else(|| lonely.insert(HistoryFold::new(id.clone(), None)));
        let mut rows = Rows { step, session, file: None, texts: 0, failed: None };
        // What it tells was stored with it; told again, it might go to a plan or a turn that has come since.
        let mut sink = |item: Item<'_>| {
            if is_new {
                rows.take(item)
            }
        };
        fold.hear(heard, &self.settings, &mut sink);
        rows.failed.map_or(Ok(()), Err)
    }

    /// The step in which files were read was not committed: what is known of them is what the store says.
    pub fn void(&mut self) {
        self.ready.clear();
        self.used.clear();
    }

    /// The person wants a session forgotten, or stored again.
    pub fn set_forgotten(&mut self, forgotten: impl IntoIterator<Item = SessionId>) {
        self.forgotten = forgotten.into_iter().collect();
        self.void();
    }
}
