//! Snapshots of folds: the result of reading a file up to some byte, so that a start reads only the rest.

use super::{FileKey, count, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- What had been folded from a file up to `cursor`: in one part, or in several where it grows with the file, so that
-- an append need not write all of it. The bytes are the engine's own; another version of them is made anew.
CREATE TABLE snapshots (
    file    INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    kind    TEXT    NOT NULL,  -- 'state' or 'history'
    part    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    cursor  INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (file, kind, part)
) STRICT, WITHOUT ROWID;
";

/// The fold that a snapshot belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SnapshotKind {
    /// The state of the session: `core::session`.
    State,
    /// The rows to store of it: `core::history`.
    History,
}

impl SnapshotKind {
    /// The name in the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::History => "history",
        }
    }
}

/// A part of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotPart {
    /// Number of the part.
    pub part: u32,
    /// Version of the format of the bytes.
    pub version: u32,
    /// All bytes of the file before this one are folded in.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl WriteTransaction<'_> {
    /// Stores a part of a snapshot in place of the one that was there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_snapshot(
        &mut self,
        file: FileKey,
        kind: SnapshotKind,
        part: u32,
        version: u32,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let row = (file, kind.as_str(), part, version, count(offset), bytes);
        // In two statements: a replacing one would copy the page that it changes, to be able to roll itself back.
        let changed = self.run(
            "UPDATE snapshots SET version = ?4, cursor = ?5, bytes = ?6 WHERE file = ?1 AND kind = ?2 AND part = ?3",
            row,
        )?;
        if changed == 0 {
            self.run(
                "INSERT INTO snapshots (file, kind, part, version, cursor, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                row,
            )?;
        }
        Ok(())
    }

    /// Removes the parts of a snapshot from number `from` on.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn cut_snapshot(&mut self, file: FileKey, kind: SnapshotKind, from: u32) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM snapshots WHERE file = ?1 AND kind = ?2 AND part >= ?3",
            (file, kind.as_str(), from),
        )?;
        Ok(())
    }
}

impl Store {
    /// The parts of a snapshot in order; empty if there is no snapshot.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn snapshot(&self, file: FileKey, kind: SnapshotKind) -> Result<Vec<SnapshotPart>, StoreError> {
        self.rows(
            "SELECT part, version, cursor, bytes FROM snapshots WHERE file = ?1 AND kind = ?2 ORDER BY part",
            (file, kind.as_str()),
            |row| {
                Ok(SnapshotPart {
                    part: row.get(0)?,
                    version: row.get(1)?,
                    offset: uncount(row.get(2)?),
                    bytes: row.get(3)?,
                })
            },
        )
    }
}
