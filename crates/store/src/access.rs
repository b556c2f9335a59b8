//! The modes of opening the store, the access that results, and the state of the database that was found.

use std::path::PathBuf;

/// How the caller wants to use the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenMode {
    /// Write if no other process writes, or else read.
    WriteOrRead,
    /// Only read. Nothing is made or changed, except that leftovers of a killed first index are repaired.
    Read,
}

/// What this process may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// This process writes.
    Writer,
    /// This process reads, because it asked for no more or because another process writes.
    Reader {
        /// The process that writes, where the lock file names one.
        held_by: Option<u32>,
    },
}

/// The state of the database when it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseState {
    /// No database: the store is empty, and everything has to be read.
    Fresh,
    /// A database of this schema.
    Current,
    /// A database of an older schema, migrated now.
    Migrated {
        /// The version it had.
        from: u32,
    },
    /// A damaged file, which was set aside. Everything that transcripts hold has to be read again.
    SetAside {
        /// Where the damaged file is now.
        to: PathBuf,
        /// What was wrong with it.
        detail: String,
        /// How many rows were saved that no transcript holds: names, links, archive entries, forgotten ids.
        saved: u64,
    },
}
