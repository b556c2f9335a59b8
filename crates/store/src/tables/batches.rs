//! Prompt batches: what the user asked, and the result.

use rusqlite::Row;
use watchbill_core::history::rows::{Batch, Ended};
use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::time::Timestamp;

use super::{FileKey, SessionKey, at, count, record_blob, record_of, shared, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One prompt of the person with all that followed until the next.
CREATE TABLE batches (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    batch       TEXT NOT NULL,     -- the agent's prompt id, or the id of the prompt's record
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,  -- none: known from hooks alone so far
    origin      TEXT,              -- human, queued, task_notification, peer
    prompt      TEXT,
    private     INTEGER NOT NULL,  -- 1: all of the prompt was private
    started_at  INTEGER,
    byte        INTEGER,           -- where the prompt's record begins in the file
    record      BLOB,              -- its id
    status      TEXT,              -- active, completed, interrupted, failed
    ended_at    INTEGER,           -- since when it has that status
    error       TEXT,
    active_at   INTEGER,           -- the newest thing that happened in it
    response_at INTEGER,
    response    TEXT,              -- the last words of the agent
    plan        INTEGER NOT NULL,  -- 1: it wrote a plan
    PRIMARY KEY (session, batch)
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_started ON batches (started_at);
CREATE INDEX batches_file ON batches (file);
CREATE INDEX batches_open ON batches (session) WHERE status = 'active';
";

/// As with [activities](super::activities::V5): sorted by the ids of prompts, more than half of each page was left
/// empty. Rows that refer to a missing session or file are not copied. Only another program can have left them, and
/// the check for damage would set the store aside because of them.
pub(crate) const V5: &str = "
-- The prompts once more, in the order in which they came.
ALTER TABLE batches RENAME TO batches_by_prompt;
DROP INDEX batches_started;
DROP INDEX batches_file;
DROP INDEX batches_open;
CREATE TABLE batches (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    batch       TEXT NOT NULL,     -- the agent's prompt id, or the id of the prompt's record
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,  -- none: known from hooks alone so far
    origin      TEXT,              -- human, queued, task_notification, peer
    prompt      TEXT,
    private     INTEGER NOT NULL,  -- 1: all of the prompt was private
    started_at  INTEGER,
    byte        INTEGER,           -- where the prompt's record begins in the file
    record      BLOB,              -- its id
    status      TEXT,              -- active, completed, interrupted, failed
    ended_at    INTEGER,           -- since when it has that status
    error       TEXT,
    active_at   INTEGER,           -- the newest thing that happened in it
    response_at INTEGER,
    response    TEXT,              -- the last words of the agent
    plan        INTEGER NOT NULL,  -- 1: it wrote a plan
    UNIQUE (session, batch)
) STRICT;
INSERT INTO batches
    SELECT session, batch, file, origin, prompt, private, started_at, byte, record, status, ended_at, error, active_at,
        response_at, response, plan
    FROM batches_by_prompt
    WHERE session IN (SELECT id FROM sessions) AND (file IS NULL OR file IN (SELECT id FROM files))
    ORDER BY session, started_at;
DROP TABLE batches_by_prompt;
CREATE INDEX batches_started ON batches (started_at, batch);
CREATE INDEX batches_file ON batches (file);
CREATE INDEX batches_open ON batches (session) WHERE status = 'active';
";

/// A batch as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBatch {
    /// The file that it was read from; `None` while only hooks have reported it.
    pub file: Option<FileKey>,
    /// The batch.
    pub batch: Batch,
}

const COLUMNS: &str = "file, batch, origin, prompt, private, started_at, byte, record, status, ended_at,
     error, active_at, response_at, response, plan";

fn read(row: &Row<'_>) -> rusqlite::Result<StoredBatch> {
    let word = |column| -> rusqlite::Result<Option<String>> { row.get(column) };
    let status = word(8)?.as_deref().and_then(|word| word.parse().ok());
    let ended = status.zip(time(row, 9)?);
    let response: Option<String> = row.get(13)?;
    let batch = Batch {
        id: shared(row, 1)?.unwrap_or_default(),
        origin: word(2)?.as_deref().and_then(|word| word.parse().ok()),
        prompt: row.get(3)?,
        private: row.get(4)?,
        started_at: time(row, 5)?,
        offset: row.get::<_, Option<i64>>(6)?.map(uncount),
        record: record_of(row, 7)?.map(RecordId),
        ended: match ended {
            Some((status, at)) => Some(Ended { status, at, error: row.get(10)? }),
            None => None,
        },
        last_activity_at: time(row, 11)?,
        response: time(row, 12)?.zip(response),
        plan: row.get(14)?,
    };
    Ok(StoredBatch { file: row.get(0)?, batch })
}

/// The columns to set. SQLite writes an index anew whenever an update names one of its columns, changed or not.
/// Most reports on a batch say only that it goes on. The file is never set here: an update of a column that refers
/// to another table copies the pages that it changes.
fn changed_columns(before: &Batch, now: &Batch) -> String {
    let mut columns = String::from(
        "active_at = ?13, response_at = ?14, response = ?15, plan = ?16, origin = ?4, prompt = ?5, private = ?6",
    );
    if (before.started_at, before.offset, before.record) != (now.started_at, now.offset, now.record) {
        columns.push_str(", started_at = ?7, byte = ?8, record = ?9");
    }
    if before.ended != now.ended {
        columns.push_str(", status = ?10, ended_at = ?11, error = ?12");
    }
    columns
}

impl WriteTransaction<'_> {
    /// Stores a report of a batch, merged with the stored one. `file` is the file that the report was read from,
    /// `None` if it came from a hook.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_batch(
        &mut self,
        session: SessionKey,
        file: Option<FileKey>,
        batch: &Batch,
    ) -> Result<(), StoreError> {
        let known = self.store.row(
            &format!("SELECT {COLUMNS} FROM batches WHERE session = ?1 AND batch = ?2"),
            (session, &*batch.id),
            read,
        )?;
        match known {
            None => {
                let mut batch = batch.clone();
                batch.hide_private();
                let batch = &batch;
                self.note_ended(session, batch)?;
                if batch.private {
                    self.hide_calls(session, &batch.id)?;
                }
                self.write_batch(
                "INSERT INTO batches (session, file, batch, origin, prompt, private, started_at, byte, record,
                    status, ended_at, error, active_at, response_at, response, plan)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                session,
                file,
                batch,
            )
            }
            Some(mut known) => {
                if let (None, Some(_)) = (known.file, file) {
                    self.run(
                        "UPDATE batches SET file = ?3 WHERE session = ?1 AND batch = ?2",
                        (session, &*batch.id, file),
                    )?;
                }
                let before = known.batch.clone();
                known.batch.merge(batch);
                if before == known.batch {
                    return Ok(());
                }
                self.note_ended(session, &known.batch)?;
                if known.batch.private && !before.private {
                    self.hide_calls(session, &batch.id)?;
                }
                let changed = changed_columns(&before, &known.batch);
                let sql = format!("UPDATE batches SET {changed} WHERE session = ?1 AND batch = ?3");
                self.write_batch(&sql, session, file, &known.batch)
            }
        }
    }

    /// Gives a prompt another id, in each table that names it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn name_batch(&mut self, session: SessionKey, from: &str, to: &str) -> Result<(), StoreError> {
        let tables = ["batches", "activities", "plans", "plan_words", "executions"];
        for table in tables.into_iter().chain(["memory_evidence", "memory_edits", "model_jobs"]) {
            // Of two rows, the one that is there under the new id stays.
            let name = format!("UPDATE OR IGNORE {table} SET batch = ?3 WHERE session = ?1 AND batch = ?2");
            self.run_composed(&name, (session, from, to))?;
            let rest = format!("DELETE FROM {table} WHERE session = ?1 AND batch = ?2");
            self.run_composed(&rest, (session, from))?;
        }
        if self.is_private(session, to)? { self.hide_calls(session, to) } else { Ok(()) }
    }

    /// The prompts of the session's transcript between two times, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn prompts_between(
        &self,
        session: SessionKey,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<StoredBatch>, StoreError> {
        self.store.rows(
            &format!(
                "SELECT {COLUMNS} FROM batches
                 WHERE session = ?1 AND file IS NOT NULL AND started_at BETWEEN ?2 AND ?3
                 ORDER BY started_at, rowid"
            ),
            (session, at(Some(from)), at(Some(to))),
            read,
        )
    }

    /// Whether the prompt of a turn is private as a whole.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_private(&mut self, session: SessionKey, batch: &str) -> Result<bool, StoreError> {
        self.one(
            "SELECT EXISTS (SELECT 1 FROM batches WHERE session = ?1 AND batch = ?2 AND private = 1)",
            (session, batch),
        )
    }

    /// The turn of a session that began last.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_batch(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        self.store.row(
            "SELECT batch FROM batches JOIN sessions ON sessions.id = batches.session
                 WHERE session_id = ?1 ORDER BY started_at DESC, batches.rowid DESC LIMIT 1",
            [session.as_str()],
            |row| row.get(0),
        )
    }

    /// The turn is private: what hooks reported of its calls before goes.
    pub(super) fn hide_calls(&mut self, session: SessionKey, batch: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE activities SET target = NULL, path = NULL, input = NULL, error = NULL, reason = NULL
             WHERE session = ?1 AND batch = ?2",
            (session, batch),
        )
        .map(drop)
    }

    /// The rules of memories look at a session after each change of an ended turn.
    fn note_ended(&mut self, session: SessionKey, batch: &Batch) -> Result<(), StoreError> {
        if batch.is_over() { self.note_memory_due(session, Some(&batch.id)) } else { Ok(()) }
    }

    fn write_batch(
        &mut self,
        sql: &str,
        session: SessionKey,
        file: Option<FileKey>,
        batch: &Batch,
    ) -> Result<(), StoreError> {
        let ended = batch.ended.as_ref();
        let (response_at, response) = batch.response.as_ref().map(|(at, text)| (*at, text)).unzip();
        self.run_composed(
            sql,
            rusqlite::params![
                session,
                file,
                &*batch.id,
                batch.origin.map(|it| it.as_str()),
                batch.prompt,
                batch.private,
                at(batch.started_at),
                batch.offset.map(count),
                batch.record.map(|id| record_blob(id.0)),
                ended.map(|ended| ended.status.as_str()),
                at(ended.map(|ended| ended.at)),
                ended.and_then(|ended| ended.error.as_deref()),
                at(batch.last_activity_at),
                at(response_at),
                response,
                batch.plan
            ],
        )?;
        Ok(())
    }
}

