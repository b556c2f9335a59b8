//! The store, shared by all threads of the engine: decides who gets it first, and logs who holds it too long.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use watchbill_store::{Store, StoreError};

use crate::stall::StallTimer;

/// How often a caller that has time rechecks whether an urgent caller waits.
const CHECK_INTERVAL: Duration = Duration::from_micros(200);

/// The store. The thread that publishes goes before the thread that indexes.
#[derive(Default)]
pub struct SharedStore {
    store: Mutex<Option<Store>>,
    /// Number of urgent callers that wait for the store.
    urgent: AtomicUsize,
    /// A second connection writes ([`SecondConnection`]).
    second_writes: AtomicBool,
    /// Sessions were removed, or are stored again, or have other titles by the model, and the engine does not know yet.
    removed: AtomicBool,
    /// Why the history cannot be stored, as text for the user.
    trouble: Mutex<Option<Arc<str>>>,
}

/// A second connection to the store, for work that takes seconds. Until it is dropped, no other connection writes.
/// Readers go on, and the engine holds its changes back.
pub struct SecondConnection<'s> {
    shared_store: &'s SharedStore,
    store: Store,
}

impl SecondConnection<'_> {
    /// The set of sessions that must not be stored has changed. The next writer reads it again.
    pub fn note_removal(&self) {
        self.shared_store.note_changed_edits();
    }
}

impl Deref for SecondConnection<'_> {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl DerefMut for SecondConnection<'_> {
    fn deref_mut(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl Drop for SecondConnection<'_> {
    fn drop(&mut self) {
        let held = self.shared_store.in_turn("end of work apart");
        if let Some(store) = held.as_ref() {
            store.adopt_second_writer(&self.store);
        }
        self.shared_store.second_writes.store(false, Ordering::Release);
    }
}

/// Exclusive access to the store, until it is dropped.
pub struct StoreGuard<'s> {
    store: MutexGuard<'s, Option<Store>>,
    /// Logs if the access takes too long.
    _watched: StallTimer,
}

impl SharedStore {
    /// The store, for an urgent caller: the user or another thread waits for it. `what` names the purpose in the
    /// stall log.
    pub fn lock_urgent(&self, what: &'static str) -> StoreGuard<'_> {
        let waiting = StallTimer::begin("waits for the store", what);
        self.urgent.fetch_add(1, Ordering::AcqRel);
        let store = self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.urgent.fetch_sub(1, Ordering::AcqRel);
        drop(waiting);
        StoreGuard { store, _watched: StallTimer::begin("holds the store", what) }
    }

    /// The store, for a caller that has time. The caller holds it for a few milliseconds at most.
    pub fn in_turn(&self, what: &'static str) -> StoreGuard<'_> {
        while self.has_urgent_waiter() {
            std::thread::sleep(CHECK_INTERVAL);
        }
        let store = self.store.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        StoreGuard { store, _watched: StallTimer::begin("holds the store", what) }
    }

    /// Opens a second connection, for a writer that has much to do; `None` where there is no store.
    ///
    /// # Errors
    /// When another process writes, or the store cannot be opened.
    pub fn second_connection(&self, what: &'static str) -> Result<Option<SecondConnection<'_>>, StoreError> {
        let held = self.in_turn(what);
        let Some(store) = held.as_ref() else { return Ok(None) };
        let store = store.second_writer()?;
        // Set under the lock: a writer on the first connection has already finished, or will see the flag.
        self.second_writes.store(true, Ordering::Release);
        drop(held);
        Ok(Some(SecondConnection { shared_store: self, store }))
    }

    /// Whether a second connection writes. Call it while you hold the store.
    pub fn is_written_apart(&self) -> bool {
        self.second_writes.load(Ordering::Acquire)
    }

    /// The engine must read again what the store has beside transcripts and rows: what was removed, user edits, titles by the model.
    pub fn note_changed_edits(&self) {
        self.removed.store(true, Ordering::Release);
    }

    /// Whether the set of sessions that must not be stored has changed. Call it while you hold the store and no
    /// second connection writes.
    pub fn forgotten_changed(&self) -> bool {
        self.removed.load(Ordering::Acquire)
    }

    /// The engine has read that set again.
    pub fn clear_forgotten_changed(&self) {
        self.removed.store(false, Ordering::Release);
    }

    /// Notes why the history cannot be stored, or `None` if it can. Returns whether that is new.
    pub fn note_trouble(&self, trouble: Option<&str>) -> bool {
        let mut known = self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let is_new = known.as_deref() != trouble;
        if is_new {
            *known = trouble.map(Arc::from);
        }
        is_new
    }

    /// Why the history cannot be stored.
    pub fn trouble(&self) -> Option<Arc<str>> {
        self.trouble.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Whether an urgent caller waits for the store.
    pub fn has_urgent_waiter(&self) -> bool {
        self.urgent.load(Ordering::Acquire) > 0
    }
}

impl Deref for StoreGuard<'_> {
    type Target = Option<Store>;
    fn deref(&self) -> &Option<Store> {
        &self.store
    }
}

impl DerefMut for StoreGuard<'_> {
    fn deref_mut(&mut self) -> &mut Option<Store> {
        &mut self.store
    }
}
