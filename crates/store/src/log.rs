//! SQLite's write-ahead log: how much of it waits, and its way into the database while the writer goes on.
//!
//! A commit appends to the log and waits for no disk. Now and then the log has to be copied into the database, which
//! waits twice for the disk, and that takes as long as other programs keep it busy. SQLite's own habit is to do so
//! within whichever commit makes the log too long; here a connection of its own does it, on a thread that nobody
//! waits for. Where there is none, or it falls behind, the commits do it themselves.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rusqlite::{Connection, OpenFlags};

use crate::access::Access;
use crate::log_pages::LogPages;
use crate::{Store, StoreError};

/// So many pages, of eight kilobytes, may wait until somebody is asked to copy them.
const ENOUGH: u32 = 1 << 10;
/// The writer begins the log anew only when all of it was copied at some moment. What it has added meanwhile is a few pages,
/// which are copied in less time than it needs for more: so often is that tried.
const TRIES: u32 = 6;

/// Copies the log into the database, beside the writer and without keeping it waiting. For one thread.
#[derive(Debug)]
pub struct LogCopier {
    sql: Connection,
    path: PathBuf,
    pages: LogPages,
    /// How long the log was when it was last copied.
    copied: u32,
}

impl Store {
    /// A connection that copies the log; `None` where another process writes.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub fn log_copier(&self) -> Result<Option<LogCopier>, StoreError> {
        if self.access() != Access::Writer {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sql = Connection::open_with_flags(self.path(), flags).map_err(|e| self.fault(&e))?;
        let pages = Arc::clone(&self.log);
        Ok(Some(LogCopier { sql, path: self.path().to_owned(), pages, copied: 0 }))
    }
}

impl LogCopier {
    /// Whether enough waits to be copied.
    pub fn is_due(&mut self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.copied {
            // It was begun anew.
            self.copied = 0;
        }
        pages >= self.copied + ENOUGH
    }

    /// Copies what is there, as far as no reader needs it where it is. May wait for the disk; the writer does not wait
    /// meanwhile. Says how many pages are in the log, and how many of them in the database.
    ///
    /// Without a moment at which all is copied the log would grow while there is something to write: each page of it is then
    /// a new one for the file system, which makes a commit half as dear again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn copy(&mut self) -> Result<(u32, u32), StoreError> {
        let mut done = (0, 0);
        for _ in 0..TRIES {
            done = self.copy_once()?;
            let (log, copied) = done;
            // Either a reader is in the way, or nothing was added.
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
