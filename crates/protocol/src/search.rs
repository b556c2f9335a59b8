//! `search --json`: queries to the stored history, and their hits.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// A query to the stored history. Each filter that is present narrows it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SearchQuery {
    /// The typed text: words, all of which must occur; `"a phrase"`; `begin*`. At most 64 words and 4,096 bytes.
    pub query: String,
    /// The user is still typing: the last word may go on.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub typing: bool,
    /// Most hits of one answer.
    pub limit: Option<u32>,
    /// Part of the project's path or name.
    pub project: Option<String>,
    /// Only sessions of this agent, by its word: `claude`, `codex`, ….
    pub agent: Option<String>,
    /// Only texts at or after this time.
    pub since: Option<String>,
    /// Only texts of this role: see [`Hit::role`].
    pub role: Option<String>,
    /// Only input and output of this tool.
    pub tool: Option<String>,
    /// Only this work chain: its id, or one of a session in it.
    pub chain: Option<String>,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SearchAnswer {
    /// The text of the query.
    pub query: String,
    /// The best first.
    pub hits: Vec<Hit>,
    /// Whether there are more hits than the limit.
    pub more: bool,
    /// Whether the search covered all transcripts.
    pub index: IndexState,
    /// Bytes at the ends of long texts that are not stored. Only if nothing was found, and there are such bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_bytes: Option<u64>,
    /// Milliseconds that the search took, without bringing the store up to date.
    pub took_ms: f64,
}

/// Whether the search covered all transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// All transcripts have been read into the store.
    Current,
    /// Some have not, or not to their end.
    Behind,
    /// Nothing is stored yet.
    Absent,
    /// The search ended after three seconds, and has not looked at all texts.
    Cut,
}

/// One text in which the words occur.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Hit {
    /// The session; a subagent's hit is its parent's.
    pub session_id: String,
    /// The piece of work that the session belongs to.
    pub work_chain_id: String,
    /// The time of the text.
    pub at: Option<String>,
    /// The kind of the text: `prompt`, `answer`, `thinking`, `tool_input`, `tool_result`, `summary`, `title`,
    /// `command`, `notice`.
    pub role: String,
    /// The words and the text around them, in one line.
    pub snippet: String,
    /// The same snippet in parts, so that a reader can highlight the found words.
    pub snippet_parts: Vec<SnippetPart>,
    /// The folder in which the session worked, else the name of its folder of transcripts.
    pub project: String,
    /// The higher, the better; comparable within one answer only.
    pub score: f64,
    /// The session's title, if one is stored.
    pub title: Option<String>,
    /// The tool whose input or output it is.
    pub tool: Option<String>,
    /// The id of the subagent, if it is a subagent's text.
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
    /// Whether it is one of the query's words.
    pub found: bool,
}
