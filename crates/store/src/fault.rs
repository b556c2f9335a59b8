//! What SQLite said, as one of the kinds of [`StoreError`].

use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;
use crate::suspicion::Suspicion;
use crate::{folder, lock};

impl StoreError {
    /// What SQLite said about the database at `path`, as one of the kinds.
    pub(crate) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let detail = error.to_string();
        // SQLITE_CORRUPT_VTAB: of all tables only the index is a virtual one.
        let corrupt =
            error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB);
        // Of its damaged version FTS5 (SQLite 3.54) speaks in words alone.
        if corrupt || detail.starts_with("invalid fts5 file format") {
            return Self::IndexDamaged { path };
        }
        // SQLite looks at no letters: a column that is no text any more, or of another type, is damage too.
        if let rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) = error
        {
            return Self::Damaged { path, detail };
        }
        // The number of the form in which a schema is written has been 4 for every program since 2006.
        if detail == "unsupported file format" {
            return Self::Damaged { path, detail };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path, held_by: None },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, detail },
            // Of some files SQLite does not say why the system refuses them: the log's companion on a full disk.
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                let obstacle = path.parent().and_then(folder::obstacle);
                obstacle.unwrap_or_else(|| Self::Io { path, source: std::io::Error::other(detail) })
            }
            _ => Self::Sql { path, detail },
        }
    }

    /// The same for whoever only reads: the lock that is in the way may be our own writer's, who says so in a note about
    /// damage.
    pub(crate) fn met_by_reader(self) -> Self {
        match self {
            Self::Locked { path, .. } if Suspicion::of(&path).is_for_later_boots() => {
                Self::BeingFilled { held_by: path.parent().and_then(lock::last_writer), path }
            }
            other => other,
        }
    }
}
