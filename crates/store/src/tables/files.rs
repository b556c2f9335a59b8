//! Files that were read: how far, and their state at that time.

use rusqlite::Row;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use super::{At, FileKey, SessionKey, bits, count, unbits, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One transcript: of a session, or of a subagent of it.
CREATE TABLE files (
    id         INTEGER PRIMARY KEY,
    path       TEXT NOT NULL UNIQUE,
    session    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subagent   TEXT,                       -- id of the subagent, if it is a subagent's
    dev        INTEGER NOT NULL DEFAULT 0, -- which file it was: device and inode
    inode      INTEGER NOT NULL DEFAULT 0,
    size       INTEGER NOT NULL DEFAULT 0, -- when last looked at
    mtime      INTEGER NOT NULL DEFAULT 0,
    head       INTEGER NOT NULL DEFAULT 0, -- hash of its first bytes
    window     INTEGER NOT NULL DEFAULT 0, -- hash of the bytes before the cursor
    cursor     INTEGER NOT NULL DEFAULT 0, -- all bytes before this one are in the tables below
    texts      INTEGER NOT NULL DEFAULT 0, -- how many texts were stored
    cut_bytes  INTEGER NOT NULL DEFAULT 0, -- how many bytes of them were not
    text_at    INTEGER,                    -- time of the newest of them
    problems   INTEGER NOT NULL DEFAULT 0  -- lines that could not be read
) STRICT;
CREATE INDEX files_session ON files (session);
CREATE INDEX files_text_at ON files (text_at);
";

/// A file, and how far it is in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Its path.
    pub path: String,
    /// Its session.
    pub session: SessionKey,
    /// Id of the subagent, if it is a subagent's transcript.
    pub subagent: Option<String>,
    /// How far it is stored.
    pub cursor: FileCursor,
}

/// How far a file is stored, and its state at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileCursor {
    /// Device.
    pub dev: u64,
    /// Inode, or the system's equivalent.
    pub inode: u64,
    /// Length when it was last looked at.
    pub size: u64,
    /// Time of the last change, in milliseconds.
    pub mtime: Timestamp,
    /// Hash of its first bytes.
    pub head: u64,
    /// Hash of the bytes before `offset`.
    pub window: u64,
    /// All bytes before this one are stored.
    pub offset: u64,
}

impl Default for FileCursor {
    fn default() -> Self {
        let mtime = Timestamp::from_millis(0);
        Self { dev: 0, inode: 0, size: 0, mtime, head: 0, window: 0, offset: 0 }
    }
}

const COLUMNS: &str = "path, session, subagent, dev, inode, size, mtime, head, window, cursor, id";

fn read(row: &Row<'_>) -> rusqlite::Result<(FileKey, FileRow)> {
    let cursor = FileCursor {
        dev: unbits(row.get(3)?),
        inode: unbits(row.get(4)?),
        size: uncount(row.get(5)?),
        mtime: row.get::<_, At>(6)?.0,
        head: unbits(row.get(7)?),
        window: unbits(row.get(8)?),
        offset: uncount(row.get(9)?),
    };
    let file = FileRow { path: row.get(0)?, session: row.get(1)?, subagent: row.get(2)?, cursor };
    Ok((row.get(10)?, file))
}

impl WriteTransaction<'_> {
    /// The number of a file. A new file gets one, with a cursor at its beginning.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn file_key(
        &mut self,
        path: &str,
        session: SessionKey,
        subagent: Option<&str>,
    ) -> Result<FileKey, StoreError> {
        let known = self.store.row(
            "SELECT id, session = ?2 AND subagent IS ?3 FROM files WHERE path = ?1",
            (path, session, subagent),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        match known {
            Some((file, true)) => Ok(file),
            Some((file, false)) => {
                self.run(
                    "UPDATE files SET session = ?2, subagent = ?3 WHERE id = ?1",
                    (file, session, subagent),
                )?;
                Ok(file)
            }
            None => {
                self.run(
                    "INSERT INTO files (path, session, subagent) VALUES (?1, ?2, ?3)",
                    (path, session, subagent),
                )?;
                Ok(FileKey(self.last_id()))
            }
        }
    }

    /// Moves the cursor of a file. Call it in the step that stores the data up to the cursor.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_cursor(&mut self, file: FileKey, cursor: &FileCursor) -> Result<(), StoreError> {
        self.run(
            "UPDATE files SET dev = ?2, inode = ?3, size = ?4, mtime = ?5, head = ?6, window = ?7, cursor = ?8
             WHERE id = ?1",
            rusqlite::params![
                file,
                bits(cursor.dev),
                bits(cursor.inode),
                count(cursor.size),
                At(cursor.mtime),
                bits(cursor.head),
                bits(cursor.window),
                count(cursor.offset)
            ],
        )?;
        Ok(())
    }

    /// Removes all rows that were read from a file, and sets its cursor to the beginning: the file was rewritten,
    /// truncated or replaced, or is read anew. Its number stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn reset_file(&mut self, file: FileKey) -> Result<(), StoreError> {
        self.index_all()?;
        let session: SessionKey = self.one("SELECT session FROM files WHERE id = ?1", [file])?;
        self.note_memory_due(session, None)?;
        for table in super::READ_FROM_FILES {
            self.run_composed(&format!("DELETE FROM {table} WHERE file = ?1"), [file])?;
        }
        self.drop_counts(file);
        self.run(
            "UPDATE files SET texts = 0, cut_bytes = 0, text_at = NULL, problems = 0 WHERE id = ?1",
            [file],
        )?;
        self.set_cursor(file, &FileCursor::default())
    }

    /// The other transcripts of a session, with the sizes that they had, without those of its subagents.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn other_transcripts(
        &mut self,
        session: &SessionId,
        path: &str,
    ) -> Result<Vec<(FileKey, String, u64)>, StoreError> {
        self.store.rows(
            "SELECT files.id, path, size FROM files JOIN sessions ON sessions.id = files.session
                 WHERE session_id = ?1 AND subagent IS NULL AND path <> ?2",
            (session.as_str(), path),
            |row| Ok((row.get(0)?, row.get(1)?, uncount(row.get(2)?))),
        )
    }

    /// Removes a file and all rows that were read from it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_file(&mut self, file: FileKey) -> Result<(), StoreError> {
        self.reset_file(file)?;
        self.run("DELETE FROM files WHERE id = ?1", [file])?;
        Ok(())
    }

    /// Adds to the count of lines of a file that could not be read.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn count_problems(&mut self, file: FileKey, more: u64) -> Result<(), StoreError> {
        if more > 0 {
            self.run("UPDATE files SET problems = problems + ?2 WHERE id = ?1", (file, count(more)))?;
        }
        Ok(())
    }
}

impl Store {
    /// A file by its path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<(FileKey, FileRow)>, StoreError> {
        self.row(&format!("SELECT {COLUMNS} FROM files WHERE path = ?1"), [path], read)
    }

    /// Passes every file to `each`, in order of their numbers.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn files(&self, each: &mut dyn FnMut(FileKey, FileRow)) -> Result<(), StoreError> {
        self.rows(&format!("SELECT {COLUMNS} FROM files ORDER BY id"), [], |row| {
            let (key, file) = read(row)?;
            each(key, file);
            Ok(())
        })
    }

    /// The files of a session: its own transcript first, then its subagents'.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn files_of(&self, session: SessionKey) -> Result<Vec<(FileKey, FileRow)>, StoreError> {
        self.rows(
            &format!("SELECT {COLUMNS} FROM files WHERE session = ?1 ORDER BY subagent IS NOT NULL, path"),
            [session],
            read,
        )
    }
}
