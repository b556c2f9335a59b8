//! Forgotten sessions: the user had them removed. They are not stored again from transcripts that are still there.

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use super::At;
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- A session that the person had removed. It is not stored again, unless the person says so.
CREATE TABLE forgotten (
    session_id TEXT PRIMARY KEY,
    at         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

impl WriteTransaction<'_> {
    /// Notes that a session must not be stored again.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_forgotten(&mut self, session: &str, at: Timestamp) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO forgotten (session_id, at) VALUES (?1, ?2)", (session, At(at)))?;
        Ok(())
    }
}

impl Store {
    /// Allows storing the session again, because the user wants it; `None` means all sessions. Returns how many
    /// were forgotten.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remember_again(&mut self, session: Option<&SessionId>) -> Result<u64, StoreError> {
        let mut step = self.step()?;
        let changed = match session {
            Some(session) => step.run("DELETE FROM forgotten WHERE session_id = ?1", [session.as_str()])?,
            None => step.run("DELETE FROM forgotten", [])?,
        };
        step.commit()?;
        if let Err(error) = self.write_forgotten_list() {
            tracing::warn!(%error, "if the store is damaged later, a session may count as forgotten again");
        }
        Ok(changed as u64)
    }

    /// The sessions that must not be stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forgotten(&self) -> Result<Vec<SessionId>, StoreError> {
        self.rows("SELECT session_id FROM forgotten ORDER BY session_id", [], |row| {
            Ok(SessionId::new(row.get_ref(0)?.as_str()?))
        })
    }
}
