//! Packs transcripts into the archive and drops archived ones, one at a time, when the history has nothing else to
//! do.

use watchbill_core::time::{Millis, Timestamp};

use super::refusal::{SliceError, require_writer};
use super::task::HistoryParts;
use crate::archive::archive_facts::ArchiveFacts;
use crate::archive::archive_work::ArchiveWork;
use crate::removal::exclude_later;

/// How often the thread looks for transcripts to archive. Their age counts in days.
pub(super) const ARCHIVE_EVERY: Millis = Millis::from_secs(6 * 3600);

/// The archiving that is due, and whether the `exclude` rules are due again, because of transcripts found in the
/// archive.
pub(super) fn look(parts: &HistoryParts, now: Timestamp) -> Result<(ArchiveWork, bool), SliceError> {
    let exclude = &parts.settings.exclude;
    let mut shared_store = parts.shared_store.in_turn("history: what to archive");
    let store = require_writer(&mut shared_store)?;
    let stock = ArchiveFacts::of(store, exclude)?;
    let is_due = exclude_later::exclude_is_due(store, &parts.settings)?;
    drop(shared_store);
    Ok((stock.due(&*parts.fs, &parts.roots, exclude, &parts.archive, now), is_due))
}

/// Packs or drops one transcript. No other work waits.
pub(super) fn archive_one(parts: &HistoryParts, due: &mut ArchiveWork, now: Timestamp) {
    let done =
        due.pack_or_drop_one(&*parts.fs, &parts.data_dir, &parts.settings.exclude, now, &mut |write| {
            let mut shared_store = parts.shared_store.in_turn("history: archive");
            // If another process has become the writer, it owns the archive.
            shared_store.as_mut().map_or(Ok(()), write)
        });
    if let Err(error) = done {
        tracing::warn!(%error, "not archived; it is tried again later");
    }
}
