//! What the engine knows, kept in the store: written before it is published, read when the program starts.
//!
//! The engine goes on without the store when that cannot be opened or written, says so as a problem, and writes what
//! it owes as soon as it can. Where another process writes, this one reads alone, and takes over when that ends.

mod anew;
pub mod changes;
mod confirms;
pub mod evict;
pub mod kept;
pub(crate) mod pending;
mod recall;
mod takes_over;
mod words;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use watchbill_core::ids::SessionId;
use watchbill_core::person::{Word, Words};
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::session::snapshot::from_bytes;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_history::Shelf;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::{Access, Mode, Place, Store, StoreError};

use crate::engine::Engine;
use crate::socket::access::CommandId;
use changes::{COMMANDS, CarriedOut, Changes, FACTS, FileChange};
pub use write::facts_without;

/// Longest wait for another program's lock: whoever looks on waits as long.
const PATIENCE: Duration = Duration::from_millis(20);
/// After a failure the store is tried again when so much time has passed.
const AGAIN: Millis = Millis::from_secs(2);
/// While another thread writes apart, so often is asked whether it still does.
const APART: Millis = Millis(100);
/// Where another process writes, it is asked so often whether it still does, also when there is nothing to write: what
/// agents do next is to be kept by somebody.
const TAKE_OVER: Millis = Millis::from_secs(5);
/// So long the id of a command is remembered. A client gives up long before.
const REMEMBERED: Millis = Millis::from_secs(600);

/// The engine's hold on the store.
pub struct Persist {
    folder: PathBuf,
    shelf: Arc<Shelf>,
    /// Could not be stored yet.
    owed: Changes,
    trouble: Option<Problem>,
    /// When to try again.
    again_at: Option<Timestamp>,
    /// How long it is left alone after it could not be opened to write.
    pause: Millis,
    /// This process may write.
    writes: bool,
    forgotten: write::Forgotten,
    /// The ids of commands that were carried out lately, and when.
    carried_out: CarriedOut,
    /// What the person has said of sessions that were removed is not in the store any more.
    words_removed: bool,
    /// What the store says of states is of an earlier run, or of another process.
    states_unconfirmed: bool,
    /// The files of the store that this process writes.
    place: Option<Place>,
    /// This process has begun to write another store than before, and nobody was told yet.
    begun: Option<Begun>,
}

/// Why this process writes a store that may know nothing of what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begun {
    /// The process that wrote has ended, or the folder can be written by now.
    TookOver,
    /// The one before was removed, perhaps with all that lay beside it.
    Anew,
}

/// A store of which it is known what is not to be put into it.
struct Known {
    store: Store,
    forgotten: write::Forgotten,
}

impl Known {
    /// Who cannot tell what was forgotten would store it again, and so may not write. To whoever only reads it is no matter.
    fn of(store: Store) -> Result<Self, StoreError> {
        store.wait_at_most(PATIENCE)?;
        let forgotten = match store.access() {
            Access::Writer => write::Forgotten::of(&store)?,
            Access::Reader { .. } => write::Forgotten::default(),
        };
        Ok(Self { store, forgotten })
    }
}

impl Persist {
    /// Opens the store in `folder`, to write if nobody else does. Without a store the engine goes on.
    pub fn open(folder: &Path, mode: Mode) -> Self {
        let mut persist = Self {
            folder: folder.to_path_buf(),
            shelf: Arc::default(),
            owed: Changes::default(),
            trouble: None,
            again_at: None,
            pause: TAKE_OVER,
            writes: false,
            forgotten: write::Forgotten::default(),
            carried_out: CarriedOut::new(),
            words_removed: false,
            states_unconfirmed: false,
            place: None,
            begun: None,
        };
        persist.try_open(mode);
        persist
    }

    fn try_open(&mut self, mode: Mode) {
        let open = |mode| Store::open(&self.folder, mode).and_then(Known::of);
        let opened = match open(mode) {
            // Damage that is met at the first look has been noted by now, and the next start puts it right: this one.
            Err(StoreError::Damaged { .. }) if mode == Mode::WriteOrRead => open(mode),
            other => other,
        };
        match opened {
            Ok(known) => {
                self.opened(known);
                // Whoever only looks does not meet what keeps others from writing.
                let obstacle = watchbill_store::obstacle(&self.folder).filter(|_| mode == Mode::Read);
                self.trouble = obstacle.map(|error| self.problem(&error));
            }
            // To one who only reads, no history is no trouble, unless there can be none at all.
            Err(StoreError::Absent { .. }) => {
                let in_the_way = watchbill_store::in_the_way(&self.folder);
                self.trouble = in_the_way.map(|error| self.problem(&error));
            }
            Err(error) => {
                let readable = Some(Mode::Read).filter(|_| mode == Mode::WriteOrRead && error.passes());
                if let Some(Ok(known)) = readable.map(open) {
                    self.opened(known);
                }
                self.trouble = Some(self.problem(&error));
            }
        }
    }

