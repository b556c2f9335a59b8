//! What became of the wish to see a session's terminal.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The answer to `focus`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct FocusAnswer {
    /// The session that was meant.
    pub session_id: String,
    /// How far it went.
    pub outcome: FocusOutcome,
    /// The programs that brought it to the front, innermost first: `tmux in kitty`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it went no further: sentences for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A line for a shell that shows a session which runs, but is shown in no terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attach_command: Option<String>,
    /// A line for a shell that takes the session up again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_command: Option<String>,
}

/// How far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FocusOutcome {
    /// The tab or pane is in front.
    Focused,
    /// Its window is, but not the tab.
    WindowOnly,
    /// Nothing was brought to the front.
    NotPossible,
}
