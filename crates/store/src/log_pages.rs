//! The length of the log, shared by all connections of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;

/// At this length, the commit copies the log itself.
const TOO_MANY: i32 = 1 << 13;

/// How many pages the log had after the last commit. All connections of this process share it.
pub(crate) type LogPages = Arc<AtomicU32>;

/// Notes the length of the log with each commit. It replaces SQLite's own checkpoints.
pub(crate) fn note_length(sql: &mut Connection, pages: &LogPages) -> rusqlite::Result<()> {
    let pages = Arc::clone(pages);
    sql.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, length: i32| {
        pages.store(length.unsigned_abs(), Ordering::Relaxed);
        if length >= TOO_MANY {
            // This fails while another connection copies. The next commit tries again.
            let _ = log.checkpoint();
        }
        Ok(())
    }))
}