    fn opened(&mut self, Known { store, forgotten }: Known) {
        self.writes = store.access() == Access::Writer;
        self.place = Some(store.place()).filter(|_| self.writes);
        self.states_unconfirmed = self.writes;
        self.forgotten = forgotten;
        let carried_out = store.fact(COMMANDS).ok().flatten();
        self.carried_out = carried_out.and_then(|bytes| from_bytes(&bytes).ok()).unwrap_or_default();
        self.trouble = None;
        *self.shelf.at_once("open") = Some(store);
    }

    /// The store, for other threads.
    pub fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf)
    }

    /// Whether this process writes.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// What is wrong with the store: for the engine, or else for the history.
    pub fn trouble(&self) -> Option<Problem> {
        let of_history = || self.shelf.trouble().map(|detail| self.problem_of(detail));
        self.trouble.clone().or_else(of_history)
    }

    /// When [`Persist::save`] is to be called again, if nothing happens before.
    pub fn again_at(&self) -> Option<Timestamp> {
        self.again_at.filter(|_| !self.owed.is_empty() || !self.writes)
    }

    /// Gives the engine what was kept, and has it note what changes from now on. Says how many files were known.
    pub fn load(&mut self, engine: &mut Engine) -> usize {
        let mut refused = 0;
        // Each head as it lies in the database: copies of all of them would be in memory at once.
        let read = self.shelf.at_once("load").as_ref().map(|store| -> Result<_, StoreError> {
            engine.restoring().expect_files(store.most_states()?);
            store.states(&mut |path, head| {
                refused += usize::from(!engine.restoring().file(Path::new(path), head));
            })?;
            // Who does not write does not have to make them either.
            let without_rows = if self.writes { store.without_rows()? } else { None };
            let rules = engine.settings().history.exclude.patterns();
            Ok((store.fact(FACTS)?, without_rows, !store.is_left_out_by(rules)?))
        });
        let (facts, without_rows, other_rules) = match read {
            Some(Ok(read)) => read,
            Some(Err(error)) => {
                self.trouble = Some(self.problem(&error));
                (None, None, false)
            }
            None => (None, None, false),
        };
        engine.set_recall(self.shelf());
        engine.restore_words(self.words().unwrap_or_default());
        if let Some(sessions) = without_rows {
            engine.restoring().rows_are_behind(sessions.iter().map(|id| SessionId::new(id)));
        }
        engine.restoring().end(facts.and_then(|bytes| from_bytes(&bytes).ok()));
        if other_rules {
            engine.restoring().forget_targets();
        }
        if refused > 0 {
            tracing::info!(refused, "files are read anew: what was kept of them is of another version");
        }
        if self.writes {
            engine.keep();
        }
        engine.note_store(self.trouble());
        engine.sessions().files().len()
    }

    /// What the person has said, as the store has it now; `None` where that cannot be read.
    pub fn words(&mut self) -> Option<Words> {
        self.read_in_place();
        let read = self.shelf.at_once("words").as_ref().map(words::read)?;
        read.map_err(|error| self.trouble = Some(self.problem(&error))).ok()
    }

    /// Whatever was refused is tried again with the next [`Persist::save`].
    pub fn try_now(&mut self) {
        self.again_at = None;
    }

    /// Whether another thread has much to do in the store, so that what is said waits.
    pub fn waits_for_another_thread(&self) -> bool {
        self.shelf.is_written_apart()
    }

    /// Whether something waits for the store to be writable again.
    pub fn owes(&self) -> bool {
        !self.owed.is_empty()
    }

    /// Whether a command was carried out already, by this program or by one before it. `command` names whole ids.
    ///
    /// # Errors
    /// When the id belongs to another command.
    pub fn has_carried_out(&self, id: &CommandId, command: &Word) -> Result<bool, ApiError> {
        match self.carried_out.get(id.as_str()) {
            None => Ok(false),
            Some((_, carried_out)) if *carried_out == id.mark_of(command) => Ok(true),
            Some(_) => {
                let message =
                    "another command had this id in the last ten minutes; give each an id of its own";
                Err(ApiError::new(ErrorCode::Invalid, message))
            }
        }
    }

    /// This command is carried out by what is stored next, and with it, whole or not at all.
    pub fn note_carried_out(&mut self, id: &CommandId, command: &Word, now: Timestamp) {
        // A clock that was set back forgets none.
        self.carried_out.retain(|_, (at, _)| now.since(*at) < REMEMBERED);
        self.carried_out.insert(id.to_string(), (now, id.mark_of(command)));
        self.owed.carried_out = Some(self.carried_out.clone());
    }

    /// Stores everything that has changed, in one transaction: before it is published. What cannot be stored now
    /// is stored later. Gives back the transcripts that were read since the last time.
    pub fn save(&mut self, engine: &mut Engine, now: Timestamp) -> Vec<PathBuf> {
        let mut read = Vec::new();
        if !self.writes && !self.take_over(engine, now) {
            return read;
        }
        self.confirm_states(engine);
        let changes = engine.take_changes();
        // Also where another thread alone writes: somebody has to make it anew.
        let database = || self.folder.join(watchbill_store::DATABASE);
        let is_lost = self.place.as_ref().is_some_and(|place| !place.is_held(&database()));
        let removed = self.shelf.has_removed() || is_lost;
        // A failed attempt may have taken its time: not at every step. A clock that went back keeps nobody waiting.
        let later = self.again_at.is_some_and(|at| now < at && at.since(now) <= AGAIN);
        if changes.is_empty() && (self.owed.is_empty() || later) && !removed {
            return read;
        }
        let waited = !self.owed.is_empty();
        self.owed.merge(changes);
        if later {
            return read;
        }
        if waited {
            // What is excluded may be something else by now.
            engine.leave_out(&mut self.owed);
        }
        let mut stored = self.store_owed(engine, now);
        if let Some(Err(StoreError::Removed { .. })) = stored
            && self.begin_anew(engine)
        {
            stored = self.store_owed(engine, now);
        }
        match stored {
            None => return read,
            Some(Ok(())) => {
                let owed = std::mem::take(&mut self.owed);
                engine.evict(owed.files.iter().map(|(path, change)| {
                    (path.clone(), write::keeps(path, change, &owed, &self.forgotten))
                }));
                let files = owed.files.into_iter().filter(|(_, change)| *change != FileChange::Gone);
                read = files.map(|(path, _)| path).collect();
                (self.again_at, self.trouble) = (None, None);
            }
            Some(Err(error)) => {
                let trouble = Some(self.problem(&error));
                // Once, however long it lasts.
                if trouble != self.trouble {
                    tracing::warn!(%error, "the store cannot be written");
                }
                self.trouble = trouble;
                self.again_at = Some(now + AGAIN);
            }
        }
        engine.note_store(self.trouble());
        read
    }

    /// One try, where the store is free; `None` where it is not, or there is none.
    fn store_owed(&mut self, engine: &mut Engine, now: Timestamp) -> Option<Result<(), StoreError>> {
        let shelf = self.shelf();
        let mut held = shelf.at_once("save");
        if shelf.is_written_apart() {
            self.again_at = Some(now + APART);
            return None;
        }
        let store = held.as_mut()?;
        Some(self.learn_of_removal(store, engine).and_then(|()| {
            let is_ours = |path: &str| engine.looks_at(Path::new(path));
            let has_untied = |link: &_| engine.has_untied(link);
            let seen = write::Seen { is_ours: &is_ours, has_untied: &has_untied };
            let exclude = &engine.settings().history.exclude;
            write::write(store, &self.owed, &self.forgotten, exclude, &seen, now)
        }))
    }

    /// Before anything is stored: another thread may have removed sessions, or let some be stored again.
    fn learn_of_removal(&mut self, store: &Store, engine: &mut Engine) -> Result<(), StoreError> {
        if !self.shelf.has_removed() {
            return Ok(());
        }
        let forgotten = write::Forgotten::of(store)?;
        engine.keep_anew(&self.forgotten.not_in(&forgotten));
        self.forgotten = forgotten;
        self.words_removed = true;
        self.shelf.removal_is_known();
        Ok(())
    }

    /// What the person has said, after sessions were removed with what was said of them; once, and not before everything
    /// that was said since is stored.
    pub fn words_left(&mut self) -> Option<Words> {
        if !self.words_removed || self.owes() {
            return None;
        }
        let words = self.words()?;
        self.words_removed = false;
        Some(words)
    }

    fn problem(&self, error: &StoreError) -> Problem {
        self.problem_of(error.to_string().into())
    }

    fn problem_of(&self, detail: Arc<str>) -> Problem {
        let path = self.folder.join("watchbill.db");
        Problem { path: path.to_string_lossy().into(), kind: ProblemKind::Store, count: 1, detail }
    }
}
