//! What the engine knows, kept in the store: written before it is published, read when the program starts.
//!
//! The engine goes on without the store when that cannot be opened or written, says so as a problem, and writes what
//! it owes as soon as it can. Where another process writes, this one reads alone, and takes over when that ends.

pub mod changes;
pub mod kept;
mod words;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use watchbill_core::person::Words;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::session::snapshot::from_bytes;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::tables::states::StateRow;
use watchbill_store::{Access, Mode, Store, StoreError};

use crate::engine::{Engine, Recall};
use changes::{Changes, FileChange};

/// Longest wait for another program's lock: whoever looks on waits as long.
const PATIENCE: Duration = Duration::from_millis(20);
/// After a failure the store is tried again when so much time has passed.
const AGAIN: Millis = Millis::from_secs(2);
/// Where another process writes, it is asked so often, when there is something to write, whether it still does.
const TAKE_OVER: Millis = Millis::from_secs(10);
/// Name of the fact that holds what no file will tell again.
const FACTS: &str = "facts";

/// The store, for all threads of the engine. Whoever publishes goes before whoever indexes.
pub struct Shelf {
    store: Mutex<Option<Store>>,
    /// How many wait that must not be kept waiting.
    urgent: AtomicUsize,
}

impl Shelf {
    /// The store, for whoever somebody waits for.
    fn at_once(&self) -> MutexGuard<'_, Option<Store>> {
        self.urgent.fetch_add(1, Ordering::AcqRel);
        let store = self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.urgent.fetch_sub(1, Ordering::AcqRel);
        store
    }

    /// The store, for whoever has time. To be held for a few milliseconds at most.
    pub fn in_turn(&self) -> MutexGuard<'_, Option<Store>> {
        while self.urgent.load(Ordering::Acquire) > 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Recall for Shelf {
    fn recall(&self, path: &Path) -> Option<StateRow> {
        let store = self.at_once();
        store.as_ref()?.state(path.to_str()?).unwrap_or_else(|error| {
            tracing::warn!(%error, "what is kept of a file cannot be read; the file is read anew");
            None
        })
    }
}

/// The engine's hold on the store.
pub struct Persist {
    folder: PathBuf,
    shelf: Arc<Shelf>,
    /// Could not be stored yet.
    owed: Changes,
    trouble: Option<Problem>,
    /// When to try again.
    again_at: Option<Timestamp>,
    /// This process may write.
    writes: bool,
    forgotten: write::Forgotten,
}

impl Persist {
    /// Opens the store in `folder`, to write if nobody else does. Without a store the engine goes on.
    pub fn open(folder: &Path, mode: Mode) -> Self {
        let shelf = Shelf { store: Mutex::new(None), urgent: AtomicUsize::new(0) };
        let mut persist = Self {
            folder: folder.to_path_buf(),
            shelf: Arc::new(shelf),
            owed: Changes::default(),
            trouble: None,
            again_at: None,
            writes: false,
            forgotten: write::Forgotten::default(),
        };
        persist.try_open(mode);
        persist
    }

    fn try_open(&mut self, mode: Mode) {
        match Store::open(&self.folder, mode).and_then(|store| store.wait_at_most(PATIENCE).map(|()| store)) {
            Ok(store) => {
                self.writes = store.access() == Access::Writer;
                self.forgotten = write::Forgotten::of(&store);
                self.trouble = None;
                *self.shelf.at_once() = Some(store);
            }
            // To one who only reads, no history is no trouble.
            Err(StoreError::Absent { .. }) => {}
            Err(error) => self.trouble = Some(self.problem(&error)),
        }
    }

