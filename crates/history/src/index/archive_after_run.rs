//! The archive after a run of the index. For users who do not keep the window running, this archives their
//! transcripts.

use watchbill_protocol::store::IndexReport;
use watchbill_settings::Settings;
use watchbill_store::{Store, StoreError};
use watchbill_watch::clock::{Clock, SystemClock};
use watchbill_watch::fs::Fs;

use crate::archive::archive_facts::ArchiveFacts;

/// Brings the archive up to date, one transcript after the other, while `go_on` returns true. A transcript that
/// cannot be archived counts as a problem, and the next run tries it again.
///
/// # Errors
/// When the store cannot be read.
pub fn archive(
    store: &mut Store,
    settings: &Settings,
    fs: &dyn Fs,
    report: &mut IndexReport,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), StoreError> {
    let Some(data_dir) = settings.data_dir.as_deref().filter(|_| settings.archive.enabled) else {
        return Ok(());
    };
    let (now, exclude) = (SystemClock.now(), &settings.history.exclude);
    let mut packed = 0;
    let roots = settings.roots_now(fs);
    let mut due = ArchiveFacts::of(store, exclude)?.due(fs, &roots, exclude, &settings.archive, now);
    while !due.is_done() {
        if !go_on() {
            report.interrupted = true;
            break;
        }
        match due.pack_or_drop_one(fs, data_dir, exclude, now, &mut |write| write(store)) {
            Ok(is_packed) => packed += u64::from(is_packed),
            Err(error) => {
                tracing::warn!(%error, "not archived; it is tried again later");
                report.problems += 1;
            }
        }
    }
    report.archived = Some(packed).filter(|count| *count > 0);
    Ok(())
}
