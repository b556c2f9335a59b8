//! Activities: the tool calls of a prompt batch, with outcome and duration.

use rusqlite::Row;
use watchbill_core::history::rows::{Activity, CallOutcome};
use watchbill_core::time::Timestamp;

use super::{At, FileKey, SessionKey, at, count, shared, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One tool call. The texts of its input and its result are in `texts`, by file and byte.
CREATE TABLE activities (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    call        TEXT NOT NULL,     -- tool_use_id
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,  -- none: known from hooks alone so far
    batch       TEXT,              -- batches.batch; none: orphaned until recovery finds one
    subagent    TEXT,
    tool        TEXT,
    target      TEXT,              -- what it acts on, one line
    path        TEXT,              -- the file it touched
    input       TEXT,              -- JSON, cut
    at          INTEGER,
    byte        INTEGER,           -- where the record of the call begins in the file
    outcome     TEXT,              -- pending, lost, background, ok, error, denied
    ended_at    INTEGER,
    millis      INTEGER,           -- how long it ran
    result_byte INTEGER,           -- where the record of the result begins
    error       TEXT,              -- first words of what went wrong
    PRIMARY KEY (session, call)
) STRICT, WITHOUT ROWID;
CREATE INDEX activities_file ON activities (file);
CREATE INDEX activities_orphaned ON activities (session) WHERE batch IS NULL;
";

/// A row holds up to kilobytes of input. Sorted by call id, which is as good as random, each new row moved its
/// neighbours and left pages half full: some hundredths of a first index. A column that a user has added is lost,
/// as with batches.
pub(crate) const V5: &str = "
-- The tool calls once more, in the order in which they came.
ALTER TABLE activities RENAME TO activities_by_call;
DROP INDEX activities_file;
DROP INDEX activities_orphaned;
CREATE TABLE activities (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    call        TEXT NOT NULL,     -- tool_use_id
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,  -- none: known from hooks alone so far
    batch       TEXT,              -- batches.batch; none: orphaned until recovery finds one
    subagent    TEXT,
    tool        TEXT,
    target      TEXT,              -- what it acts on, one line
    path        TEXT,              -- the file it touched
    input       TEXT,              -- JSON, cut
    at          INTEGER,
    byte        INTEGER,           -- where the record of the call begins in the file
    outcome     TEXT,              -- pending, lost, background, ok, error, denied
    ended_at    INTEGER,
    millis      INTEGER,           -- how long it ran
    result_byte INTEGER,           -- where the record of the result begins
    error       TEXT,              -- first words of what went wrong
    UNIQUE (session, call)
) STRICT;
INSERT INTO activities
    SELECT session, call, file, batch, subagent, tool, target, path, input, at, byte, outcome, ended_at, millis,
        result_byte, error
    FROM activities_by_call
    WHERE session IN (SELECT id FROM sessions) AND (file IS NULL OR file IN (SELECT id FROM files))
    ORDER BY session, at;
DROP TABLE activities_by_call;
CREATE INDEX activities_file ON activities (file);
CREATE INDEX activities_orphaned ON activities (session) WHERE batch IS NULL;
";

pub(crate) const V11: &str = "
ALTER TABLE activities ADD COLUMN reason TEXT;    -- what the user said when refusing the call
";

pub(crate) const V12: &str = "
-- Finds the calls of a turn, and those of no turn.
DROP INDEX IF EXISTS activities_orphaned;
CREATE INDEX IF NOT EXISTS activities_batch ON activities (session, batch);
";

/// An activity as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredActivity {
    /// The file that it was read from; `None` while only hooks have reported it.
    pub file: Option<FileKey>,
    /// The activity.
    pub activity: Activity,
}

const COLUMNS: &str = "file, call, batch, subagent, tool, target, path, input, at, byte, outcome, ended_at,
     millis, result_byte, error, reason";

