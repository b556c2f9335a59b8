//! The engine's state in the store, for removals by the history: see [`LiveState`].

use watchbill_core::history::Exclude;
use watchbill_core::session::state::Timeouts;
use watchbill_history::live_state::{Finding, LiveState};
use watchbill_store::{Store, StoreError};
use watchbill_watch::layout::Place;

use crate::persist::facts_without;
use crate::persist::kept::KeptFile;
use crate::transcripts::{Fold, TrackedFile};

/// The facts and the kept files.
#[derive(Debug, Clone, Copy)]
pub struct KeptState;

impl LiveState for KeptState {
    fn facts_without(
        &self,
        store: &Store,
        gone: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(&'static str, Vec<u8>)>, StoreError> {
        facts_without(store, gone)
    }

    fn look_into(&self, place: Place, state: &[u8], exclude: &Exclude) -> Finding {
        // What is kept in another form is read anew from its transcript, and left out then.
        let Ok(mut kept) = KeptFile::from_bytes(state) else { return Finding::Nothing };
        let Ok(mut file) = TrackedFile::restore(place, &kept, Timeouts::default()) else {
            return Finding::Nothing;
        };
        if let Fold::Main(fold) = file.fold()
            && fold.lineage().cwds.iter().any(|cwd| exclude.leaves_out(cwd))
        {
            return Finding::WorkedIn(fold.lineage().session.to_string());
        }
        // What an open call acts on is one line of it: the path may stand in another.
        match file.without_targets() {
            Some(fold) => {
                kept.fold = fold.into();
                Finding::Rest(kept.to_bytes())
            }
            None => Finding::Nothing,
        }
    }
}
