//! The store was removed while this program had it open. What it tells of the person's words, and of what they wanted
//! forgotten, is told by nothing else: it is stored in the one that is made anew, with what is owed.

use watchbill_store::{Mode, Store};

use super::write::Forgotten;
use super::{Begun, Known, Persist};
use crate::engine::Engine;

impl Persist {
    /// Whether this process has begun to write another store since this was asked last.
    pub fn has_begun(&mut self) -> Option<Begun> {
        self.begun.take()
    }

    /// Opens the store anew, and owes it everything. Says whether this process writes it; another one may, by now.
    pub(super) fn begin_anew(&mut self, engine: &mut Engine) -> bool {
        tracing::warn!(folder = %self.folder.display(), "the store was removed while it was open; it is made anew");
        // What was put aside is read from the old one, which is open still.
        engine.keep_everything();
        let old = self.shelf.at_once("removed").take();
        // What another thread has removed lately may not be known here.
        let known = old.as_ref().and_then(|old| Forgotten::of(old).ok()).unwrap_or_default();
        let forgotten = self.forgotten.sessions().chain(known.sessions()).cloned().collect();
        if let Some(Err(error)) = old.as_ref().map(Store::rescue_log) {
            tracing::warn!(%error, "the newest of what was stored is read again");
        }
        // With its lock.
        drop(old);
        self.writes = false;
        let carried_out = std::mem::take(&mut self.carried_out);
        self.try_open(Mode::WriteOrRead);
        self.forgotten.add(&forgotten);
        self.carried_out.extend(carried_out);
        self.owed.merge(engine.take_changes());
        self.owed.words.extend(engine.words().changes());
        self.owed.forgotten.extend(forgotten);
        self.owed.carried_out = Some(self.carried_out.clone());
        self.restore_words(engine);
        self.begun = self.writes.then_some(Begun::Anew);
        self.writes
    }

    /// The words of the store, with those that it is still owed.
    pub(super) fn restore_words(&mut self, engine: &mut Engine) {
        let Some(mut words) = self.words() else { return };
        self.owed.words.iter().for_each(|change| words.apply(change.clone()));
        engine.restore_words(words);
    }

    /// Who only reads must not go on reading a store that was removed.
    pub(super) fn read_in_place(&mut self) {
        let is_removed = |store: &Store| !self.writes && !store.is_in_place();
        if self.shelf.at_once("place").as_ref().is_some_and(is_removed)
            && let Ok(known) = Store::open(&self.folder, Mode::Read).and_then(Known::of)
        {
            self.opened(known);
        }
    }
}
