//! The parts of a timeline: entries, and the tool calls among them.

use std::sync::Arc;

use super::record::CompactBoundary;
use crate::ids::RecordId;
use crate::time::{Millis, Timestamp};

/// One event of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Where the line begins in the file.
    pub offset: u64,
    /// The record's id.
    pub uuid: Option<RecordId>,
    /// The time, as the agent wrote it.
    pub at: Option<Timestamp>,
    /// The subagent it belongs to; `sidechain` for agents of 1.0.x, which do not name it.
    pub agent_id: Option<Arc<str>>,
    /// The content.
    pub what: What,
}

/// The content of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A prompt.
    Prompt {
        /// The text, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
        text: String,
        /// The source of the prompt.
        origin: Origin,
    },
    /// An answer of the agent, in Markdown, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
    Response(String),
    /// A thought of the agent, cut at [`TEXT_LIMIT`](super::timeline::TEXT_LIMIT).
    Thinking(String),
    /// A tool call and, once it is there, its result.
    Tool(Box<ToolCall>),
    /// A compaction.
    Boundary(CompactBoundary),
    /// The user interrupted.
    Interrupted,
    /// The request failed for good.
    Error(String),
    /// A slash command or a `!` line of the user.
    Command(String),
    /// A note of the agent: output of a command, a retry, the end of a turn.
    Note(String),
}

/// The source of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user.
    Human,
    /// The user, while a turn ran. The agent took the prompt into that turn.
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
    /// It names an excluded path, so input and output are left out.
    pub left_out: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why the agent's reviewer refused it: its words, or nothing if they are not known. `None` if it did not refuse it.
    pub refusal: Option<String>,
    /// The result as text, cut at [`PAYLOAD_LIMIT`](super::timeline::PAYLOAD_LIMIT).
    pub output: Option<String>,
    /// It was cut.
    pub output_cut: bool,
    /// Time from the call's record to the result's.
    pub duration: Option<Millis>,
    /// Where the line of its result begins, once there is one.
    pub result_offset: Option<u64>,
    /// The subagent that it started, named by its result.
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
    /// It was refused, by the user or by a rule.
    Denied,
    /// The user stopped it while it ran. It may have run in part.
    Interrupted,
    /// It goes on in the background.
    Background,
}
