//! What takes the history's thread seconds: removing what is left out or to be forgotten with its bytes, and making a damaged
//! index anew. It is done by a connection of its own, so that nobody waits for the store meanwhile; and what went wrong is told.

use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::worker::{Refusal, Worker, writer};
use crate::forget::{self, Outcome, Removal};
use crate::left_out;
use crate::stored::refusal;

/// What is known of damage to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// Somebody who looked for words has met it.
    Suspected,
    /// It was met here.
    Met,
}

impl Worker {
    /// Makes a damaged index anew from the stored texts.
    pub(super) fn mend(&mut self) -> Result<(), Refusal> {
        let Some(damage) = self.damage else { return Ok(()) };
        let Some(mut store) = self.parts.shelf.apart("history: mend")? else { return Err(Refusal::NotOurs) };
        if damage == Damage::Suspected {
            if store.index_is_sound()? {
                self.damage = None;
                self.retry.done();
                return Ok(());
            }
            // Should it not be made anew now, nobody has to look again.
            self.damage = Some(Damage::Met);
        }
        if self.retry.is_first() {
            tracing::warn!("the search index is damaged; it is made anew");
        }
        store.rebuild_index()?;
        drop(store);
        tracing::info!("the search index was made anew");
        self.damage = None;
        self.retry.done();
        (self.everything, self.untidy, self.wrote) = (true, true, true);
        Ok(())
    }

    /// Removes what the person has excluded since it was stored, and the bytes that an earlier removal has left.
    pub(super) fn leave_out(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let parts = &self.parts;
        let due = {
            let mut shelf = parts.shelf.in_turn("history: whether to leave out");
            let store = writer(&mut shelf)?;
            left_out::is_due(store, &parts.settings)? || store.is_to_be_wiped()?
        };
        if due && let Some(mut store) = parts.shelf.apart("history: leave out")? {
            left_out::carry_out(&mut store, &*parts.fs, &parts.settings, &parts.roots, now)?;
            store.finish_wiping()?;
            drop(store);
            // What was heard before has taken files up that may be gone by now, and their keys with them.
            self.index = None;
        }
        Ok(())
    }

    /// Forgets what is to be forgotten, and says what came of it.
    pub(super) fn remove(&mut self, now: Timestamp) {
        for (removal, told) in std::mem::take(&mut self.removals) {
            told(self.carry_out(&removal, now));
        }
    }

    fn carry_out(&mut self, removal: &Removal, now: Timestamp) -> Outcome {
        let mut store = match self.parts.shelf.apart("history: forget") {
            Ok(Some(store)) => store,
            Ok(None) => return Err(ApiError::new(ErrorCode::Unreadable, "the store cannot be opened")),
            Err(error) => return Err(refusal(&error)),
        };
        let outcome = forget::carry_out(&mut store, &self.parts.data_dir, removal, now, &mut |_| ());
        // Also when it was cut short: some of it may be gone.
        store.note_removal();
        drop(store);
        // What is known of files, and what was found to be archived, may be of what is gone.
        self.index = None;
        if self.archiving.take().is_some() {
            self.archive_at = Some(now);
        }
        // A transcript that is stored again is behind.
        self.everything |= matches!(removal, Removal::RememberAgain(_));
        outcome
    }

    /// Says why the history is not kept, or that it is: once, however often the store refuses.
    pub(super) fn note_trouble(&self, trouble: Option<&str>) {
        if self.parts.shelf.note_trouble(trouble) {
            if let Some(error) = trouble {
                tracing::warn!(error, "the history waits for the store");
            }
            (self.parts.on_trouble)();
        }
    }
}
