//! Stores transcripts: reads the new part of each file in full and makes rows of it.
//!
//! One [`HistoryIndex`] belongs to one thread. The caller begins a step of the store, lets the index read one file
//! after another, and commits the step. After a failed step, the caller calls [`HistoryIndex::discard_states`], because
//! the index then expects rows that are not stored. The same transaction stores the rows of a file and its state.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::{HistoryFold, HistorySettings, HookEventParts, Item, MATCH_SPAN};
use watchbill_core::hook::HookEvent;
use watchbill_core::ids::SessionId;
use watchbill_store::{SessionKey, Store, StoreError, WriteTransaction};
use watchbill_watch::fs::Fs;

use super::beside::{NoObserver, RecordObserver};
use super::file::{FileHistory, ReadContext};
use super::indexed::{FileReadCounts, IndexError};
use super::rows::{Rows, hook_event};

/// Name of the entry in the store that holds the size limit for the text of a tool.
pub(crate) const CUT_META: &str = "index_cut";
/// The most files whose states stay in memory: the files that grow at the moment, and those of one step.
pub(crate) const MAX_READY: usize = 64;

/// Reads transcripts into the store.
pub struct HistoryIndex {
    settings: HistorySettings,
    forgotten: HashSet<SessionId>,
    ready: HashMap<PathBuf, FileHistory>,
    /// The files of `ready`, in order of use; the last one was used most recently.
    used: Vec<PathBuf>,
    scratch: Vec<u8>,
    /// The number of the store into which this index reads.
    store: u64,
}

impl HistoryIndex {
    /// Begins without any file. Takes the ids of forgotten sessions from `store`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(mut settings: HistorySettings, store: &Store) -> Result<Self, StoreError> {
        // The stored texts were cut at this limit, and all texts must have the same limit.
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

    /// Whether this index reads into this store, and not into one that was deleted.
    pub fn is_of(&self, store: &Store) -> bool {
        self.store == store.number()
    }

    /// Restores the state of a file from the store. The caller must do so before it begins the step that reads the
    /// file. If the file is ready, this costs nothing.
    ///
    /// # Errors
    /// When the store cannot be read. State in another form is not an error: the index then reads the file from its
    /// beginning.
    pub fn restore_file(&mut self, store: &Store, path: &Path, place: &ClientPath) -> Result<(), StoreError> {
        // Most files are not ready. A comparison with the paths of all ready files would take one percent of the time
        // of a first index.
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

    /// Reads at most `budget` new bytes of a file that is ready, and stores them in the step.
    ///
    /// # Errors
    /// When the file cannot be read, or the store cannot be written. After an error of the store, the caller must drop
    /// the step and call [`HistoryIndex::discard_states`].
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        step: &mut WriteTransaction<'_>,
        path: &Path,
        budget: u64,
    ) -> Result<FileReadCounts, IndexError> {
        self.read_both(fs, step, path, budget, None::<&mut NoObserver>)
    }

    /// Like [`read`](Self::read), but `beside` also receives every record.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_both<B: RecordObserver>(
        &mut self,
        fs: &dyn Fs,
        step: &mut WriteTransaction<'_>,
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

    /// Stores a hook event. If it arrives several times, it is stored once. The transcript of its session need not
    /// exist yet. Returns the session if the event is new and its texts may be kept.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn add_hook_event(
        &mut self,
        fs: &dyn Fs,
        step: &mut WriteTransaction<'_>,
        event: HookEventParts<'_>,
    ) -> Result<Option<SessionKey>, StoreError> {
        let id = &event.payload.session;
        if self.forgotten.contains(id) || matches!(event.payload.event, HookEvent::StatusLine(_)) {
            return Ok(None);
        }
        if event.payload.cwd.as_deref().is_some_and(|cwd| self.settings.exclude.excludes(cwd)) {
            return Ok(None);
        }
        let session = step.session_key(id)?;
        let is_new = step.add_hook_event(session, &hook_event(event))?;
        if let Some(cwd) = event.payload.cwd.as_deref() {
            step.note_hook_folder(session, cwd)?;
        }
        // A prompt may be in the transcript and in a hook event. The fold of the transcript knows these prompts.
        // Without a fold, the hook event is the only source.
        let known = self.ready.values_mut().find_map(|file| file.own_fold(id));
        let mut lonely = None;
        let fold = known.unwrap_or_else(|| lonely.insert(HistoryFold::new(id.clone(), None)));
        if let (HookEvent::UserPromptSubmit { .. }, None) = (&event.payload.event, &event.payload.prompt_id) {
            let at = event.origin.at;
            for known in step.prompts_between(session, at - MATCH_SPAN, at + MATCH_SPAN)? {
                fold.recall_prompt(&known.batch);
            }
        }
        let mut rows = Rows { step, session, file: None, fs, texts: 0, failed: None };
        // A repeated event stores nothing. Its items were stored with the first one. Stored again, they could go to a
        // later plan or turn.
        let mut took = false;
        let mut sink = |item: Item<'_>| {
            if is_new {
                took = true;
                rows.take(item)
            }
        };
        fold.apply_hook_event(event, &self.settings, &mut sink);
        rows.failed.map_or(Ok(()), Err)?;
        let is_private = match (&event.payload.event, &event.payload.prompt_id) {
            (HookEvent::UserPromptSubmit { .. }, _) | (_, None) => false,
            (_, Some(prompt)) => step.is_private(session, prompt)?,
        };
        Ok((took && !is_private).then_some(session))
    }

    /// Drops the states of all files, for example after a step that read them was not committed. The next read takes
    /// the states from the store.
    pub fn discard_states(&mut self) {
        self.ready.clear();
        self.used.clear();
    }
}