fn read(row: &Row<'_>) -> rusqlite::Result<StoredActivity> {
    let number =
        |column| -> rusqlite::Result<Option<u64>> { Ok(row.get::<_, Option<i64>>(column)?.map(uncount)) };
    let activity = Activity {
        id: shared(row, 1)?.unwrap_or_default(),
        batch: shared(row, 2)?,
        agent: shared(row, 3)?,
        tool: shared(row, 4)?,
        target: row.get(5)?,
        file: row.get(6)?,
        input: row.get(7)?,
        at: time(row, 8)?,
        offset: number(9)?,
        outcome: row.get::<_, Option<String>>(10)?.as_deref().and_then(|word| word.parse().ok()),
        ended_at: time(row, 11)?,
        duration_ms: number(12)?,
        result_offset: number(13)?,
        error: row.get(14)?,
        reason: row.get(15)?,
    };
    Ok(StoredActivity { file: row.get(0)?, activity })
}

/// Stores an activity; `$how` decides what happens if it is there already.
macro_rules! insert {
    ($how:literal) => {
        concat!(
            $how,
            " INTO activities (session, file, call, batch, subagent, tool, target, path, input, at, byte,
                outcome, ended_at, millis, result_byte, error, reason)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"
        )
    };
}

/// Updates an activity of the same file in its place.
const CHANGE: &str =
    "UPDATE activities SET batch = ?4, subagent = ?5, tool = ?6, target = ?7, path = ?8, input = ?9,
        at = ?10, byte = ?11, outcome = ?12, ended_at = ?13, millis = ?14, result_byte = ?15, error = ?16,
        reason = ?17
    WHERE session = ?1 AND file IS ?2 AND call = ?3";

impl WriteTransaction<'_> {
    /// Stores a report of a tool call, merged with the stored one. `file` is the file that the report was read
    /// from, `None` if it came from a hook.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_activity(
        &mut self,
        session: SessionKey,
        file: Option<FileKey>,
        activity: &Activity,
    ) -> Result<(), StoreError> {
        // Nearly every call is reported once, together with its result.
        if self.write_activity(insert!("INSERT OR IGNORE"), session, file, activity)? > 0 {
            return Ok(());
        }
        let known = self.store.row(
            &format!("SELECT {COLUMNS} FROM activities WHERE session = ?1 AND call = ?2"),
            (session, &*activity.id),
            read,
        )?;
        let Some(mut known) = known else { return Ok(()) };
        let before = (known.activity.clone(), known.file);
        known.activity.merge(activity);
        known.file = known.file.or(file);
        // Hooks before 2.1.196 do not name the turn of their call.
        if let Some(batch) = &known.activity.batch
            && (file.is_none() || before.0.batch.is_none())
            && self.is_private(session, batch)?
        {
            known.activity.hide_texts();
        }
        if before != (known.activity.clone(), known.file) {
            // A replaced row moves to the end, and so do its index entries. Only a row that gets a file is
            // replaced, because checking that foreign key in an update would need a journal of its own.
            let sql = if before.1 == known.file { CHANGE } else { insert!("INSERT OR REPLACE") };
            self.write_activity(sql, session, known.file, &known.activity)?;
        }
        Ok(())
    }

    /// Assigns a call to a batch, if it has none. This equals merging the two, for a fifth of the work. The rules see that turn again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn adopt_activity(&mut self, session: SessionKey, call: &str, batch: &str) -> Result<(), StoreError> {
        let changed = self.run(
            "UPDATE activities SET batch = ?3 WHERE session = ?1 AND call = ?2 AND batch IS NULL",
            (session, call, batch),
        )?;
        if changed == 0 {
            return Ok(());
        }
        if self.is_private(session, batch)? {
            self.hide_calls(session, batch)?;
        }
        self.note_memory_due(session, Some(batch))
    }

    /// The turn ended without a result of its open calls. A result that comes later counts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn lose_calls(&mut self, session: SessionKey, batch: &str) -> Result<(), StoreError> {
        self.run(
            "UPDATE activities SET outcome = ?3 WHERE session = ?1 AND batch = ?2 AND outcome = ?4",
            (session, batch, CallOutcome::Lost.as_str(), CallOutcome::Pending.as_str()),
        )
        .map(drop)
    }

    fn write_activity(
        &mut self,
        sql: &'static str,
        session: SessionKey,
        file: Option<FileKey>,
        activity: &Activity,
    ) -> Result<usize, StoreError> {
        self.run(
            sql,
            rusqlite::params![
                session,
                file,
                &*activity.id,
                activity.batch.as_deref(),
                activity.agent.as_deref(),
                activity.tool.as_deref(),
                activity.target,
                activity.file,
                activity.input,
                at(activity.at),
                activity.offset.map(count),
                activity.outcome.map(|it| it.as_str()),
                at(activity.ended_at),
                activity.duration_ms.map(count),
                activity.result_offset.map(count),
                activity.error,
                activity.reason
            ],
        )
    }
}

