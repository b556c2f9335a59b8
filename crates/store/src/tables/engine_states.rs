//! The engine's state of each transcript, so that a start need not read the transcript again.

use rusqlite::{OptionalExtension, params};

use super::meta_names::ROWS_BEHIND;
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- What the engine knows of a transcript, in bytes of its own form. A start reads all of these; other bytes than its
-- own it refuses, and reads the transcript from its beginning.
CREATE TABLE states (
    id      INTEGER PRIMARY KEY,
    path    TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,      -- sessions.session_id; empty while nobody knows
    head    BLOB NOT NULL
) STRICT;
CREATE INDEX states_session ON states (session);

-- What it remembers of each record of the transcript: grows with the file, and is read only when that grows.
CREATE TABLE state_pieces (
    state INTEGER NOT NULL REFERENCES states (id) ON DELETE CASCADE,
    part  INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (state, part)
) STRICT, WITHOUT ROWID;

-- What was seen live and no file will tell again, by name.
CREATE TABLE engine_facts (
    name  TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
";

/// A part grows up to this length before the next one begins, so an append rewrites no more than one part. With
/// this length a row fits in one page. SQLite reads all of a longer row each time it compares the row in a search.
const PART_BYTES: usize = 1_900;

/// Page cache while all states are read, in kilobytes. Each page is read once, so memory for thousands of them
/// would be useless.
const PASSING: i64 = 128;

/// The engine's state of one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRow {
    /// Written anew with each change.
    pub head: Vec<u8>,
    /// All pieces, in order.
    pub pieces: Vec<u8>,
}

impl WriteTransaction<'_> {
    /// Stores the state of a transcript in place of the earlier one. `fresh` removes the earlier pieces.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_state(
        &mut self,
        path: &str,
        session: &str,
        head: &[u8],
        piece: Option<&[u8]>,
        fresh: bool,
    ) -> Result<(), StoreError> {
        let known: Option<(i64, bool)> = self.store.row(
            "SELECT id, session = ?2 FROM states WHERE path = ?1",
            (path, session),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let state = match known {
            Some((state, true)) => {
                self.run("UPDATE states SET head = ?2 WHERE id = ?1", params![state, head])?;
                state
            }
            Some((state, false)) => {
                self.run(
                    "UPDATE states SET session = ?2, head = ?3 WHERE id = ?1",
                    params![state, session, head],
                )?;
                state
            }
            None => {
                self.run(
                    "INSERT INTO states (path, session, head) VALUES (?1, ?2, ?3)",
                    (path, session, head),
                )?;
                self.last_id()
            }
        };
        if fresh && known.is_some() {
            self.run("DELETE FROM state_pieces WHERE state = ?1", [state])?;
        }
        let Some(piece) = piece else { return Ok(()) };
        // In statements that name the part: SQLite would plan a statement that searches for it by the piece's
        // bytes, and so prepare it anew each time.
        let last = self.store.row(
            "SELECT part, length(bytes) FROM state_pieces WHERE state = ?1 ORDER BY part DESC LIMIT 1",
            [state],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)? as usize)),
        )?;
        let (mut part, length) = last.unwrap_or((0, PART_BYTES));
        let (rest_of_part, new_parts) = piece.split_at(PART_BYTES.saturating_sub(length).min(piece.len()));
        if !rest_of_part.is_empty() {
            self.run(
                "UPDATE state_pieces SET bytes = CAST(bytes || ?3 AS BLOB) WHERE state = ?1 AND part = ?2",
                params![state, part, rest_of_part],
            )?;
        }
        for bytes in new_parts.chunks(PART_BYTES) {
            part += 1;
            self.run(
                "INSERT INTO state_pieces (state, part, bytes) VALUES (?1, ?2, ?3)",
                params![state, part, bytes],
            )?;
        }
        Ok(())
    }

    /// Removes the state of a transcript.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_state(&mut self, path: &str) -> Result<(), StoreError> {
        self.run("DELETE FROM state_pieces WHERE state = (SELECT id FROM states WHERE path = ?1)", [path])?;
        self.run("DELETE FROM states WHERE path = ?1", [path])?;
        Ok(())
    }

    /// Whether the state of a transcript is stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn knows_state(&mut self, path: &str) -> Result<bool, StoreError> {
        self.store.only_row("SELECT EXISTS (SELECT 1 FROM states WHERE path = ?1)", [path], |row| row.get(0))
    }

    /// From now on states are stored before the rows of their sessions, until
    /// [`rows_are_there`](Self::rows_are_there). States that were ahead already stay so.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_rows_behind(&mut self) -> Result<(), StoreError> {
        self.run(
            "INSERT OR IGNORE INTO meta (name, value) SELECT ?1, coalesce(max(id), 0) FROM states",
            [ROWS_BEHIND],
        )?;
        // Since an interrupted run, the last states may have been forgotten, and their numbers are used again.
        self.run(
            "UPDATE meta SET value = (SELECT coalesce(max(id), 0) FROM states)
             WHERE name = ?1 AND CAST(value AS INTEGER) > (SELECT coalesce(max(id), 0) FROM states)",
            [ROWS_BEHIND],
        )?;
        Ok(())
    }

    /// The rows of all sessions whose transcripts are `ours` are stored with this step, or were before. Transcripts
    /// in other folders may still be ahead of their rows, because an engine that watched those folders stored them.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rows_are_there(&mut self, ours: &dyn Fn(&str) -> bool) -> Result<(), StoreError> {
        let first_elsewhere: Option<i64> = self.read(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT s.id, s.path FROM meta m JOIN states s ON s.id > CAST(m.value AS INTEGER)
                 WHERE m.name = ?1 ORDER BY s.id",
            )?;
            let mut rows = statement.query([ROWS_BEHIND])?;
            while let Some(row) = rows.next()? {
                if !ours(row.get_ref(1)?.as_str()?) {
                    return row.get(0).map(Some);
                }
            }
            Ok(None)
        })?;
        match first_elsewhere {
            Some(first) => self.set_meta(ROWS_BEHIND, &(first - 1).to_string()),
            None => self.run("DELETE FROM meta WHERE name = ?1", [ROWS_BEHIND]).map(drop),
        }
    }

    /// Stores a fact that no file will repeat.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_fact(&mut self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO engine_facts (name, bytes) VALUES (?1, ?2)", (name, bytes))?;
        Ok(())
    }
}

