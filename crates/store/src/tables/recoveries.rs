//! Corrections by recovery, as a log for the user.

use watchbill_core::time::Timestamp;

use super::At;
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- A log of what recovery has put right.
CREATE TABLE recoveries (
    id         INTEGER PRIMARY KEY,
    at         INTEGER NOT NULL,
    what       TEXT NOT NULL,   -- stuck_batch, stale_session, orphaned_activity, pending_batch, rebuilt_index, ...
    session_id TEXT,
    detail     TEXT NOT NULL
) STRICT;
";

/// One correction by recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryRow {
    /// The time of the correction.
    pub at: Timestamp,
    /// The name of its kind.
    pub what: String,
    /// The session, if it was about one.
    pub session_id: Option<String>,
    /// A description for the user.
    pub detail: String,
}

impl WriteTransaction<'_> {
    /// Adds to the log.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_recovery(&mut self, row: &RecoveryRow) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO recoveries (at, what, session_id, detail) VALUES (?1, ?2, ?3, ?4)",
            (At(row.at), &row.what, &row.session_id, &row.detail),
        )?;
        Ok(())
    }
}

impl Store {
    /// The newest entries of the log, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn recoveries(&self, limit: u32) -> Result<Vec<RecoveryRow>, StoreError> {
        self.rows(
            "SELECT at, what, session_id, detail FROM recoveries ORDER BY at DESC, id DESC LIMIT ?1",
            [limit],
            |row| {
                Ok(RecoveryRow {
                    at: row.get::<_, At>(0)?.0,
                    what: row.get(1)?,
                    session_id: row.get(2)?,
                    detail: row.get(3)?,
                })
            },
        )
    }
}