/// The columns without the inputs, which are most of their bytes. Only to-dos have them.
fn short_columns() -> String {
    COLUMNS.replacen("input", "iif(tool IN ('TodoWrite', 'TaskCreate', 'TaskUpdate'), input, NULL)", 1)
}

/// The calls of one tool on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCalls {
    /// The file, as the agent named it.
    pub path: String,
    /// The tool.
    pub tool: String,
    /// The folder that the session was launched in.
    pub cwd: Option<String>,
    /// How many.
    pub count: u64,
    /// The newest.
    pub newest: Option<Timestamp>,
}

impl Store {
    /// The activities of a session in order of their times.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn activities(&self, session: SessionKey) -> Result<Vec<StoredActivity>, StoreError> {
        self.rows(
            &format!("SELECT {COLUMNS} FROM activities WHERE session = ?1 ORDER BY at, file, byte, call"),
            [session],
            read,
        )
    }

    /// The newest activities of a session, or of one turn of it, at most so many, in order of their times. They lack their inputs, which
    /// are most of their bytes. Only to-dos have them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_activities(
        &self,
        session: SessionKey,
        batch: Option<&str>,
        most: u32,
    ) -> Result<Vec<StoredActivity>, StoreError> {
        let of_batch = if batch.is_some() { "batch = ?3" } else { "?3 IS NULL" };
        let mut newest: Vec<StoredActivity> = self.rows(
            &format!(
                "SELECT {} FROM activities WHERE session = ?1 AND {of_batch}
                 ORDER BY at DESC, file DESC, byte DESC, call DESC LIMIT ?2",
                short_columns()
            ),
            (session, most, batch),
            read,
        )?;
        newest.reverse();
        Ok(newest)
    }

    /// The files of a session that calls of other sessions of the project have named since: the session, the file, the tool. The newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn changed_elsewhere(
        &self,
        session: SessionKey,
        project: u64,
        since: Timestamp,
    ) -> Result<Vec<(String, String, String)>, StoreError> {
        let query = "SELECT s.session_id, a.path, a.tool FROM memory_sessions m JOIN activities a ON a.session = m.session
                    JOIN sessions s ON s.id = m.session AND coalesce(s.active_at > ?3, 1)
                 WHERE m.project = ?2 AND m.session <> ?1 AND a.at > ?3 AND a.outcome = 'ok' AND a.tool IS NOT NULL
                    AND a.path IN (SELECT path FROM activities WHERE session = ?1 AND path IS NOT NULL)
                 ORDER BY a.at DESC";
        self.rows(query, (session, project.cast_signed(), At(since)), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
    }

    /// The calls of a work chain that named a file and succeeded, by file and tool. A call that a fork has copied counts once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn file_calls(&self, chain: &str) -> Result<Vec<FileCalls>, StoreError> {
        let query = "SELECT a.path, a.tool, max(s.cwd), count(DISTINCT a.call), max(a.at) FROM sessions s JOIN activities a ON a.session = s.id
                 WHERE s.chain_id = ?1 AND a.path IS NOT NULL AND a.tool IS NOT NULL AND a.outcome = 'ok'
                 GROUP BY a.path, a.tool";
        self.rows(query, [chain], |row| {
            Ok(FileCalls {
                path: row.get(0)?,
                tool: row.get(1)?,
                cwd: row.get(2)?,
                count: uncount(row.get(3)?),
                newest: time(row, 4)?,
            })
        })
    }

    /// The activities of a session that belong to no batch, for recovery.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn orphaned_activities(&self, session: SessionKey) -> Result<Vec<StoredActivity>, StoreError> {
        self.rows(
            &format!(
                "SELECT {COLUMNS} FROM activities WHERE session = ?1 AND batch IS NULL ORDER BY at, call"
            ),
            [session],
            read,
        )
    }
}
