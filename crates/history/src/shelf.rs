//! The store, for all threads of the engine: who may have it first, and who had it for too long.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use watchbill_store::{Store, StoreError};

use crate::stall::Watched;

/// Whoever has time asks again so often whether nobody else waits any more.
const LOOK: Duration = Duration::from_micros(200);

/// The store. Whoever publishes goes before whoever indexes.
#[derive(Default)]
pub struct Shelf {
    store: Mutex<Option<Store>>,
    /// How many wait that must not be kept waiting.
    urgent: AtomicUsize,
    /// Somebody writes by a connection of their own.
    apart: AtomicBool,
    /// Whoever writes apart has removed sessions, or lets some be stored again, and the engine does not know yet.
    removed: AtomicBool,
    /// Why the history is not kept, in words for the person.
    trouble: Mutex<Option<Arc<str>>>,
}

/// A second connection to the store, for work that takes seconds. Until it is dropped nobody else writes, whoever reads
/// goes on, and what is to be stored meanwhile is owed.
pub struct Apart<'s> {
    shelf: &'s Shelf,
    store: Store,
}

impl Apart<'_> {
    /// Other sessions than before are not to be stored: whoever stores next looks which those are.
    pub fn note_removal(&self) {
        self.shelf.removed.store(true, Ordering::Release);
    }
}

impl Deref for Apart<'_> {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl DerefMut for Apart<'_> {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl Drop for Apart<'_> {
    fn drop(&mut self) {
        let held = self.shelf.in_turn("end of work apart");
        if let Some(store) = held.as_ref() {
            store.was_written_beside(&self.store);
        }
        self.shelf.apart.store(false, Ordering::Release);
    }
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

    /// Has somebody write apart, who has much to do; `None` where there is no store.
    ///
    /// # Errors
    /// When another process writes, or the store cannot be opened.
    pub fn apart(&self, what: &'static str) -> Result<Option<Apart<'_>>, StoreError> {
        let held = self.in_turn(what);
        let Some(store) = held.as_ref() else { return Ok(None) };
        let store = store.second_writer()?;
        // Under the lock: whoever is about to write by the first connection has written, or will ask.
        self.apart.store(true, Ordering::Release);
        drop(held);
        Ok(Some(Apart { shelf: self, store }))
    }

    /// Whether somebody writes apart. To be asked while the store is held.
    pub fn is_written_apart(&self) -> bool {
        self.apart.load(Ordering::Acquire)
    }

    /// Whether other sessions than before are not to be stored. To be asked while the store is held, and nobody writes
    /// apart.
    pub fn has_removed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// It is known by now which those are.
    pub fn removal_is_known(&self) {
        self.removed.store(false, Ordering::Release);
    }

    /// Notes why the history is not kept, or that it is; says whether that is news.
    pub fn note_trouble(&self, trouble: Option<&str>) -> bool {
        let mut known = self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let news = known.as_deref() != trouble;
        if news {
            *known = trouble.map(Arc::from);
        }
        news
    }

    /// Why the history is not kept.
    pub fn trouble(&self) -> Option<Arc<str>> {
        self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
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