    /// The store, for other threads.
    pub fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf)
    }

    /// Whether this process writes.
    pub fn writes(&self) -> bool {
        self.writes
    }

    /// What is wrong with the store.
    pub fn trouble(&self) -> Option<&Problem> {
        self.trouble.as_ref()
    }

    /// When [`Persist::save`] is to be called again, if nothing happens before.
    pub fn again_at(&self) -> Option<Timestamp> {
        self.again_at.filter(|_| !self.owed.is_empty())
    }

    /// Gives the engine what was kept, and has it note what changes from now on. Says how many files were known.
    pub fn load(&mut self, engine: &mut Engine) -> usize {
        let read = self.shelf.at_once().as_ref().map(read_all);
        let (heads, facts) = match read {
            Some(Ok(read)) => read,
            Some(Err(error)) => {
                self.trouble = Some(self.problem(&error));
                Default::default()
            }
            None => Default::default(),
        };
        engine.set_recall(self.shelf());
        let facts = facts.and_then(|bytes| from_bytes(&bytes).ok());
        engine.restore_words(self.words().unwrap_or_default());
        let refused = engine.restore(heads, facts);
        if refused > 0 {
            tracing::info!(refused, "files are read anew: what was kept of them is of another version");
        }
        if self.writes {
            engine.keep();
        }
        engine.note_store(self.trouble.clone());
        engine.files.len()
    }

    /// What the person has said, as the store has it now; `None` where that cannot be read.
    pub fn words(&mut self) -> Option<Words> {
        let read = self.shelf.at_once().as_ref().map(words::read)?;
        read.map_err(|error| self.trouble = Some(self.problem(&error))).ok()
    }

    /// Stores everything that has changed, in one transaction: before it is published. What cannot be stored now
    /// is stored later. Gives back the transcripts that were read since the last time.
    pub fn save(&mut self, engine: &mut Engine, now: Timestamp) -> Vec<PathBuf> {
        let mut read = Vec::new();
        if !self.writes && !self.take_over(engine, now) {
            return read;
        }
        let changes = engine.take_changes();
        if changes.is_empty() && (self.owed.is_empty() || self.again_at.is_some_and(|at| now < at)) {
            return read;
        }
        self.owed.merge(changes);
        // A failed attempt may have taken its time: not at every step.
        if self.again_at.is_some_and(|at| now < at && at.since(now) <= AGAIN) {
            return read;
        }
        let stored = match &mut *self.shelf.at_once() {
            Some(store) => write::write(store, &self.owed, &self.forgotten),
            None => return read,
        };
        match stored {
            Ok(()) => {
                let owed = std::mem::take(&mut self.owed);
                let files = owed.files.into_iter().filter(|(_, change)| *change != FileChange::Gone);
                read = files.map(|(path, _)| path).collect();
                engine.put_aside(read.iter().cloned());
                (self.again_at, self.trouble) = (None, None);
            }
            Err(error) => {
                tracing::warn!(%error, "the store cannot be written");
                self.trouble = Some(self.problem(&error));
                self.again_at = Some(now + AGAIN);
            }
        }
        engine.note_store(self.trouble.clone());
        read
    }

    /// Another process wrote when this one started. It may have ended since.
    fn take_over(&mut self, engine: &mut Engine, now: Timestamp) -> bool {
        if self.again_at.is_some_and(|at| now < at && at.since(now) <= TAKE_OVER) {
            return false;
        }
        self.again_at = Some(now + TAKE_OVER);
        self.try_open(Mode::WriteOrRead);
        if self.writes {
            // What the other one has kept lately is not ours: everything is kept anew.
            engine.keep_everything();
            if let Some(words) = self.words() {
                engine.restore_words(words);
            }
            self.again_at = None;
        }
        engine.note_store(self.trouble.clone());
        self.writes
    }

    fn problem(&self, error: &StoreError) -> Problem {
        let path = self.folder.join("watchbill.db");
        Problem {
            path: path.to_string_lossy().into(),
            kind: ProblemKind::Store,
            count: 1,
            detail: error.to_string().into(),
        }
    }
}

type Kept = (Vec<(PathBuf, Vec<u8>)>, Option<Vec<u8>>);

fn read_all(store: &Store) -> Result<Kept, StoreError> {
    let mut heads = Vec::new();
    store.states(&mut |path, head| heads.push((PathBuf::from(path), head.to_vec())))?;
    Ok((heads, store.fact(FACTS)?))
}
