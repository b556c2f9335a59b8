//! Transcripts into the archive and out of it, one at a time, when the history has nothing else to do.

use watchbill_core::time::{Millis, Timestamp};

use super::refusal::{Refusal, writer};
use super::task::HistorianParts;
use crate::archive::due::Due;
use crate::archive::stock::Stock;
use crate::removal::left_out;

/// So often is looked at what is to be archived: days decide about it.
pub(super) const ARCHIVE_EVERY: Millis = Millis::from_secs(6 * 3600);

/// What is to be archived, and whether what was found again in the archive may tell of what is excluded.
pub(super) fn look(parts: &HistorianParts, now: Timestamp) -> Result<(Due, bool), Refusal> {
    let exclude = &parts.settings.exclude;
    let mut shelf = parts.shelf.in_turn("history: what to archive");
    let store = writer(&mut shelf)?;
    let stock = Stock::of(store, exclude)?;
    let is_due = left_out::is_due(store, &parts.settings)?;
    drop(shelf);
    Ok((stock.due(&*parts.fs, &parts.roots, exclude, &parts.archive, now), is_due))
}

/// One transcript into the archive, or out of it; nothing else waits.
pub(super) fn archive_one(parts: &HistorianParts, due: &mut Due, now: Timestamp) {
    let done = due.do_one(&*parts.fs, &parts.data_dir, &parts.settings.exclude, now, &mut |write| {
        let mut shelf = parts.shelf.in_turn("history: archive");
        // Where another process has become the writer, the archive is its own.
        shelf.as_mut().map_or(Ok(()), write)
    });
    if let Err(error) = done {
        tracing::warn!(%error, "not archived; it is tried again later");
    }
}
