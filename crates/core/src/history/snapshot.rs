//! Writes the fold to bytes and reads it back, in the form of the session's snapshots.

use crate::history::fold::HistoryFold;
use crate::ids::SessionId;
use crate::session::snapshot::{SnapshotError, from_bytes, to_bytes};

impl HistoryFold {
    /// The state that a restart needs: some hundred bytes. Held-back rows are not in it, so call
    /// [`HistoryFold::settle`] before.
    pub fn snapshot(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The fold of this file from its bytes.
    ///
    /// # Errors
    /// If the bytes are of another version, damaged, or of another file. The caller then reads the file from its
    /// beginning.
    pub fn restore(bytes: &[u8], session: &SessionId, agent: Option<&str>) -> Result<Self, SnapshotError> {
        let fold: Self = from_bytes(bytes)?;
        let own = fold.session == *session && fold.agent.as_deref() == agent;
        if own { Ok(fold) } else { Err(SnapshotError::Damaged) }
    }
}
