//! Lines that agents were told: each line verbatim, and whether the hook process printed it.

use std::collections::BTreeSet;

use watchbill_core::time::Timestamp;

use super::{At, SessionKey, bits, count, unbits, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V8: &str = "
-- A line that was given to the agent. It goes with the session that was told, and with the one that the text is from.
CREATE TABLE IF NOT EXISTS said (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    source  INTEGER REFERENCES sessions (id) ON DELETE CASCADE,  -- none: the person wrote it
    memory  INTEGER NOT NULL,      -- memory_evidence.memory
    answer  TEXT NOT NULL,         -- the lines of one text have one
    at      INTEGER NOT NULL,
    event   TEXT NOT NULL,         -- the agent's name of the hook
    place   TEXT,                  -- the file
    line    TEXT NOT NULL,
    printed INTEGER NOT NULL,      -- 1: the hook process has printed it
    lost    INTEGER NOT NULL       -- 1: a compaction has removed it from the agent's context
) STRICT;
CREATE INDEX IF NOT EXISTS said_session ON said (session);
CREATE INDEX IF NOT EXISTS said_source ON said (source);
CREATE INDEX IF NOT EXISTS said_memory ON said (memory);
CREATE INDEX IF NOT EXISTS said_answer ON said (answer);
";

/// One line that an agent was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidRow {
    /// The memory.
    pub memory: u64,
    /// The session whose text it is; `None` if the user wrote it.
    pub source: Option<String>,
    /// Groups the lines of one text.
    pub answer: String,
    /// When.
    pub at: Timestamp,
    /// The agent's name of the hook.
    pub event: String,
    /// The file.
    pub place: Option<String>,
    /// The line.
    pub line: String,
    /// Whether the hook process has printed it.
    pub printed: bool,
    /// Whether a compaction has removed it since.
    pub lost: bool,
}

impl WriteTransaction<'_> {
    /// Stores a line before it is given out, so that no other hook process gets it too.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_said(&mut self, session: SessionKey, row: &SaidRow) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO said (session, source, memory, answer, at, event, place, line, printed, lost)
             VALUES (?1, (SELECT id FROM sessions WHERE session_id = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rusqlite::params![
                session,
                row.source,
                bits(row.memory),
                row.answer,
                At(row.at),
                row.event,
                row.place,
                row.line,
                row.printed,
                row.lost
            ],
        )
        .map(drop)
    }

    /// The hook process has printed a text.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_printed(&mut self, answer: &str) -> Result<(), StoreError> {
        self.run("UPDATE said SET printed = 1 WHERE answer = ?1", [answer]).map(drop)
    }

    /// A compaction has removed all told lines from the context of a session.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_said_lost(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.run("UPDATE said SET lost = 1 WHERE session = ?1 AND lost = 0", [session]).map(drop)
    }
}

impl Store {
    /// The lines that an agent was told in a session, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn said(&self, session: SessionKey) -> Result<Vec<SaidRow>, StoreError> {
        self.rows(
            "SELECT d.memory, s.session_id, d.answer, d.at, d.event, d.place, d.line, d.printed, d.lost
                 FROM said d LEFT JOIN sessions s ON s.id = d.source WHERE d.session = ?1 ORDER BY d.id",
            [session],
            |row| {
                Ok(SaidRow {
                    memory: unbits(row.get(0)?),
                    source: row.get(1)?,
                    answer: row.get(2)?,
                    at: row.get::<_, At>(3)?.0,
                    event: row.get(4)?,
                    place: row.get(5)?,
                    line: row.get(6)?,
                    printed: row.get(7)?,
                    lost: row.get(8)?,
                })
            },
        )
    }

    /// How often agents were told a memory, and in how many sessions.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn times_said(&self, memory: u64) -> Result<(u64, u64), StoreError> {
        self.only_row(
            "SELECT count(*), count(DISTINCT session) FROM said WHERE memory = ?1 AND printed = 1",
            [bits(memory)],
            |row| Ok((uncount(row.get(0)?), uncount(row.get(1)?))),
        )
    }

    /// The ids of all memories, with this beginning in hexadecimal digits.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_ids(&self, begin: &str, most: usize) -> Result<BTreeSet<(u64, u64)>, StoreError> {
        self.rows(
            "SELECT memory, project FROM memory_evidence WHERE printf('%016x', memory) GLOB ?1 || '*'
                 UNION SELECT memory, project FROM memory_edits
                    WHERE printf('%016x', memory) GLOB ?1 || '*' AND what <> 'forgotten'
                 LIMIT ?2",
            (begin, count(most as u64)),
            |row| Ok((unbits(row.get(0)?), unbits(row.get(1)?))),
        )
    }
}
