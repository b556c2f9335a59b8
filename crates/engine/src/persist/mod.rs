//! The engine's state in the store: written before it is published, read when the program starts.
//!
//! If the store cannot be opened or written, the engine goes on without it, reports a problem, and writes the pending
//! changes as soon as it can. If another process writes, this one only reads, and takes over when the other one ends.
pub mod changes;
mod confirm_states;
pub mod evict;
pub(crate) mod live_state;
pub(crate) mod pending;
mod recall;
mod removed_store;
pub mod stored_transcript;
mod take_over;
mod user_edits;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::session::snapshot::from_bytes;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::user::{SessionCommand, UserEdits};
use watchbill_history::SharedStore;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::{Access, OpenFiles, OpenMode, Store, StoreError};

use crate::engine::Engine;
use crate::socket::access::CommandId;
use changes::{COMMANDS, Changes, FACTS, FileChange, RecentCommands};
pub use write::facts_without;

/// Longest wait for another program's lock. Readers wait as long.
const BUSY_TIMEOUT: Duration = Duration::from_millis(20);
/// Pause before the next attempt after a failure.
const RETRY_PAUSE: Millis = Millis::from_secs(2);
/// Interval of checks while another thread writes through its own connection.
const APART: Millis = Millis(100);
/// Interval of checks whether another process still writes. It applies without pending changes too: some process must
/// store the sessions' next changes.
const TAKE_OVER: Millis = Millis::from_secs(5);
/// How long the engine remembers the id of a command. A client gives up long before.
const COMMAND_ID_LIFETIME: Millis = Millis::from_secs(600);

/// The engine's access to the store.
pub struct Persist {
    folder: PathBuf,
    shared_store: Arc<SharedStore>,
    /// Changes that could not be stored yet.
    unsaved: Changes,
    trouble: Option<Problem>,
    /// Time of the next attempt.
    again_at: Option<Timestamp>,
    /// Pause after a failed attempt to open the store for writing.
    pause: Millis,
    /// Whether this process may write.
    writes: bool,
    forgotten: write::Forgotten,
    /// The ids of recent commands, with their times.
    carried_out: RecentCommands,
    /// Sessions were removed together with their user edits, and the engine must read the remaining edits.
    words_removed: bool,
    /// The states in the store come from an earlier run or another process, and were not compared yet.
    states_unconfirmed: bool,
    /// The store's files, if this process writes them.
    place: Option<OpenFiles>,
    /// This process has begun to write another store, and the caller does not know yet.
    begun: Option<NewStore>,
}

/// Why this process writes a store that may lack data that the engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewStore {
    /// The process that wrote has ended, or the folder has become writable.
    TookOver,
    /// The old store was removed, perhaps with everything beside it.
    Recreated,
}

/// An open store with its list of forgotten sessions.
struct OpenedStore {
    store: Store,
    forgotten: write::Forgotten,
}

impl OpenedStore {
    /// A writer without the list would store forgotten sessions again, so it must not write. A reader does not need the
    /// list.
    fn of(store: Store) -> Result<Self, StoreError> {
        store.set_busy_timeout(BUSY_TIMEOUT)?;
        let forgotten = match store.access() {
            Access::Writer => write::Forgotten::of(&store)?,
            Access::Reader { .. } => write::Forgotten::default(),
        };
        Ok(Self { store, forgotten })
    }
}

impl Persist {
    /// Opens the store in `folder`, for writing unless another process writes. If that fails, the engine works without
    /// a store.
    pub fn open(folder: &Path, mode: OpenMode) -> Self {
        let mut persist = Self {
            folder: folder.to_path_buf(),
            shared_store: Arc::default(),
            unsaved: Changes::default(),
            trouble: None,
            again_at: None,
            pause: TAKE_OVER,
            writes: false,
            forgotten: write::Forgotten::default(),
            carried_out: RecentCommands::new(),
            words_removed: false,
            states_unconfirmed: false,
            place: None,
            begun: None,
        };
        persist.try_open(mode);
        persist
    }

    fn try_open(&mut self, mode: OpenMode) {
        let open = |mode| Store::open(&self.folder, mode).and_then(OpenedStore::of);
        let opened = match open(mode) {
            // The first read has noted the damage. The next opening repairs it, so open again.
            Err(StoreError::Damaged { .. }) if mode == OpenMode::WriteOrRead => open(mode),
            other => other,
        };
        match opened {
            Ok(known) => {
                self.opened(known);
                // Opening for reading does not show whether writing would fail, so check that here.
                let obstacle =
                    watchbill_store::write_obstacle(&self.folder).filter(|_| mode == OpenMode::Read);
                self.trouble = obstacle.map(|error| self.problem(&error));
            }
            // To a reader, a missing store is no problem, unless a file stands where the store must be.
            Err(StoreError::Absent { .. }) => {
                let in_the_way = watchbill_store::blocking_file(&self.folder);
                self.trouble = in_the_way.map(|error| self.problem(&error));
            }
            Err(error) => {
                let readable =
                    Some(OpenMode::Read).filter(|_| mode == OpenMode::WriteOrRead && error.is_temporary());
                if let Some(Ok(known)) = readable.map(open) {
                    self.opened(known);
                }
                self.trouble = Some(self.problem(&error));
            }
        }
    }

