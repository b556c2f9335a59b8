//! `search --json`: what was found in all that is stored, and what may be asked.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A question to the stored history. Every filter narrows it; absent ones do not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SearchQuery {
    /// What was typed: words, all of which must occur; `"a phrase"`; `begin*`. Never an error.
    pub query: String,
    /// The person is still typing: the last word may go on.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub typing: bool,
    /// Most hits of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Part of the project's path or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only what was said at or after this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Only texts of this role: see [`Hit::role`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Only input and output of this tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only this work chain: its id, or one of a session in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchAnswer {
    /// What was asked for.
    pub query: String,
    /// The best first.
    pub hits: Vec<Hit>,
    /// There are more hits than were asked for.
    pub more: bool,
    /// Whether everything that is there could be found.
    pub index: IndexState,
    /// Milliseconds that the search took, the bringing up to date not counted.
    pub took_ms: f64,
}

/// Whether everything that is there could be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// All transcripts have been read into the store.
    Current,
    /// Some have not, or not to their end.
    Behind,
    /// Nothing is stored yet.
    Absent,
}

/// One text in which the words occur.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Hit {
    /// The session; a subagent's hit is its parent's.
    pub session_id: String,
    /// The piece of work that the session belongs to.
    pub work_chain_id: String,
    /// When it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whose text it is: `prompt`, `answer`, `thinking`, `tool_input`, `tool_result`,
    /// `summary`, `title`, `command`, `notice`.
    pub role: String,
    /// The words and what stands around them, in one line.
    pub snippet: String,
    /// The same snippet in parts, so that what was found can be made to stand out.
    pub snippet_parts: Vec<SnippetPart>,
    /// The folder in which the session worked, else the name of its folder of transcripts.
    pub project: String,
    /// The higher, the better; comparable within one answer only.
    pub score: f64,
    /// The session's title, as far as one is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool whose input or output it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Set when a subagent said it: its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Where the line begins in the transcript, in bytes: `place` of the timeline takes it.
    pub offset: u64,
}

/// A part of a snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    /// The text.
    pub text: String,
    /// It is one of the words that were asked for.
    pub found: bool,
}
