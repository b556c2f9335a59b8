//! The answer to a request for a session's terminal.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// The answer to `focus`.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct FocusAnswer {
    /// The session of the request.
    pub session_id: String,
    /// How far the request went.
    pub outcome: FocusOutcome,
    /// The programs that brought it to the front, innermost first: `tmux in kitty`.
    pub by: Option<String>,
    /// Why it went no further, in sentences for the user.
    pub reason: Option<String>,
    /// A line for a shell that shows a session which runs without a visible terminal.
    pub attach_command: Option<String>,
    /// A line for a shell that resumes the session.
    pub resume_command: Option<String>,
}

/// How far a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FocusOutcome {
    /// The tab or pane is in front.
    Focused,
    /// Its window is in front, but not the tab.
    WindowOnly,
    /// Nothing was brought to the front.
    NotPossible,
}