    fn opened(&mut self, OpenedStore { store, forgotten }: OpenedStore) {
        self.writes = store.access() == Access::Writer;
        self.place = Some(store.place()).filter(|_| self.writes);
        self.states_unconfirmed = self.writes;
        self.forgotten = forgotten;
        let carried_out = store.fact(COMMANDS).ok().flatten();
        self.carried_out = carried_out.and_then(|bytes| from_bytes(&bytes).ok()).unwrap_or_default();
        self.trouble = None;
        *self.shared_store.lock_urgent("open") = Some(store);
    }

    /// The store, shared with other threads.
    pub fn shared_store(&self) -> Arc<SharedStore> {
        Arc::clone(&self.shared_store)
    }

    /// Whether this process writes.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// The current problem of the store: the engine's, or else the history's.
    pub fn trouble(&self) -> Option<Problem> {
        let of_history = || self.shared_store.trouble().map(|detail| self.problem_of(detail));
        self.trouble.clone().or_else(of_history)
    }

    /// When to call [`Persist::save`] again, if nothing happens before.
    pub fn again_at(&self) -> Option<Timestamp> {
        self.again_at.filter(|_| !self.unsaved.is_empty() || !self.writes)
    }

    /// Restores the engine from the store. From now on the engine notes its changes. Gives the number of known files.
    pub fn load(&mut self, engine: &mut Engine) -> usize {
        let mut refused = 0;
        // Does not copy the heads: all copies would be in memory together.
        let read = self.shared_store.lock_urgent("load").as_ref().map(|store| -> Result<_, StoreError> {
            engine.restoring().expect_files(store.max_state_count()?);
            store.states(&mut |path, head| {
                refused += usize::from(!engine.restoring().file(Path::new(path), head));
            })?;
            // A reader need not make missing rows.
            let without_rows = if self.writes { store.sessions_without_rows()? } else { None };
            let rules = engine.settings().history.exclude.patterns();
            Ok((store.fact(FACTS)?, without_rows, !store.are_rules_applied(rules)?))
        });
        let (facts, without_rows, other_rules) = match read {
            Some(Ok(read)) => read,
            Some(Err(error)) => {
                self.trouble = Some(self.problem(&error));
                (None, None, false)
            }
            None => (None, None, false),
        };
        engine.set_recall(self.shared_store());
        engine.restore_user_edits(self.user_edits().unwrap_or_default());
        if let Some(sessions) = without_rows {
            engine.restoring().rows_are_behind(sessions.iter().map(|id| SessionId::new(id)));
        }
        engine.restoring().end(facts.and_then(|bytes| from_bytes(&bytes).ok()));
        if other_rules {
            engine.restoring().forget_targets();
        }
        if refused > 0 {
            tracing::info!(refused, "files are read again: their stored state is of another version");
        }
        if self.writes {
            engine.keep();
        }
        engine.note_store(self.trouble());
        engine.sessions().files().len()
    }

    /// The user edits in the store now; `None` if they cannot be read.
    pub fn user_edits(&mut self) -> Option<UserEdits> {
        self.reopen_if_removed();
        let read = self.shared_store.lock_urgent("user edits").as_ref().map(user_edits::read)?;
        read.map_err(|error| self.trouble = Some(self.problem(&error))).ok()
    }

    /// The next [`Persist::save`] tries again, without a pause.
    pub fn try_now(&mut self) {
        self.again_at = None;
    }

    /// Whether another thread writes for a long time, so that pending changes wait.
    pub fn waits_for_another_thread(&self) -> bool {
        self.shared_store.is_written_apart()
    }

    /// Whether changes wait until the store is writable.
    pub fn has_unstored(&self) -> bool {
        !self.unsaved.is_empty()
    }

    /// Whether this program, or one before it, carried out this command already. The ids in `command` must be complete, not shortened.
    ///
    /// # Errors
    /// When the id belongs to another command.
    pub fn has_carried_out(&self, id: &CommandId, command: &SessionCommand) -> Result<bool, ApiError> {
        match self.carried_out.get(id.as_str()) {
            None => Ok(false),
            Some((_, carried_out)) if *carried_out == id.hash_with(command) => Ok(true),
            Some(_) => {
                let message =
                    "another command had this id in the last ten minutes; give each an id of its own";
                Err(ApiError::new(ErrorCode::Invalid, message))
            }
        }
    }

