//! A session in the words of the claude-recall document, from the view `sdk_sessions`. The view derives its state; no part stores it.

use crate::{Store, StoreError};

/// A row of `sdk_sessions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSession {
    /// The agent's id.
    pub session_id: String,
    /// The name of the working folder, without those above it.
    pub project: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// What the user asked first.
    pub first_prompt: Option<String>,
    /// How many prompts.
    pub prompts: u64,
    /// `initialized`, `active`, `observation queued`, `summarizing` or `completed`.
    pub status: String,
    /// When it began, as RFC 3339.
    pub created_at: Option<String>,
    /// When it ended, or its last sign before it counted as ended.
    pub completed_at: Option<String>,
    /// The newest activity, as RFC 3339.
    pub updated_at: Option<String>,
}

impl Store {
    /// The agent's id of the session that has this number.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_numbered(&self, number: &str) -> Result<Option<String>, StoreError> {
        self.row("SELECT session_id FROM sessions WHERE id = CAST(?1 AS INTEGER)", [number], |row| row.get(0))
    }

    /// A session in the words of the document; `None` if it is not stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn document_session(&self, session: &str) -> Result<Option<DocumentSession>, StoreError> {
        let query = "SELECT claude_session_id, project, cwd, first_user_prompt, prompt_counter, status, created_at, completed_at, updated_at
                 FROM sdk_sessions WHERE claude_session_id = ?1";
        self.row(query, [session], |row| {
            Ok(DocumentSession {
                session_id: row.get(0)?,
                project: row.get(1)?,
                cwd: row.get(2)?,
                first_prompt: row.get(3)?,
                prompts: row.get::<_, i64>(4)?.unsigned_abs(),
                status: row.get(5)?,
                created_at: row.get(6)?,
                completed_at: row.get(7)?,
                updated_at: row.get(8)?,
            })
        })
    }
}
