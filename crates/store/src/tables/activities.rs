//! Activities: the tool calls of a prompt batch, with outcome and duration.

use rusqlite::Row;
use watchbill_core::time::Timestamp;

use super::{BatchKey, FileKey, SessionKey, at, count, time, uncount};
use crate::{Step, Store, StoreError};

pub(crate) const V1: &str = "
-- One tool call. Its input and its result are in `texts`, by file and byte.
CREATE TABLE activities (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    call        TEXT NOT NULL,     -- tool_use_id
    batch       INTEGER REFERENCES batches (id) ON DELETE CASCADE,  -- none: orphaned until recovery finds one
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,    -- none: known from hooks alone so far
    subagent    TEXT,
    tool        TEXT NOT NULL,
    target      TEXT,              -- what it acts on, one line
    path        TEXT,              -- the file it touches
    at          INTEGER NOT NULL,
    ended_at    INTEGER,
    outcome     TEXT NOT NULL,     -- pending, ok, error, denied, interrupted, unknown
    error       TEXT,              -- first line of what went wrong
    input_byte  INTEGER,           -- where the record of the call begins in the file
    result_byte INTEGER,           -- where the record of the result begins
    PRIMARY KEY (session, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX activities_batch ON activities (batch);
CREATE INDEX activities_file ON activities (file);
";

/// A tool call. The words are those of `core::history`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityRow {
    /// Whose it is.
    pub session: SessionKey,
    /// `tool_use_id`.
    pub call: String,
    /// The batch it belongs to; none while orphaned.
    pub batch: Option<BatchKey>,
    /// The file it was read from; none while hooks alone know of it.
    pub file: Option<FileKey>,
    /// The subagent that called.
    pub subagent: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// What it acts on, one line.
    pub target: Option<String>,
    /// The file it touches.
    pub path: Option<String>,
    /// When it was called.
    pub at: Timestamp,
    /// When its result came.
    pub ended_at: Option<Timestamp>,
    /// Word of the outcome: `pending`, `ok`, `error`, `denied`, `interrupted`, `unknown`.
    pub outcome: String,
    /// First line of what went wrong.
    pub error: Option<String>,
    /// Byte offset of the call's record.
    pub input_offset: Option<u64>,
    /// Byte offset of the result's record.
    pub result_offset: Option<u64>,
}

const COLUMNS: &str = "session, call, batch, file, subagent, tool, target, path, at, ended_at, outcome, error, \
     input_byte, result_byte";

fn read(row: &Row<'_>) -> rusqlite::Result<ActivityRow> {
    Ok(ActivityRow {
        session: row.get(0)?,
        call: row.get(1)?,
        batch: row.get(2)?,
        file: row.get(3)?,
        subagent: row.get(4)?,
        tool: row.get(5)?,
        target: row.get(6)?,
        path: row.get(7)?,
        at: row.get::<_, super::At>(8)?.0,
        ended_at: time(row, 9)?,
        outcome: row.get(10)?,
        error: row.get(11)?,
        input_offset: row.get::<_, Option<i64>>(12)?.map(uncount),
        result_offset: row.get::<_, Option<i64>>(13)?.map(uncount),
    })
}

impl Step<'_> {
    /// Stores an activity in place of the one that its session knows by its call.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_activity(&mut self, row: &ActivityRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO activities (session, call, batch, file, subagent, tool, target, path, at,
                ended_at, outcome, error, input_byte, result_byte)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            rusqlite::params![
                row.session,
                row.call,
                row.batch,
                row.file,
                row.subagent,
                row.tool,
                row.target,
                row.path,
                row.at.as_millis(),
                at(row.ended_at),
                row.outcome,
                row.error,
                row.input_offset.map(count),
                row.result_offset.map(count)
            ],
        )?;
        Ok(())
    }

    /// Notes how a call ended; nothing happens when the call is not stored.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_activity(
        &mut self,
        session: SessionKey,
        call: &str,
        ended_at: Option<Timestamp>,
        outcome: &str,
        error: Option<&str>,
        result_offset: Option<u64>,
    ) -> Result<bool, StoreError> {
        let changed = self.run(
            "UPDATE activities SET ended_at = ?3, outcome = ?4, error = ?5, result_byte = ?6
             WHERE session = ?1 AND call = ?2",
            (session, call, at(ended_at), outcome, error, result_offset.map(count)),
        )?;
        Ok(changed > 0)
    }

    /// Gives an orphaned activity to a batch.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn adopt_activity(
        &mut self,
        session: SessionKey,
        call: &str,
        batch: BatchKey,
    ) -> Result<(), StoreError> {
        self.run(
            "UPDATE activities SET batch = ?3 WHERE session = ?1 AND call = ?2",
            (session, call, batch),
        )?;
        Ok(())
    }
}

impl Store {
    /// The activities of a session in order of their times.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn activities(&self, session: SessionKey) -> Result<Vec<ActivityRow>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM activities WHERE session = ?1 ORDER BY at, call"
            ))?
            .query_map([session], read)?
            .collect()
        })
    }

    /// The activities of all sessions that belong to no batch.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn orphaned_activities(&self) -> Result<Vec<ActivityRow>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM activities WHERE batch IS NULL ORDER BY at, call"
            ))?
            .query_map([], read)?
            .collect()
        })
    }
}
