//! The store, for all threads of the engine: who may have it first, and who had it for too long.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use watchbill_store::Store;
use watchbill_store::tables::states::StateRow;

use crate::engine::Recall;
use crate::stall::Watched;

/// Whoever has time asks again so often whether nobody else waits any more.
const LOOK: Duration = Duration::from_micros(200);

/// The store. Whoever publishes goes before whoever indexes.
#[derive(Default)]
pub struct Shelf {
    store: Mutex<Option<Store>>,
    /// How many wait that must not be kept waiting.
    urgent: AtomicUsize,
}

/// The store in somebody's hands, until it is dropped.
pub struct Held<'s> {
    store: MutexGuard<'s, Option<Store>>,
    /// Says so if it takes too long.
    _watched: Watched,
}

impl Shelf {
    /// The store, for whoever somebody waits for; `what` for is told, should it take long.
    pub fn at_once(&self, what: &'static str) -> Held<'_> {
        let waiting = Watched::begin("waits for the store", what);
        self.urgent.fetch_add(1, Ordering::AcqRel);
        let store = self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.urgent.fetch_sub(1, Ordering::AcqRel);
        drop(waiting);
        Held { store, _watched: Watched::begin("holds the store", what) }
    }

    /// The store, for whoever has time. To be held for a few milliseconds at most.
    pub fn in_turn(&self, what: &'static str) -> Held<'_> {
        while self.is_wanted() {
            std::thread::sleep(LOOK);
        }
        let store = self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Held { store, _watched: Watched::begin("holds the store", what) }
    }

    /// Whether somebody waits for the store that must not be kept waiting.
    pub fn is_wanted(&self) -> bool {
        self.urgent.load(Ordering::Acquire) > 0
    }
}

impl Deref for Held<'_> {
    type Target = Option<Store>;
    fn deref(&self) -> &Option<Store> {
        &self.store
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Option<Store> {
        &mut self.store
    }
}

impl Recall for Shelf {
    fn recall(&self, path: &Path) -> Option<StateRow> {
        let store = self.at_once("recall of a file");
        store.as_ref()?.state(path.to_str()?).unwrap_or_else(|error| {
            tracing::warn!(%error, "what is kept of a file cannot be read; the file is read anew");
            None
        })
    }
}
