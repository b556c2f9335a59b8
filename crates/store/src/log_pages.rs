//! The length of the log, as all connections of this process know it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;

/// With so many, the commit copies them itself.
const TOO_MANY: i32 = 1 << 13;

/// How many pages the log had after the last commit, as all connections of this process know it.
pub(crate) type LogPages = Arc<AtomicU32>;

/// Notes the length of the log with each commit, in place of SQLite's own habit.
pub(crate) fn note_length(sql: &mut Connection, pages: &LogPages) -> rusqlite::Result<()> {
    let pages = Arc::clone(pages);
    sql.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, length: i32| {
        pages.store(length.unsigned_abs(), Ordering::Relaxed);
        if length >= TOO_MANY {
            // What cannot be copied now, since another one is at it, is copied the next time.
            let _ = log.checkpoint();
        }
        Ok(())
    }))
}
