//! `show --json`: the timeline of a work chain, in file order over all its segments.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// A part of a timeline.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Timeline {
    pub session_id: String,
    pub work_chain_id: String,
    /// The user's name for the chain.
    pub work_chain_name: Option<String>,
    /// The id of the subagent, if this is a subagent's timeline.
    pub agent_id: Option<String>,
    /// Index of the first item.
    pub from: u64,
    /// Number of items in the whole timeline, as far as read.
    pub total: u64,
    pub items: Vec<TimelineItem>,
}

/// The part of a timeline that the window shows when it opens it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NewestItems {
    /// Whether the whole timeline was read. If not, indexes and the total count from the first item here.
    pub counted: bool,
    /// The newest items.
    pub timeline: Timeline,
}

/// One entry.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct TimelineItem {
    /// Place in the timeline, from 0; stable while records are only appended.
    pub index: u64,
    /// The key of the item in its timeline, independent of the items before it. Equal keys in two answers show that
    /// an item is the same one; nothing else shows it. A key has no other meaning.
    pub key: String,
    pub session_id: String,
    pub at: Option<String>,
    #[serde(flatten)]
    pub what: What,
    /// The id of the subagent, if the item belongs to one.
    pub agent_id: Option<String>,
}

/// The content of an entry.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub enum What {
    /// A prompt. `origin`: `human`, `task_notification`, `peer`, `queued`.
    Prompt { text: String, origin: String },
    /// An answer of the agent, in Markdown.
    Response { text: String },
    /// A thought of the agent.
    Thinking { text: String },
    /// A tool call and, once it is there, its result.
    Tool {
        id: String,
        tool: String,
        target: String,
        /// The input, as JSON text, cut at 16 KiB.
        input: String,
        /// `true` if it was cut; absent if it is whole.
        input_cut: Option<bool>,
        /// `pending`, `ok`, `error`, `denied`, `interrupted`, `background`.
        outcome: String,
        /// The output as text, cut at 16 KiB.
        output: Option<String>,
        /// `true` if it was cut; absent if it is whole.
        output_cut: Option<bool>,
        duration_ms: Option<u64>,
        /// The subagent that this call started, if it wrote a transcript of its own.
        subagent: Option<Subagent>,
    },
    /// A compaction.
    Boundary { trigger: String, pre_tokens: Option<u64>, post_tokens: Option<u64> },
    /// A session of the chain begins, or goes on after its successor began: `to` is its id, `reason` that of its link.
    Continued { to: String, reason: String },
    /// The user interrupted.
    Interrupted,
    /// The request failed.
    Error { text: String },
    /// A slash command or a shell line of the user.
    Command { text: String },
    /// A note of the agent: retry, end of turn with its duration, ….
    Note { text: String },
}

/// A subagent, at the call that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct Subagent {
    pub agent_id: String,
    /// Number of items in its own timeline, once that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Its timeline, if the request asked for it too; indexes count from 0 within it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<TimelineItem>,
}

/// A place in the timeline of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TimelinePlace {
    /// Index of the item; for a subagent's item, index of the call that started the subagent.
    pub index: u64,
    /// The path from there: the subagent at that call, the one that it started in turn, ….
    pub within: Vec<AgentPlace>,
}

/// A place in a subagent's own timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct AgentPlace {
    pub agent_id: String,
    /// Index of the item in the subagent's timeline.
    pub index: u64,
}
