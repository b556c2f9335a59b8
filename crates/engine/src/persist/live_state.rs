//! The engine's state in the store, for removals by the history. See [`LiveState`].

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::Exclude;
use watchbill_core::session::state::Timeouts;
use watchbill_history::live_state::{ExcludeEffect, LiveState};
use watchbill_store::{Store, StoreError};

use crate::persist::facts_without;
use crate::persist::stored_transcript::StoredTranscript;
use crate::transcripts::{Fold, TrackedFile};

/// The engine's facts and file states in the store.
#[derive(Debug, Clone, Copy)]
pub struct StoredLiveState;

impl LiveState for StoredLiveState {
    fn facts_without(
        &self,
        store: &Store,
        gone: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(&'static str, Vec<u8>)>, StoreError> {
        facts_without(store, gone)
    }

    fn exclude_effect(&self, place: ClientPath, state: &[u8], exclude: &Exclude) -> ExcludeEffect {
        // A state of another version is discarded. The engine reads its transcript again, and applies the rules then.
        let Ok(mut kept) = StoredTranscript::from_bytes(state) else { return ExcludeEffect::Nothing };
        let Ok(mut file) = TrackedFile::restore(place, &kept, Timeouts::default()) else {
            return ExcludeEffect::Nothing;
        };
        if let Fold::Main(fold) = file.fold()
            && fold.lineage().cwds.iter().any(|cwd| exclude.excludes(cwd))
        {
            return ExcludeEffect::WorkedIn(fold.lineage().session.to_string());
        }
        // The target of an open call is one line of it; an excluded path may stand in another line.
        match file.without_targets() {
            Some(fold) => {
                kept.fold = fold.into();
                ExcludeEffect::Rest(kept.to_bytes())
            }
            None => ExcludeEffect::Nothing,
        }
    }
}
