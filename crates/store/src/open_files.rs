//! Whether the open files are still the files at their paths. Writes to a removed file are lost: SQLite does not
//! notice, and reports success.

use std::cell::Cell;
use std::fs::{File, Metadata, metadata};
use std::path::Path;

/// A file, independent of its name: device and inode.
type FileId = (u64, u64);

/// The files that a store has open.
#[derive(Debug, Clone)]
pub struct OpenFiles {
    database: Option<FileId>,
    /// The write-ahead log, once a step has been written into it.
    log: Cell<Option<FileId>>,
    /// The lock file, if this process writes.
    lock: Option<FileId>,
}

#[cfg(unix)]
fn id(found: &Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    (found.dev(), found.ino())
}

/// On other systems an open file usually cannot be removed, so only its existence is checked.
#[cfg(not(unix))]
fn id(_: &Metadata) -> FileId {
    (0, 0)
}

fn named(path: &Path) -> Option<FileId> {
    metadata(path).ok().as_ref().map(id)
}

impl OpenFiles {
    /// The files that were opened just now.
    pub(crate) fn of(database: &Path, lock: Option<&File>) -> Self {
        let lock = lock.and_then(|file| file.metadata().ok()).as_ref().map(id);
        Self { database: named(database), log: Cell::default(), lock }
    }

    /// Whether the database is still the file at its path.
    pub(crate) fn has_database(&self, database: &Path) -> bool {
        self.database.is_none() || named(database) == self.database
    }

    /// Whether all of them are still the files at their paths.
    pub fn is_current(&self, database: &Path) -> bool {
        let has = |known: Option<FileId>, path: &Path| known.is_none() || named(path) == known;
        self.has_database(database)
            && has(self.log.get(), &crate::names::beside(database, "-wal"))
            && has(self.lock, &database.with_file_name(crate::names::LOCK))
    }

    /// Notes which file the log is, when a step is written into it.
    pub(crate) fn note_log(&self, database: &Path) {
        if self.log.get().is_none() {
            self.log.set(named(&crate::names::beside(database, "-wal")));
        }
    }

    /// Forgets the log, because it goes away or comes back.
    pub(crate) fn forget_log(&self) {
        self.log.set(None);
    }
}
