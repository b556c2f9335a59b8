//! Transcripts into the archive and out of it, one at a time, when the history has nothing else to do.

use watchbill_core::time::{Millis, Timestamp};

use super::worker::{Refusal, Worker, writer};
use crate::archive::{Due, Stock};
use crate::left_out;

/// So often is looked at what is to be archived: days decide about it.
const ARCHIVE_EVERY: Millis = Millis::from_secs(6 * 3600);

impl Worker {
    /// One transcript into the archive, or out of it; nothing else waits.
    pub(super) fn archive(&mut self, now: Timestamp) -> Result<(), Refusal> {
        if self.archive_at.is_some_and(|at| at <= now) {
            self.archive_at = Some(now + ARCHIVE_EVERY);
            self.archiving = Some(self.what_to_archive(now)?);
        }
        let parts = &self.parts;
        let Some(due) = self.archiving.as_mut().filter(|due| !due.is_done()) else {
            self.archiving = None;
            return Ok(());
        };
        let done = due.do_one(&*parts.fs, &parts.data_dir, &parts.settings.exclude, now, &mut |write| {
            let mut shelf = parts.shelf.in_turn("history: archive");
            // Where another process has become the writer, the archive is its own.
            shelf.as_mut().map_or(Ok(()), write)
        });
        if let Err(error) = done {
            tracing::warn!(%error, "not archived; it is tried again later");
        }
        Ok(())
    }

    fn what_to_archive(&mut self, now: Timestamp) -> Result<Due, Refusal> {
        let parts = &self.parts;
        let exclude = &parts.settings.exclude;
        let mut shelf = parts.shelf.in_turn("history: what to archive");
        let store = writer(&mut shelf)?;
        let stock = Stock::of(store, exclude)?;
        // What was found again may tell of what is excluded.
        self.everything |= left_out::is_due(store, &parts.settings)?;
        drop(shelf);
        Ok(stock.due(&*parts.fs, &parts.roots, exclude, &parts.archive, now))
    }
}
