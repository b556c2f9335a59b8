//! What a program wants of the store, what it may do there, and what it found.

use std::path::PathBuf;

/// What the caller wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write, if no other process does; read otherwise.
    WriteOrRead,
    /// Read alone: nothing is made and nothing changed, but that what a killed first index has left is put right.
    Read,
}

/// What the caller may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// This process writes.
    Writer,
    /// This process reads, since it asked for no more or since another one writes.
    Reader {
        /// The process that writes, where the lock file names one.
        held_by: Option<u32>,
    },
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing: the store is empty, and everything is to be read.
    Fresh,
    /// A database of this schema.
    Kept,
    /// A database of an older schema, which was brought up to date.
    Migrated {
        /// The version it had.
        from: u32,
    },
    /// A damaged file, which was set aside: everything that transcripts hold is to be read again.
    SetAside {
        /// Where the damaged file lies now.
        to: PathBuf,
        /// What was wrong with it.
        detail: String,
        /// How many rows were taken over that no transcript holds: names, links, archive, what was forgotten.
        saved: u64,
    },
}
