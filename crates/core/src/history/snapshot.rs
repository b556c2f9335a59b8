//! The fold to bytes and back, in the same form as the folds of sessions.

use crate::history::fold::HistoryFold;
use crate::ids::SessionId;
use crate::session::snapshot::{SnapshotError, from_bytes, to_bytes};

impl HistoryFold {
    /// What is needed to go on: some hundred bytes. What was kept back must have been given out before
    /// ([`HistoryFold::settle`]).
    pub fn snapshot(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The fold of this file from its bytes.
    ///
    /// # Errors
    /// When the bytes are of another version, damaged, or of another file; the file is then read from its beginning.
    pub fn restore(bytes: &[u8], session: &SessionId, agent: Option<&str>) -> Result<Self, SnapshotError> {
        let fold: Self = from_bytes(bytes)?;
        let own = fold.session == *session && fold.agent.as_deref() == agent;
        if own { Ok(fold) } else { Err(SnapshotError::Damaged) }
    }
}
