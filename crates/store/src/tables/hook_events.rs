//! Hook events that Watchbill received.

use watchbill_core::time::Timestamp;

use super::{At, SessionKey};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- A hook event of the agent's, as far as it was heard.
CREATE TABLE hook_events (
    id       INTEGER PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    at       INTEGER NOT NULL,
    event    TEXT NOT NULL,     -- SessionStart, UserPromptSubmit, PostToolUse, Stop, ...
    tool     TEXT,
    call     TEXT,              -- tool_use_id
    prompt   TEXT,              -- prompt_id
    detail   TEXT               -- what else is kept of the payload, as JSON
) STRICT;
CREATE INDEX hook_events_session ON hook_events (session, at);
";

/// A hook event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookEventRow {
    /// When it was received.
    pub at: Timestamp,
    /// Its name.
    pub event: String,
    /// The tool it is about.
    pub tool: Option<String>,
    /// `tool_use_id`.
    pub call: Option<String>,
    /// `prompt_id`.
    pub prompt: Option<String>,
    /// The other stored parts of the payload, as JSON, without private parts.
    pub detail: Option<String>,
}

impl WriteTransaction<'_> {
    /// Adds a hook event, unless the same one is stored. Events are delivered again to a program that starts, and
    /// to each of several programs. Returns whether it is new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_hook_event(&mut self, session: SessionKey, row: &HookEventRow) -> Result<bool, StoreError> {
        let added = self.run(
            "INSERT INTO hook_events (session, at, event, tool, call, prompt, detail)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
                SELECT 1 FROM hook_events WHERE session = ?1 AND at = ?2 AND event = ?3
                    AND tool IS ?4 AND call IS ?5 AND prompt IS ?6)",
            (session, At(row.at), &row.event, &row.tool, &row.call, &row.prompt, &row.detail),
        )?;
        Ok(added > 0)
    }
}

impl Store {
    /// The hook events of a session, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn hook_events(&self, session: SessionKey) -> Result<Vec<HookEventRow>, StoreError> {
        self.rows(
            "SELECT at, event, tool, call, prompt, detail FROM hook_events
                 WHERE session = ?1 ORDER BY at, id",
            [session],
            |row| {
                Ok(HookEventRow {
                    at: row.get::<_, At>(0)?.0,
                    event: row.get(1)?,
                    tool: row.get(2)?,
                    call: row.get(3)?,
                    prompt: row.get(4)?,
                    detail: row.get(5)?,
                })
            },
        )
    }
}