impl Store {
    /// The batches of a session in order of their beginnings.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn batches(&self, session: SessionKey) -> Result<Vec<StoredBatch>, StoreError> {
        self.rows(
            &format!("SELECT {COLUMNS} FROM batches WHERE session = ?1 ORDER BY started_at, byte, batch"),
            [session],
            read,
        )
    }

    /// The newest time at which something happened in a turn of the session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn last_turn_at(&self, session: SessionKey) -> Result<Option<Timestamp>, StoreError> {
        self.only_row("SELECT max(active_at) FROM batches WHERE session = ?1", [session], |row| time(row, 0))
    }

    /// A batch of a session.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn batch(&self, session: SessionKey, batch: &str) -> Result<Option<StoredBatch>, StoreError> {
        self.row(
            &format!("SELECT {COLUMNS} FROM batches WHERE session = ?1 AND batch = ?2"),
            (session, batch),
            read,
        )
    }

    /// The newest batches of a session, at most so many, in order of their times.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_batches(&self, session: SessionKey, most: u32) -> Result<Vec<StoredBatch>, StoreError> {
        let mut newest: Vec<StoredBatch> = self.rows(
            &format!(
                "SELECT {COLUMNS} FROM batches WHERE session = ?1
                 ORDER BY started_at DESC, byte DESC, batch DESC LIMIT ?2"
            ),
            (session, most),
            read,
        )?;
        newest.reverse();
        Ok(newest)
    }

    /// The batches of a session for recovery, without their texts. `open`: only those whose turn has not ended, the oldest
    /// thousand; recovery asks again for the rest.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn batches_to_recover(
        &self,
        session: SessionKey,
        open: bool,
    ) -> Result<Vec<StoredBatch>, StoreError> {
        let which = if open { "AND status = 'active' ORDER BY started_at, batch LIMIT 1000" } else { "" };
        let columns =
            COLUMNS.replacen("prompt", "NULL", 1).replacen("response_at, response", "NULL, NULL", 1);
        self.rows(&format!("SELECT {columns} FROM batches WHERE session = ?1 {which}"), [session], read)
    }
}
