//! Stores transcripts: reads the new part of each file in full and makes rows of it.
//!
//! One [`HistoryIndex`] belongs to one thread. The caller asks it to read one file after another, within a step of
//! the store that the caller commits. After a failed step the caller calls [`HistoryIndex::void`], because the index
//! then expects rows that are not stored. The state of each file is stored beside its rows, in the same transaction.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use watchbill_core::history::{Heard, HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_store::{Step, Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::layout::ClientPath;

use super::beside::{NoObserver, RecordObserver};
use super::file::{FileHistory, ReadContext};
use super::indexed::{FileReadCounts, IndexError};
use super::rows::{Rows, hook_event};

/// Name of the store's entry for the size limit of a tool's text.
pub(crate) const CUT_META: &str = "index_cut";
/// Number of files kept in memory: those that grow at the moment, and those of one step.
pub(crate) const MAX_READY: usize = 64;

/// Reads transcripts into the store.
pub struct HistoryIndex {
    settings: HistorySettings,
    forgotten: HashSet<SessionId>,
    ready: HashMap<PathBuf, FileHistory>,
    /// The files of `ready`, the last used one at the end.
    used: Vec<PathBuf>,
    scratch: Vec<u8>,
    /// The number of the store for which it reads.
    store: u64,
}

impl HistoryIndex {
    /// Begins without any file. `store` has the ids of forgotten sessions.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(mut settings: HistorySettings, store: &Store) -> Result<Self, StoreError> {
        // Stored texts have this limit, and all texts must have the same one.
        if let Some(cut) = store.meta(CUT_META)?.and_then(|cut| cut.parse().ok()) {
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

    /// Whether it reads for this store, and not for one that was deleted.
    pub fn is_of(&self, store: &Store) -> bool {
        self.store == store.number()
    }

    /// Restores the state of a file from the store. The caller does so before it begins the step that reads the file.
    /// It costs nothing if the file is ready.
    ///
    /// # Errors
    /// When the store cannot be read. State in another form is no error: the file is read from its beginning.
    pub fn restore_file(&mut self, store: &Store, path: &Path, place: &ClientPath) -> Result<(), StoreError> {
        // Most files are not ready. Comparing their paths with all ready ones would take a hundredth of a first
        // index.
        if self.ready.contains_key(path) {
            if let Some(at) = self.used.iter().rposition(|used| used == path) {
                self.used[at..].rotate_left(1);
            }
            return Ok(());
        }
        if self.used.len() == MAX_READY {
            let longest_unused = self.used.remove(0);
            self.ready.remove(&longest_unused);
        }
        self.ready.insert(path.to_path_buf(), FileHistory::take_up(store, path, place)?);
        self.used.push(path.to_path_buf());
        Ok(())
    }

    /// Reads at most `budget` new bytes of a file that was taken up, and stores them in the step.
    ///
    /// # Errors
    /// When the file cannot be read, or the store cannot be written. After an error of the store the caller must drop
    /// the step and call [`HistoryIndex::void`].
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        step: &mut Step<'_>,
        path: &Path,
        budget: u64,
    ) -> Result<FileReadCounts, IndexError> {
        self.read_both(fs, step, path, budget, None::<&mut NoObserver>)
    }

    /// The same; `beside` receives every record too.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_both<B: RecordObserver>(
        &mut self,
        fs: &dyn Fs,
        step: &mut Step<'_>,
        path: &Path,
        budget: u64,
        beside: Option<&mut B>,
    ) -> Result<FileReadCounts, IndexError> {
        let Some(file) = self.ready.get_mut(path) else { return Ok(FileReadCounts::default()) };
        if self.settings.exclude.excludes(&path.to_string_lossy()) {
            file.remove(step)?;
            return Ok(FileReadCounts { skipped: true, ..FileReadCounts::default() });
        }
        let Self { settings, forgotten, scratch, .. } = self;
        file.read(fs, step, path, budget, ReadContext { settings, forgotten, scratch, beside })
    }

    /// Stores a hook event, once even if it arrives several times. The session's own transcript need not exist yet.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn hear(&mut self, step: &mut Step<'_>, heard: Heard<'_>) -> Result<(), StoreError> {
        let id = &heard.payload.session;
        if self.forgotten.contains(id) {
            return Ok(());
        }
        if heard.payload.cwd.as_deref().is_some_and(|cwd| self.settings.exclude.excludes(cwd)) {
            return Ok(());
        }
        let session = step.session_key(id)?;
        let is_new = step.add_hook_event(session, &hook_event(heard))?;
        if let Some(cwd) = heard.payload.cwd.as_deref() {
            step.note_hook_folder(session, cwd)?;
        }
        // The fold of the transcript knows which prompts both sources have. Without a fold, the hook event is the
        // only source.
        let known = self.ready.values_mut().find_map(|file| file.own_fold(id));
        let mut lonely = None;
        let fold = known.unwrap_or_else(|| lonely.insert(HistoryFold::new(id.clone(), None)));
        let mut rows = Rows { step, session, file: None, texts: 0, failed: None };
        // A repeated event stores nothing: its items were stored with the first one, and could now go to a later plan
        // or turn.
        let mut sink = |item: Item<'_>| {
            if is_new {
                rows.take(item)
            }
        };
        fold.hear(heard, &self.settings, &mut sink);
        rows.failed.map_or(Ok(()), Err)
    }

    /// The step that read files was not committed: drops their states, so that the next read takes them from the
    /// store.
    pub fn discard_states(&mut self) {
        self.ready.clear();
        self.used.clear();
    }

    /// Replaces the set of sessions that the user wants forgotten.
    pub fn set_forgotten(&mut self, forgotten: impl IntoIterator<Item = SessionId>) {
        self.forgotten = forgotten.into_iter().collect();
        self.discard_states();
    }
}
