//! A prompt that the user sends to a session from outside its terminal.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// A prompt for a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptCall {
    /// A session or a work chain.
    pub session: String,
    /// The text, at most 64 KiB.
    pub text: String,
}

/// `prompt --json`: the text was typed and Enter was pressed. A prompt of which no key was sent is an error instead.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct PromptSent {
    /// The session.
    pub session_id: String,
    /// Its outcome.
    pub outcome: PromptOutcome,
    /// The word of the agent that it has the prompt: `transcript` or `registry`. Absent while unknown.
    pub proof: Option<String>,
    /// Whether the transcript holds exactly this text. Absent without a record, and for commands of the agent's own.
    pub whole: Option<bool>,
    /// The program that took the keys: `tmux`, `kitty`.
    pub by: String,
    /// When Enter was pressed.
    pub at: String,
}

/// The outcome of a typed prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PromptOutcome {
    /// The agent has it.
    Submitted,
    /// The agent has said nothing of it for ten seconds. It is not sent again.
    Unknown,
}
