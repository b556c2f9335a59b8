//! Prompt batches: what the person asked, and what came of it.

use rusqlite::Row;
use watchbill_core::time::Timestamp;

use super::{BatchKey, FileKey, SessionKey, at, count, time, uncount};
use crate::{Step, Store, StoreError};

pub(crate) const V1: &str = "
-- One prompt of the person with all that followed until the next.
CREATE TABLE batches (
    id        INTEGER PRIMARY KEY,
    session   INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    file      INTEGER REFERENCES files (id) ON DELETE CASCADE,  -- none: known from hooks alone so far
    key       TEXT NOT NULL,     -- names the prompt within the session
    number    INTEGER NOT NULL DEFAULT 0,  -- prompt counter within the session, from 1
    at        INTEGER NOT NULL,
    ended_at  INTEGER,
    status    TEXT NOT NULL,     -- active, completed, interrupted, failed, recovered
    source    TEXT NOT NULL,     -- transcript, hook, both
    kind      TEXT NOT NULL,     -- prompt, command, plan (it wrote one), task (a notification began it)
    prompt    TEXT,
    response  TEXT,              -- summary of the answer
    byte      INTEGER,           -- where the prompt's record begins in the file
    UNIQUE (session, key)
) STRICT;
CREATE INDEX batches_at ON batches (at);
CREATE INDEX batches_file ON batches (file);
CREATE INDEX batches_open ON batches (status) WHERE status = 'active';
";

/// A prompt batch. The words are those of `core::history`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRow {
    /// Whose it is.
    pub session: SessionKey,
    /// The file that the prompt was read from; none while hooks alone know of it.
    pub file: Option<FileKey>,
    /// Names the prompt within the session.
    pub key: String,
    /// Prompt counter within the session, from 1.
    pub number: u32,
    /// When the prompt was given.
    pub at: Timestamp,
    /// When the turn ended.
    pub ended_at: Option<Timestamp>,
    /// Word of the status: `active`, `completed`, `interrupted`, `failed`, `recovered`.
    pub status: String,
    /// Who told: `transcript`, `hook`, `both`.
    pub source: String,
    /// What began it: `prompt`, `command`, `plan`, `task`.
    pub kind: String,
    /// The prompt.
    pub prompt: Option<String>,
    /// Summary of the answer.
    pub response: Option<String>,
    /// Byte offset of the prompt's record in the file.
    pub offset: Option<u64>,
}

const COLUMNS: &str =
    "session, file, key, number, at, ended_at, status, source, kind, prompt, response, byte, id";

fn read(row: &Row<'_>) -> rusqlite::Result<(BatchKey, BatchRow)> {
    let batch = BatchRow {
        session: row.get(0)?,
        file: row.get(1)?,
        key: row.get(2)?,
        number: row.get(3)?,
        at: row.get::<_, super::At>(4)?.0,
        ended_at: time(row, 5)?,
        status: row.get(6)?,
        source: row.get(7)?,
        kind: row.get(8)?,
        prompt: row.get(9)?,
        response: row.get(10)?,
        offset: row.get::<_, Option<i64>>(11)?.map(uncount),
    };
    Ok((row.get(12)?, batch))
}

impl Step<'_> {
    /// Stores a batch in place of the one that its session knows by its key.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_batch(&mut self, row: &BatchRow) -> Result<BatchKey, StoreError> {
        self.one(
            "INSERT INTO batches (session, file, key, number, at, ended_at, status, source, kind, prompt,
                response, byte)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT (session, key) DO UPDATE SET
                file = excluded.file, number = excluded.number, at = excluded.at, ended_at = excluded.ended_at,
                status = excluded.status, source = excluded.source, kind = excluded.kind,
                prompt = excluded.prompt, response = excluded.response, byte = excluded.byte
             RETURNING id",
            rusqlite::params![
                row.session,
                row.file,
                row.key,
                row.number,
                row.at.as_millis(),
                at(row.ended_at),
                row.status,
                row.source,
                row.kind,
                row.prompt,
                row.response,
                row.offset.map(count)
            ],
        )
    }

    /// Removes a batch and its activities.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_batch(&mut self, batch: BatchKey) -> Result<(), StoreError> {
        self.run("DELETE FROM batches WHERE id = ?1", [batch])?;
        Ok(())
    }
}

impl Store {
    /// The batches of a session in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn batches(&self, session: SessionKey) -> Result<Vec<(BatchKey, BatchRow)>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM batches WHERE session = ?1 ORDER BY at, number, id"
            ))?
            .query_map([session], read)?
            .collect()
        })
    }

    /// The batches whose turn has not ended, of all sessions, oldest first: what recovery looks at.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn open_batches(&self) -> Result<Vec<(BatchKey, BatchRow)>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM batches WHERE status = 'active' ORDER BY at, id"
            ))?
            .query_map([], read)?
            .collect()
        })
    }
}