    /// Notes that the next save carries out this command. Both are stored in one transaction.
    pub fn note_carried_out(&mut self, id: &CommandId, command: &SessionCommand, now: Timestamp) {
        // If the clock was set back, this keeps all ids.
        self.carried_out.retain(|_, (at, _)| now.since(*at) < COMMAND_ID_LIFETIME);
        self.carried_out.insert(id.to_string(), (now, id.hash_with(command)));
        self.unsaved.carried_out = Some(self.carried_out.clone());
    }

    /// Stores all changes in one transaction, before they are published. If that fails, a later call stores them. Gives
    /// the transcripts that were read since the last save.
    pub fn save(&mut self, engine: &mut Engine, now: Timestamp) -> Vec<PathBuf> {
        let mut read = Vec::new();
        if !self.writes && !self.take_over(engine, now) {
            return read;
        }
        self.confirm_states(engine);
        let changes = engine.take_changes();
        // Check this even while another thread writes: only this process makes a removed store again.
        let database = || self.folder.join(watchbill_store::DATABASE);
        let is_lost = self.place.as_ref().is_some_and(|place| !place.is_current(&database()));
        let removed = self.shared_store.forgotten_changed() || is_lost;
        // A failed attempt may be slow, so do not try at every step. A clock that went back causes no wait.
        let later = self.again_at.is_some_and(|at| now < at && at.since(now) <= RETRY_PAUSE);
        if changes.is_empty() && (self.unsaved.is_empty() || later) && !removed {
            return read;
        }
        let waited = !self.unsaved.is_empty();
        self.unsaved.merge(changes);
        if later {
            return read;
        }
        if waited {
            // The exclusion rules may have changed meanwhile.
            engine.leave_out(&mut self.unsaved);
        }
        let mut stored = self.store_unsaved(engine, now);
        if let Some(Err(StoreError::Removed { .. })) = stored
            && self.open_new_store(engine)
        {
            stored = self.store_unsaved(engine, now);
        }
        match stored {
            None => return read,
            Some(Ok(())) => {
                let unsaved = std::mem::take(&mut self.unsaved);
                engine.evict(unsaved.files.iter().map(|(path, change)| {
                    (path.clone(), write::will_hold_records(path, change, &unsaved, &self.forgotten))
                }));
                let files = unsaved.files.into_iter().filter(|(_, change)| *change != FileChange::Gone);
                read = files.map(|(path, _)| path).collect();
                (self.again_at, self.trouble) = (None, None);
            }
            Some(Err(error)) => {
                let trouble = Some(self.problem(&error));
                // Log a problem once, however long it lasts.
                if trouble != self.trouble {
                    tracing::warn!(%error, "the store cannot be written");
                }
                self.trouble = trouble;
                self.again_at = Some(now + RETRY_PAUSE);
            }
        }
        engine.note_store(self.trouble());
        read
    }

    /// One attempt. `None` if the store is busy or missing.
    fn store_unsaved(&mut self, engine: &mut Engine, now: Timestamp) -> Option<Result<(), StoreError>> {
        let shared_store = self.shared_store();
        let mut held = shared_store.lock_urgent("save");
        if shared_store.is_written_apart() {
            self.again_at = Some(now + APART);
            return None;
        }
        let store = held.as_mut()?;
        Some(self.take_removal(store, engine).and_then(|()| {
            let is_ours = |path: &str| engine.is_below_roots(Path::new(path));
            let has_untied = |link: &_| engine.has_untied(link);
            let seen = write::EngineKnowledge { is_below_our_roots: &is_ours, has_untied: &has_untied };
            let exclude = &engine.settings().history.exclude;
            write::write(store, &self.unsaved, &self.forgotten, exclude, &seen, now)
        }))
    }

    /// Runs before each write. Another thread may have removed sessions, or allowed some to be stored again.
    fn take_removal(&mut self, store: &Store, engine: &mut Engine) -> Result<(), StoreError> {
        if !self.shared_store.forgotten_changed() {
            return Ok(());
        }
        let forgotten = write::Forgotten::of(store)?;
        engine.requeue_sessions(&self.forgotten.not_in(&forgotten));
        self.forgotten = forgotten;
        self.words_removed = true;
        self.shared_store.clear_forgotten_changed();
        Ok(())
    }

    /// The remaining user edits, once after sessions were removed with their edits. Waits until all later edits are
    /// stored.
    pub fn remaining_user_edits(&mut self) -> Option<UserEdits> {
        if !self.words_removed || self.has_unstored() {
            return None;
        }
        let user_edits = self.user_edits()?;
        self.words_removed = false;
        Some(user_edits)
    }

    fn problem(&self, error: &StoreError) -> Problem {
        self.problem_of(error.to_string().into())
    }

    fn problem_of(&self, detail: Arc<str>) -> Problem {
        let path = self.folder.join(watchbill_store::DATABASE);
        Problem { path: path.to_string_lossy().into(), kind: ProblemKind::Store, count: 1, detail }
    }
}
