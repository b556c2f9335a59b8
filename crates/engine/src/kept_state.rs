//! The engine's state in the store, for removals by the history. See [`LiveState`].

use watchbill_core::history::Exclude;
use watchbill_core::session::state::Timeouts;
use watchbill_history::live_state::{Finding, LiveState};
use watchbill_store::{Store, StoreError};
use watchbill_watch::layout::Place;

use crate::persist::facts_without;
use crate::persist::kept::KeptFile;
use crate::transcripts::{Fold, TrackedFile};

/// The engine's facts and file states in the store.
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
        // A state of another version is discarded. The engine reads its transcript again, and applies the rules then.
        let Ok(mut kept) = KeptFile::from_bytes(state) else { return Finding::Nothing };
        let Ok(mut file) = TrackedFile::restore(place, &kept, Timeouts::default()) else {
            return Finding::Nothing;
        };
        if let Fold::Main(fold) = file.fold()
            && fold.lineage().cwds.iter().any(|cwd| exclude.leaves_out(cwd))
        {
            return Finding::WorkedIn(fold.lineage().session.to_string());
        }
        // The target of an open call is one line of it; an excluded path may stand in another line.
        match file.without_targets() {
            Some(fold) => {
                kept.fold = fold.into();
                Finding::Rest(kept.to_bytes())
            }
            None => Finding::Nothing,
        }
    }
}
