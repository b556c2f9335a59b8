//! Maps SQLite's errors to variants of [`StoreError`].

use std::path::Path;

use rusqlite::ErrorCode;

use crate::damage_note::DamageNote;
use crate::error::StoreError;
use crate::{folder, lock};

impl StoreError {
    /// The error variant for SQLite's error about the database at `path`.
    pub(crate) fn of(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        let detail = error.to_string();
        // SQLITE_CORRUPT_VTAB: the full-text index is the only virtual table.
        let corrupt =
            error.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB);
        // FTS5 (SQLite 3.54) reports a damaged version of its own only in the message.
        if corrupt || detail.starts_with("invalid fts5 file format") {
            return Self::IndexDamaged { path };
        }
        // SQLite does not check values. A column with invalid text, or of another type, is damage too.
        if let rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..) = error
        {
            return Self::Damaged { path, detail };
        }
        // Every program since 2006 writes 4 as the number of the schema format. Another number is damage.
        if detail == "unsupported file format" {
            return Self::Damaged { path, detail };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::Unwanted,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path, held_by: None },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { path, detail },
            // For some files SQLite does not report why the system refuses them, such as the log's companion on a
            // full disk.
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                let obstacle = path.parent().and_then(folder::path_obstacle);
                obstacle.unwrap_or_else(|| Self::Io { path, source: std::io::Error::other(detail) })
            }
            _ => Self::Sql { path, detail },
        }
    }

    /// The same error for a process that only reads. The lock may belong to our own writer during a first index,
    /// which it shows by a note about damage.
    pub(crate) fn for_reader(self) -> Self {
        match self {
            Self::Locked { path, .. } if DamageNote::of(&path).is_for_later_boots() => {
                Self::BeingFilled { held_by: path.parent().and_then(lock::last_writer), path }
            }
            other => other,
        }
    }
}
