//! Errors of the store, worded for the user: what happened, to which file, what to do.

use std::path::{Path, PathBuf};

/// Why the store could not be opened, read or written. No stored data is lost by any of these errors.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer Watchbill wrote the database.
    #[error(
        "{} was written by a newer version (schema {found}, this one knows {known}); nothing was changed: \
         update this program, or choose another folder with --data-dir", .path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest schema version that this program knows.
        known: u32,
    },
    /// Another process holds a lock on the database for longer than we wait.
    #[error("{} is locked by {}; try again, or end that program", .path.display(), program_label(*.held_by))]
    Locked {
        /// The database.
        path: PathBuf,
        /// The id of that process, if the system reports it.
        held_by: Option<u32>,
    },
    /// A first index fills the store without the log. Other processes cannot read while it writes a step.
    #[error(
        "{} is being filled for the first time, by {}; there is no need to end it: try again in a moment",
        .path.display(), process_label(*.held_by)
    )]
    BeingFilled {
        /// The database.
        path: PathBuf,
        /// Process id of the writer, if the lock file names one.
        held_by: Option<u32>,
    },
    /// This process only reads, because another one writes.
    #[error("{} is written by {}; nothing was changed: use that process, or end it first", .path.display(), process_label(*.held_by))]
    NotWriter {
        /// The database.
        path: PathBuf,
        /// Process id of the writer, if the lock file names one.
        held_by: Option<u32>,
    },
    /// No space is left on the device, or a quota is used up.
    #[error("no space left for {}; free some space; the rest is stored later", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// The folder or the file is not writable.
    #[error("{} is not writable; check its permissions, or choose another folder with --data-dir", .path.display())]
    ReadOnly {
        /// The database or its folder.
        path: PathBuf,
    },
    /// The data folder is missing and cannot be created.
    #[error("the data folder {} cannot be made: {why}; name another one with --data-dir", .path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// The obstacle, with its path.
        why: String,
    },
    /// There is no database yet, and this process may not create one.
    #[error("there is no history yet: {} does not exist; `watchbill index` makes it", .path.display())]
    Absent {
        /// The database.
        path: PathBuf,
    },
    /// The file is no database, or parts of it contradict each other.
    #[error(
        "{} is damaged ({detail}); it is set aside at the next start, and made anew from the transcripts",
        .path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
    /// The database, its log or its lock file was removed or replaced while it was open here.
    #[error(
        "{}, or a file that belongs to it, was removed while it was open; it is made anew, from your own changes and the \
         transcripts",
        .path.display()
    )]
    Removed {
        /// The database.
        path: PathBuf,
    },
    /// The database was removed while another process has it open. For processes that only read.
    #[error(
        "{} was removed while {} had it open; that process makes it anew with the next change, from your own changes and \
         the transcripts",
        .path.display(), process_label(Some(*.writer))
    )]
    RemovedUnder {
        /// The database.
        path: PathBuf,
        /// The process that writes.
        writer: u32,
    },
    /// The list of forgotten sessions exists and cannot be read. Nothing is stored, so that no forgotten session
    /// comes back.
    #[error(
        "{} cannot be read ({source}): it lists the sessions that you removed, so nothing is stored until it can be read; \
         check its owner and mode, or its disk",
        .path.display()
    )]
    ForgottenUnread {
        /// The list.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The full-text index contradicts itself or the texts; everything else is intact.
    #[error(
        "the search index in {} is damaged; an open window makes it anew at once, otherwise the next start or `watchbill index` does",
        .path.display()
    )]
    IndexDamaged {
        /// The database.
        path: PathBuf,
    },
    /// The search was wanted no more.
    #[error("the search has ended early, because nothing waits for its answer")]
    Unwanted,
    /// The system refused something else: the disk fails, a quota is used up, the file may not grow.
    #[error("{} cannot be used ({source}); check its disk, and any limit on its size", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// SQLite refused something else: a fault of this program.
    #[error("{}: {detail}; please report this", .path.display())]
    Sql {
        /// The database.
        path: PathBuf,
        /// SQLite's message.
        detail: String,
    },
}

/// The writer of the store in a message: `process 1234`, if the id is known.
pub fn process_label(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// The holder of a lock in a message. It says `program`, because the holder is none of our processes.
fn program_label(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another program".to_owned(), |pid| process_label(Some(pid)))
}

impl StoreError {
    /// The error variant for a system error about `path`.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full { path },
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => Self::ReadOnly { path },
            _ => Self::Io { path, source },
        }
    }

    /// Whether the error may go away by itself. The caller then keeps its data and tries again later.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Locked { .. }
                | Self::BeingFilled { .. }
                | Self::Full { .. }
                | Self::ReadOnly { .. }
                | Self::NoFolder { .. }
                | Self::ForgottenUnread { .. }
                | Self::Removed { .. }
                | Self::RemovedUnder { .. }
                | Self::Io { .. }
        )
    }
}