impl Store {
    /// Passes the path and the head of every state to `each`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn states(&self, each: &mut dyn FnMut(&str, &[u8])) -> Result<(), StoreError> {
        let usual: i64 = self.with_sql(|sql| sql.pragma_query_value(None, "cache_size", |row| row.get(0)))?;
        self.with_sql(|sql| sql.pragma_update(None, "cache_size", -PASSING))?;
        let read = self.rows("SELECT path, head FROM states ORDER BY id", [], |row| {
            each(row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_blob()?);
            Ok(())
        });
        self.with_sql(|sql| sql.pragma_update(None, "cache_size", usual))?;
        read
    }

    /// The sessions of states that were stored before their rows, some of them several times; `None` if all rows
    /// are stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions_without_rows(&self) -> Result<Option<Vec<String>>, StoreError> {
        let Some(after) = self.meta(ROWS_BEHIND)? else { return Ok(None) };
        // A value that is no number was damaged: then any of them may lack its row.
        let after: i64 = after.parse().unwrap_or(0);
        self.rows("SELECT session FROM states WHERE id > ?1", [after], |row| row.get(0)).map(Some)
    }

    /// An upper bound for the number of states.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn max_state_count(&self) -> Result<usize, StoreError> {
        let newest = "SELECT coalesce(max(id), 0) FROM states";
        let newest: i64 = self.only_row(newest, [], |row| row.get(0))?;
        Ok(usize::try_from(newest).unwrap_or(0))
    }

    /// Head and all pieces of one transcript, read at one moment.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn state(&self, path: &str) -> Result<Option<StateRow>, StoreError> {
        self.with_sql(|sql| {
            // One read transaction: a writer may write between two statements.
            let moment = sql.unchecked_transaction()?;
            let found = moment
                .prepare_cached("SELECT id, head FROM states WHERE path = ?1")?
                .query_row([path], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
                .optional()?;
            let Some((state, head)) = found else { return Ok(None) };
            let mut pieces = Vec::new();
            let mut statement =
                moment.prepare_cached("SELECT bytes FROM state_pieces WHERE state = ?1 ORDER BY part")?;
            let mut rows = statement.query([state])?;
            while let Some(row) = rows.next()? {
                pieces.extend_from_slice(row.get_ref(0)?.as_blob()?);
            }
            Ok(Some(StateRow { head, pieces }))
        })
    }

    /// A fact that no file will repeat.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn fact(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.row("SELECT bytes FROM engine_facts WHERE name = ?1", [name], |row| row.get(0))
    }
}
