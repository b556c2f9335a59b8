//! Transitions: every state in which a session was shown, with its time and reason.

use watchbill_core::time::Timestamp;

use super::{At, SessionKey};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- A change of state, with the reason as it was shown.
CREATE TABLE transitions (
    session    INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at         INTEGER NOT NULL,
    state      TEXT NOT NULL,   -- working, waiting_for_approval, waiting_for_input, idle, ended
    kind       TEXT,            -- permission, question, plan, turn_ended, ...
    source     TEXT NOT NULL,   -- the witness that decided: registry, hook, transcript, ...
    detail     TEXT NOT NULL,
    confidence TEXT NOT NULL    -- observed, inferred
) STRICT;
CREATE INDEX transitions_session ON transitions (session, at);
";

/// A change of state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransitionRow {
    /// The time of the change.
    pub at: Timestamp,
    /// Name of the state from then on.
    pub state: String,
    /// Name of the kind of state.
    pub kind: Option<String>,
    /// Name of the witness that decided.
    pub source: String,
    /// The reason that the witness gave.
    pub detail: String,
    /// `observed` or `inferred`.
    pub confidence: String,
}

impl WriteTransaction<'_> {
    /// Adds a transition, as it is shown at `now`.
    ///
    /// A suspected state may turn out to be wrong. Then the state before it goes on, since a time before the
    /// suspicion. The rows of the table are read in order of their times, so this row gets the time of the row that
    /// was shown meanwhile, and follows it. So the last row is the state, and the wrong state has lasted no time.
    /// Only a row in the future, after the clock was set back, moves nothing.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_transition(
        &mut self,
        session: SessionKey,
        row: &TransitionRow,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO transitions (session, at, state, kind, source, detail, confidence)
             VALUES (?1, max(?2, coalesce((SELECT max(at) FROM transitions WHERE session = ?1 AND at <= ?8), ?2)),
                 ?3, ?4, ?5, ?6, ?7)",
            (
                session,
                At(row.at),
                &row.state,
                &row.kind,
                &row.source,
                &row.detail,
                &row.confidence,
                now.as_millis(),
            ),
        )?;
        Ok(())
    }
}

impl Store {
    /// The newest transitions of a session, newest first, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn transitions(&self, session: SessionKey, limit: u32) -> Result<Vec<TransitionRow>, StoreError> {
        self.rows(
            "SELECT at, state, kind, source, detail, confidence FROM transitions
                 WHERE session = ?1 ORDER BY at DESC, rowid DESC LIMIT ?2",
            (session, limit),
            |row| {
                Ok(TransitionRow {
                    at: row.get::<_, At>(0)?.0,
                    state: row.get(1)?,
                    kind: row.get(2)?,
                    source: row.get(3)?,
                    detail: row.get(4)?,
                    confidence: row.get(5)?,
                })
            },
        )
    }
}
