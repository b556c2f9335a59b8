//! Archived transcripts: compressed before the agent's own clean-up removes them.

use watchbill_core::time::Timestamp;

use super::{At, bits, count, unbits, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One archived transcript. The compressed file lies below archive/ in the data folder.
CREATE TABLE archive (
    path        TEXT PRIMARY KEY,   -- of the transcript
    session_id  TEXT NOT NULL,
    subagent    TEXT,
    file        TEXT NOT NULL,      -- name of the compressed file, relative to archive/
    bytes       INTEGER NOT NULL,   -- of the transcript, as far as it is archived
    stored      INTEGER NOT NULL,   -- of the compressed file
    hash        TEXT NOT NULL,      -- of the transcript's bytes
    mtime       INTEGER NOT NULL,   -- of the transcript
    archived_at INTEGER NOT NULL,
    dev         INTEGER NOT NULL,   -- which file the transcript was: device and inode
    inode       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX archive_session ON archive (session_id);
";

/// An archived transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveRow {
    /// Path of the transcript.
    pub path: String,
    /// Its session.
    pub session_id: String,
    /// The subagent, if it is a subagent's transcript.
    pub subagent: Option<String>,
    /// Name of the compressed file, relative to `archive/`.
    pub file: String,
    /// Bytes of the transcript, as far as it is archived.
    pub bytes: u64,
    /// Bytes of the compressed file.
    pub stored: u64,
    /// Hash of the transcript's bytes.
    pub hash: String,
    /// When the transcript had last been written.
    pub mtime: Timestamp,
    /// When it was archived.
    pub archived_at: Timestamp,
    /// Device of the transcript.
    pub dev: u64,
    /// Its inode.
    pub inode: u64,
}

/// The text between a transcript's path and the mark of an earlier copy.
const EARLIER: &str = ".jsonl@";

impl ArchiveRow {
    /// The transcript that this is a copy of. An earlier copy has another `path`, because the transcript was
    /// rewritten since: see [`as_earlier`](Self::as_earlier).
    pub fn transcript(&self) -> &str {
        let end = self.path.rfind(EARLIER).map(|at| at + ".jsonl".len());
        end.map_or(&self.path, |end| &self.path[..end])
    }

    /// The same copy in a row of its own, beside the row of a later copy that lacks some of its records. Its path
    /// is not the path of a transcript, so it stands in for none. The same content has the same path.
    #[must_use]
    pub fn as_earlier(&self) -> Self {
        let mark = self.hash.get(..16).unwrap_or(&self.file);
        Self { path: format!("{}@{mark}", self.transcript()), ..self.clone() }
    }
}

const COLUMNS: &str = "path, session_id, subagent, file, bytes, stored, hash, mtime, archived_at, dev, inode";

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<ArchiveRow> {
    Ok(ArchiveRow {
        path: row.get(0)?,
        session_id: row.get(1)?,
        subagent: row.get(2)?,
        file: row.get(3)?,
        bytes: uncount(row.get(4)?),
        stored: uncount(row.get(5)?),
        hash: row.get(6)?,
        mtime: row.get::<_, At>(7)?.0,
        archived_at: row.get::<_, At>(8)?.0,
        dev: unbits(row.get(9)?),
        inode: unbits(row.get(10)?),
    })
}

impl WriteTransaction<'_> {
    /// Stores the row of an archived transcript, in place of the row with the same path.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_archived(&mut self, row: &ArchiveRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO archive
                (path, session_id, subagent, file, bytes, stored, hash, mtime, archived_at, dev, inode)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            rusqlite::params![
                row.path,
                row.session_id,
                row.subagent,
                row.file,
                count(row.bytes),
                count(row.stored),
                row.hash,
                At(row.mtime),
                At(row.archived_at),
                bits(row.dev),
                bits(row.inode)
            ],
        )?;
        Ok(())
    }

    /// Removes the row of a transcript that is no longer archived.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_archived(&mut self, path: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM archive WHERE path = ?1", [path])?;
        Ok(())
    }
}

impl Store {
    /// The row of the archived transcript with this path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn archived(&self, path: &str) -> Result<Option<ArchiveRow>, StoreError> {
        self.row(&format!("SELECT {COLUMNS} FROM archive WHERE path = ?1"), [path], read)
    }

    /// All archived transcripts, sorted by the time of their last write, the newest last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_archived(&self) -> Result<Vec<ArchiveRow>, StoreError> {
        self.rows(&format!("SELECT {COLUMNS} FROM archive ORDER BY mtime, path"), [], read)
    }
}
