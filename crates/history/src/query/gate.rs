//! Which sessions may leave Watchbill: for a reader of a timeline, an export, a program over HTTP, an agent over MCP.

use std::collections::BTreeSet;

use watchbill_core::history::Exclude;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::forgotten_sessions;

use crate::errors::store_api_error;

/// The rules of the user: forgotten sessions, and excluded folders.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    forgotten: BTreeSet<String>,
    exclude: Exclude,
}

impl Gate {
    /// The present rules.
    ///
    /// # Errors
    /// When the list of forgotten sessions cannot be read: then nothing may leave.
    pub fn of(settings: &Settings) -> Result<Self, ApiError> {
        let forgotten = settings.data_dir.as_deref().map(forgotten_sessions).transpose();
        let forgotten = forgotten.map_err(|error| store_api_error(&error))?.unwrap_or_default();
        Ok(Self { forgotten, exclude: settings.history.exclude.clone() })
    }

    /// Whether every session may leave.
    pub fn is_open(&self) -> bool {
        self.forgotten.is_empty() && self.exclude.is_empty()
    }

    /// The rules for folders and files.
    pub fn exclude(&self) -> &Exclude {
        &self.exclude
    }

    /// Whether the user has forgotten the session.
    pub fn forgets(&self, session: &str) -> bool {
        self.forgotten.contains(session)
    }

    /// The error of a session that may not leave.
    pub fn refusal(&self, session: &str) -> ApiError {
        let message = match self.forgets(session) {
            true => format!(
                "you forgot session {session}, so nothing of it is shown; `watchbill forget {session} --again` takes that back"
            ),
            false => format!(
                "session {session} worked in a folder that `exclude` names, so nothing of it is shown"
            ),
        };
        ApiError::new(ErrorCode::NotFound, message)
    }
}
