//! Reads the state of an evicted file from the store that all threads share.

use std::path::Path;

use watchbill_history::SharedStore;
use watchbill_store::tables::engine_states::StateRow;

use super::evict::StoredStates;

impl StoredStates for SharedStore {
    fn recall(&self, path: &Path) -> Option<StateRow> {
        let store = self.lock_urgent("recall of a file");
        store.as_ref()?.state(path.to_str()?).unwrap_or_else(|error| {
            tracing::warn!(%error, "the stored state of a file cannot be read; the file is read again");
            None
        })
    }
}
