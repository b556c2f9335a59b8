//! What a timeline consists of: entries, and the tool calls among them.

use std::sync::Arc;

use super::record::CompactBoundary;
use crate::ids::RecordId;
use crate::time::{Millis, Timestamp};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the line begins in the file.
    pub offset: u64,
    /// The record.
    pub uuid: Option<RecordId>,
    /// When, as the client says.
    pub at: Option<Timestamp>,
    /// The subagent it belongs to; `sidechain` for clients of 1.0.x, which do not name it.
    pub agent_id: Option<Arc<str>>,
    /// What it is.
    pub what: What,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Somebody asked.
    Prompt {
        /// The words, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
        text: String,
        /// Who asked.
        origin: Origin,
    },
    /// The agent answered, in Markdown, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
    Response(String),
    /// The agent thought, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
    Thinking(String),
    /// A tool call and, once it is there, its result.
    Tool(Box<ToolCall>),
    /// A compaction.
    Boundary(CompactBoundary),
    /// The person interrupted.
    Interrupted,
    /// The request failed for good.
    Error(String),
    /// A slash command or a `!` line of the person.
    Command(String),
    /// A word of the client: output of a command, a retry, the end of a turn.
    Note(String),
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The person.
    Human,
    /// The person, while a turn ran: the prompt was taken into it.
    Queued,
    /// A background task or subagent that has ended.
    TaskNotification,
    /// Another session.
    Peer,
}

/// A tool call and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// `tool_use_id`.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// What it acts on, in one line.
    pub target: String,
    /// The input as JSON text, cut at [`PAYLOAD_LIMIT`](super::timeline::PAYLOAD_LIMIT).
    pub input: String,
    /// It was cut.
    pub input_cut: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// The result as text, cut at [`PAYLOAD_LIMIT`](super::timeline::PAYLOAD_LIMIT).
    pub output: Option<String>,
    /// It was cut.
    pub output_cut: bool,
    /// From the call's record to the result's.
    pub duration: Option<Millis>,
    /// Where the line of its result begins, once there is one.
    pub result_offset: Option<u64>,
    /// The subagent that it started, as its result says.
    pub agent: Option<Arc<str>>,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There is no result yet.
    Pending,
    /// It went well.
    Ok,
    /// It failed.
    Error,
    /// It was refused, by the person or by a rule.
    Denied,
    /// It goes on in the background.
    Background,
}
