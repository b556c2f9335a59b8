//! Sessions that the user has set aside: snoozed until a time, or put away until something new happens.

use watchbill_core::time::Timestamp;

use super::{at, time};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V2: &str = "
-- Sessions that the person has set aside. The session need not be stored.
CREATE TABLE set_aside (
    session_id     TEXT PRIMARY KEY,
    snoozed_until  INTEGER,  -- needs nobody until then
    away_active_at INTEGER,  -- put away: its newest record then. What is newer brings it back
    away_since     INTEGER   -- put away: since when its state held then
) STRICT, WITHOUT ROWID;
";

/// How a session is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnoozeRow {
    /// The session.
    pub session_id: String,
    /// It is snoozed until then.
    pub snoozed_until: Option<Timestamp>,
    /// It is put away: the time of its newest record and the beginning of its state, both at the time of the
    /// command.
    pub away: Option<(Timestamp, Timestamp)>,
}

impl WriteTransaction<'_> {
    /// Stores how a session is set aside, in place of an earlier row. If it is set aside in neither way, the row
    /// goes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_snooze(&mut self, row: &SnoozeRow) -> Result<(), StoreError> {
        if row.snoozed_until.is_none() && row.away.is_none() {
            self.run("DELETE FROM set_aside WHERE session_id = ?1", [&row.session_id])?;
            return Ok(());
        }
        let (active_at, since) = row.away.unzip();
        self.run(
            "INSERT OR REPLACE INTO set_aside (session_id, snoozed_until, away_active_at, away_since)
             VALUES (?1, ?2, ?3, ?4)",
            (&row.session_id, at(row.snoozed_until), at(active_at), at(since)),
        )?;
        Ok(())
    }
}

impl Store {
    /// Every session that is set aside, in order of their ids.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn all_set_aside(&self) -> Result<Vec<SnoozeRow>, StoreError> {
        self.rows(
            "SELECT session_id, snoozed_until, away_active_at, away_since FROM set_aside ORDER BY session_id",
            [],
            |row| {
                Ok(SnoozeRow {
                    session_id: row.get(0)?,
                    snoozed_until: time(row, 1)?,
                    away: time(row, 2)?.zip(time(row, 3)?),
                })
            },
        )
    }
}
