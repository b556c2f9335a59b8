//! Finds states that changed while no process stored them. Passing time and the end of a process write into no file, so
//! the store's states may be old.

use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_store::{Store, StoreError};

use super::Persist;
use crate::engine::Engine;
use crate::step::compare_states::StateComparison;

impl Persist {
    /// Runs once, when all rows are made: compares them with the stored states, and queues those that differ. Retries
    /// after a passing error. Not after damage: other code reports that better, and the next start compares again.
    pub(super) fn confirm_states(&mut self, engine: &mut Engine) {
        if !self.states_unconfirmed || self.trouble.is_some() || !engine.shown_states().are_complete() {
            return;
        }
        let held = self.shared_store.lock_urgent("states");
        let confirmed = held.as_ref().is_some_and(|store| match confirm(store, engine) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "the stored states cannot be compared");
                !error.is_temporary()
            }
        });
        drop(held);
        self.states_unconfirmed = !confirmed;
    }
}

fn confirm(store: &Store, engine: &mut Engine) -> Result<(), StoreError> {
    let (mut differ, mut unknown) = (Vec::new(), Vec::new());
    store.shown_states(&mut |key, id, (state, kind)| {
        let id = SessionId::new(id);
        match engine.shown_states().compare(&id, state, kind) {
            StateComparison::Same => {}
            StateComparison::Differs => differ.push((key, id)),
            StateComparison::NoMore => unknown.push((key, id)),
        }
    })?;
    for (key, id) in differ {
        let last = store.transitions(key, 1)?.pop();
        engine.shown_states().confirm(&id, last.as_ref().map(|last| (&*last.state, last.kind.as_deref())));
    }
    for (key, id) in unknown {
        // Another run may know transcripts that lie elsewhere.
        if store.files_of(key)?.iter().all(|(_, file)| engine.is_below_roots(Path::new(&file.path))) {
            engine.shown_states().gone(&id);
        }
    }
    Ok(())
}
