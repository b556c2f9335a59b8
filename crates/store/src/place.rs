//! Whether the files that are open are still those that have their names. What is written into a file that was removed is
//! written into nothing: SQLite does not notice, and says that it is stored.

use std::cell::Cell;
use std::fs::{File, Metadata, metadata};
use std::path::Path;

/// A file, whatever its name.
type FileId = (u64, u64);

/// The files that a store has open.
#[derive(Debug, Clone)]
pub struct Place {
    database: Option<FileId>,
    /// The write-ahead log, once a step has been written into it.
    log: Cell<Option<FileId>>,
    /// The lock file, where this process writes.
    lock: Option<FileId>,
}

#[cfg(unix)]
fn id(found: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// Elsewhere an open file cannot be removed as a rule; that it is there is all that is asked.
#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    (0, 0)
}

fn named(path: &Path) -> Option<FileId> {
    metadata(path).ok().as_ref().map(id)
}

impl Place {
    /// Of what was opened just now.
    pub(crate) fn of(database: &Path, lock: Option<&File>) -> Self {
        let lock = lock.and_then(|file| file.metadata().ok()).as_ref().map(id);
        Self { database: named(database), log: Cell::default(), lock }
    }

    /// Whether the database still has its name.
    pub(crate) fn has_database(&self, database: &Path) -> bool {
        self.database.is_none() || named(database) == self.database
    }

    /// Whether all of them still have their names.
    pub fn is_held(&self, database: &Path) -> bool {
        let has = |known: Option<FileId>, path: &Path| known.is_none() || named(path) == known;
        self.has_database(database)
            && has(self.log.get(), &crate::names::beside(database, "-wal"))
            && has(self.lock, &database.with_file_name(crate::names::LOCK))
    }

    /// A step is being written into the log.
    pub(crate) fn note_log(&self, database: &Path) {
        if self.log.get().is_none() {
            self.log.set(named(&crate::names::beside(database, "-wal")));
        }
    }

    /// The log is taken away, or comes back.
    pub(crate) fn forget_log(&self) {
        self.log.set(None);
    }
}
