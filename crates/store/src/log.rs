//! SQLite's write-ahead log: how much of it waits, and how it is copied into the database while the writer goes on.
//!
//! A commit appends to the log and does not wait for the disk. Now and then the log has to be copied into the
//! database. A copy syncs the disk twice, which takes longer while other programs use the disk. By default SQLite
//! copies within the commit that makes the log too long. Here a separate connection copies, on a thread of its own.
//! Without that connection, or if it falls behind, the commits copy the log themselves.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, OpenFlags};

use crate::access::Access;
use crate::log_pages::LogPages;
use crate::{Store, StoreError};

/// A copy is due when so many pages wait, of eight kilobytes each.
const ENOUGH: u32 = 1 << 10;
/// How often one copy is repeated. The writer restarts the log only when all of it is copied at some moment. It
/// adds only a few pages meanwhile, which take less time to copy than the writer needs for more.
const TRIES: u32 = 6;

/// Copies the log into the database, beside the writer and without blocking it. For one thread.
#[derive(Debug)]
pub struct LogCopier {
    sql: Connection,
    path: PathBuf,
    pages: LogPages,
    /// Length of the log at the last copy.
    copied: u32,
}

impl Store {
    /// A connection that copies the log; `None` if another process writes.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn log_copier(&self) -> Result<Option<LogCopier>, StoreError> {
        if self.access() != Access::Writer {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sql = Connection::open_with_flags(self.path(), flags).map_err(|e| self.map_error(&e))?;
        let pages = Arc::clone(&self.log);
        Ok(Some(LogCopier { sql, path: self.path().to_owned(), pages, copied: 0 }))
    }
}

impl LogCopier {
    /// Whether enough pages wait to be copied.
    pub fn is_due(&mut self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.copied {
            // The writer has restarted the log.
            self.copied = 0;
        }
        pages >= self.copied + ENOUGH
    }

    /// Copies the log, except pages that a reader still needs there. May wait for the disk; the writer does not
    /// wait meanwhile. Returns how many pages the log has, and how many of them are copied.
    ///
    /// Without a moment at which all is copied, the log would grow as long as there is something to write. Each of
    /// its pages would then be new for the file system, which makes a commit half as expensive again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn copy(&mut self) -> Result<(u32, u32), StoreError> {
        let mut done = (0, 0);
        for _ in 0..TRIES {
            done = self.copy_once()?;
            let (log, copied) = done;
            // Either a reader blocks the copy, or the writer has added nothing.
            if copied < log || self.pages.load(Ordering::Relaxed) <= copied {
                break;
            }
        }
        self.copied = done.0;
        Ok(done)
    }

    fn copy_once(&mut self) -> Result<(u32, u32), StoreError> {
        let count = |row: &rusqlite::Row<'_>, n| row.get::<_, i64>(n).map(|n| u32::try_from(n).unwrap_or(0));
        self.sql
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok((count(row, 1)?, count(row, 2)?)))
            .map_err(|e| StoreError::of(&self.path, &e))
    }
}
