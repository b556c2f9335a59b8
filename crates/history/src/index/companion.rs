//! The engine's part in a run of the index: from the same reading it folds the transcripts that the store does not know.

use std::path::Path;

use watchbill_store::{Step, StoreError};
use watchbill_watch::layout::Place;
use watchbill_watch::scan::Found;

use super::beside::Beside;

/// Goes along with a run of the index.
pub trait Companion {
    /// What is folded of one file.
    type File: Beside;

    /// These files are about to be read. `known` are the paths of which something is stored.
    fn expect(&mut self, files: &[Found], known: &mut dyn Iterator<Item = &str>);

    /// A transcript that the store does not know is read from its beginning.
    fn begin(&mut self, path: &Path, place: Place) -> Self::File;

    /// It was read to its end, in this step. `skipped`: the history stores nothing of it.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn end(&mut self, step: &mut Step<'_>, file: Self::File, skipped: bool) -> Result<(), StoreError>;

    /// The run is over, and the store lacks rows of sessions.
    fn rows_are_behind(&mut self);
}
