//! The engine's part in a run of the index: it folds the transcripts that the store does not know, from the same
//! reading.

use std::path::Path;

use watchbill_agents::layout::ClientPath;
use watchbill_store::{StoreError, WriteTransaction};
use watchbill_watch::scan::Found;

use super::beside::RecordObserver;

/// The engine's receiver during a run of the index.
pub trait IndexObserver {
    /// The fold of one file.
    type File: RecordObserver;

    /// The files that the run will read. `known` are the paths of which something is stored.
    fn expect(&mut self, files: &[Found], known: &mut dyn Iterator<Item = &str>);

    /// The run begins to read a transcript that the store does not know.
    fn begin(&mut self, path: &Path, place: ClientPath) -> Self::File;

    /// The run has read the file to its end, in this step. `skipped`: the history stores nothing of it.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn end(
        &mut self,
        step: &mut WriteTransaction<'_>,
        file: Self::File,
        skipped: bool,
    ) -> Result<(), StoreError>;

    /// The run is over, and the store lacks rows of sessions.
    fn note_rows_behind(&mut self);
}
