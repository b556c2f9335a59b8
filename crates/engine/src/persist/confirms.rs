//! What became of sessions while nobody kept it: the time and the end of a process write into no file, so that what the
//! store says of a state may be of long ago.

use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_store::{Store, StoreError};

use super::Persist;
use crate::engine::Engine;
use crate::step::confirm::Shown;

impl Persist {
    /// Once, when all rows are there: compares them with what the store says, and has kept what is different. What passes is
    /// tried again; of damage whoever else meets it says more, and the next start compares again.
    pub(super) fn confirm_states(&mut self, engine: &mut Engine) {
        if !self.states_unconfirmed || self.trouble.is_some() || !engine.shown_states().are_complete() {
            return;
        }
        let held = self.shelf.at_once("states");
        let confirmed = held.as_ref().is_some_and(|store| match confirm(store, engine) {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "what the store says of states cannot be compared");
                !error.passes()
            }
        });
        drop(held);
        self.states_unconfirmed = !confirmed;
    }
}

fn confirm(store: &Store, engine: &mut Engine) -> Result<(), StoreError> {
    let (mut differ, mut unknown) = (Vec::new(), Vec::new());
    store.states_shown(&mut |key, id, (state, kind)| {
        let id = SessionId::new(id);
        match engine.shown_states().compare(&id, state, kind) {
            Shown::Same => {}
            Shown::Differs => differ.push((key, id)),
            Shown::NoMore => unknown.push((key, id)),
        }
    })?;
    for (key, id) in differ {
        let last = store.transitions(key, 1)?.pop();
        engine.shown_states().confirm(&id, last.as_ref().map(|last| (&*last.state, last.kind.as_deref())));
    }
    for (key, id) in unknown {
        // Of what lies elsewhere another run may know.
        if store.files_of(key)?.iter().all(|(_, file)| engine.looks_at(Path::new(&file.path))) {
            engine.shown_states().gone(&id);
        }
    }
    Ok(())
}
