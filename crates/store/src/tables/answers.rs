//! The answers that the user gave to requests, with the shown text and the outcome of each.

use watchbill_core::time::Timestamp;

use super::{At, time};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V7: &str = "
-- Answers that the user gave to requests of sessions. The session need not be stored.
CREATE TABLE IF NOT EXISTS answers (
    request_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    tool       TEXT NOT NULL,
    shown      TEXT NOT NULL,    -- the text that the user saw
    decision   TEXT NOT NULL,    -- in words
    surface    TEXT NOT NULL,    -- window, notification, tray, command, none
    at         INTEGER NOT NULL,
    outcome    TEXT NOT NULL,    -- sent, taken, effect, no_effect, lost
    outcome_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_by_time ON answers (at);
CREATE INDEX IF NOT EXISTS answers_by_session ON answers (session_id);
";

/// The most answers that are kept. The newest stay.
const KEPT: i64 = 10_000;

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRow {
    /// The request.
    pub request_id: String,
    /// The session that asked.
    pub session_id: String,
    /// The tool that it asked for.
    pub tool: String,
    /// The text that the user saw.
    pub shown: String,
    /// The decision in words.
    pub decision: String,
    /// Where the user answered.
    pub surface: String,
    /// When.
    pub at: Timestamp,
    /// What came of it, in a word.
    pub outcome: String,
    /// When that was known.
    pub outcome_at: Option<Timestamp>,
}

impl WriteTransaction<'_> {
    /// Adds an answer, and removes the oldest if there are too many.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_answer(&mut self, row: &AnswerRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO answers
                (request_id, session_id, tool, shown, decision, surface, at, outcome, outcome_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                &row.request_id,
                &row.session_id,
                &row.tool,
                &row.shown,
                &row.decision,
                &row.surface,
                At(row.at),
                &row.outcome,
                row.outcome_at.map(At),
            ),
        )?;
        self.keep_newest_answers(KEPT)
    }

    fn keep_newest_answers(&mut self, count: i64) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM answers WHERE request_id IN
                (SELECT request_id FROM answers ORDER BY at DESC, request_id DESC LIMIT -1 OFFSET ?1)",
            [count],
        )?;
        Ok(())
    }

    /// Stores the outcome of an answer. If the answer itself is not stored, nothing is.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_outcome(&mut self, request: &str, outcome: &str, at: Timestamp) -> Result<(), StoreError> {
        self.run(
            "UPDATE answers SET outcome = ?2, outcome_at = ?3 WHERE request_id = ?1",
            (request, outcome, At(at)),
        )?;
        Ok(())
    }
}

impl Store {
    /// The answers that were given at a time or later, oldest first; the newest if there are more than are kept.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn answers(&self, since: Timestamp) -> Result<Vec<AnswerRow>, StoreError> {
        self.rows(
            "SELECT * FROM
                    (SELECT request_id, session_id, tool, shown, decision, surface, at, outcome, outcome_at
                     FROM answers WHERE at >= ?1 ORDER BY at DESC, request_id DESC LIMIT ?2)
                 ORDER BY at, request_id",
            (At(since), KEPT),
            |row| {
                Ok(AnswerRow {
                    request_id: row.get(0)?,
                    session_id: row.get(1)?,
                    tool: row.get(2)?,
                    shown: row.get(3)?,
                    decision: row.get(4)?,
                    surface: row.get(5)?,
                    at: row.get::<_, At>(6)?.0,
                    outcome: row.get(7)?,
                    outcome_at: time(row, 8)?,
                })
            },
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store of the test that cannot be used is a failure")]

    use super::*;
    use crate::OpenMode;

    fn row(number: i64) -> AnswerRow {
        AnswerRow {
            request_id: format!("r{number}"),
            session_id: "s".into(),
            tool: "Bash".into(),
            shown: "ls".into(),
            decision: "allowed once".into(),
            surface: "window".into(),
            at: Timestamp::from_millis(number),
            outcome: "sent".into(),
            outcome_at: None,
        }
    }

    #[test]
    fn the_newest_answers_are_kept_and_listed_oldest_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let mut step = store.step().unwrap();
        for number in [3, 1, 2, 5, 4] {
            step.put_answer(&row(number)).unwrap();
        }
        step.keep_newest_answers(3).unwrap();
        step.commit().unwrap();
        assert_eq!(store.answers(Timestamp::from_millis(0)).unwrap(), [row(3), row(4), row(5)]);
        assert_eq!(store.answers(Timestamp::from_millis(5)).unwrap(), [row(5)]);
    }
}
