//! Makes a new store if the open one was removed. The user edits and the list of forgotten sessions exist
//! nowhere else, so the engine stores them in a new store, with the pending changes.

use watchbill_store::{OpenMode, Store};

use super::write::Forgotten;
use super::{NewStore, OpenedStore, Persist};
use crate::engine::Engine;

impl Persist {
    /// Why this process has begun to write another store, if it has since the last call.
    pub fn take_new_store(&mut self) -> Option<NewStore> {
        self.begun.take()
    }

    /// Opens a new store and queues everything for it. Says whether this process writes it; another process may be
    /// first.
    pub(super) fn open_new_store(&mut self, engine: &mut Engine) -> bool {
        tracing::warn!(folder = %self.folder.display(), "the store was removed while it was open; a new one is made");
        // The old store is still open, so restore evicted data from it.
        engine.requeue_everything();
        let old = self.shared_store.lock_urgent("removed").take();
        // This engine may not know yet what another thread has removed. So also read the old store's list.
        let known = old.as_ref().and_then(|old| Forgotten::of(old).ok()).unwrap_or_default();
        let forgotten = self.forgotten.sessions().chain(known.sessions()).cloned().collect();
        if let Some(Err(error)) = old.as_ref().map(Store::checkpoint_removed_log) {
            tracing::warn!(%error, "the newest stored data is lost and will be read again");
        }
        // Dropping the old store also releases the writer lock.
        drop(old);
        self.writes = false;
        let carried_out = std::mem::take(&mut self.carried_out);
        self.try_open(OpenMode::WriteOrRead);
        self.forgotten.add(&forgotten);
        self.carried_out.extend(carried_out);
        self.unsaved.merge(engine.take_changes());
        self.unsaved.user_edits.extend(engine.user_edits().changes());
        self.unsaved.forgotten.extend(forgotten);
        self.unsaved.carried_out = Some(self.carried_out.clone());
        self.restore_user_edits(engine);
        self.begun = self.writes.then_some(NewStore::Recreated);
        self.writes
    }

    /// Restores the user edits of the store, plus those that are still pending.
    pub(super) fn restore_user_edits(&mut self, engine: &mut Engine) {
        let Some(mut user_edits) = self.user_edits() else { return };
        self.unsaved.user_edits.iter().for_each(|change| user_edits.apply(change.clone()));
        engine.restore_user_edits(user_edits);
    }

    /// If a reader's store was removed, opens the new one.
    pub(super) fn reopen_if_removed(&mut self) {
        let is_removed = |store: &Store| !self.writes && !store.is_in_place();
        if self.shared_store.lock_urgent("place").as_ref().is_some_and(is_removed)
            && let Ok(known) = Store::open(&self.folder, OpenMode::Read).and_then(OpenedStore::of)
        {
            self.opened(known);
        }
    }
}
