//! Events of an own session.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::request::Request;

/// One event of an own session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct OwnEvent {
    /// The number of the log's record that it comes from. Several events may share one.
    pub n: u64,
    /// When that record was written, RFC 3339.
    pub at: String,
    /// What happened.
    #[serde(flatten)]
    pub what: OwnWhat,
}

/// The cause of an error: the turn goes on although it was interrupted.
pub const NO_REACTION: &str = "interrupt";

/// What happened in an own session. Readers ignore events that they do not know.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[ts(optional_fields)]
pub enum OwnWhat {
    /// The agent is ready, or says again what it is.
    Init {
        /// The agent's id of the session.
        session: String,
        /// Its model.
        model: Option<String>,
        /// Its permission mode.
        mode: Option<String>,
        /// Its version.
        version: Option<String>,
        /// Its process id.
        pid: Option<u32>,
        /// The models that it offers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        models: Vec<String>,
        /// The modes that it offers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        modes: Vec<String>,
        /// Its slash commands, without the slash.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        commands: Vec<String>,
    },
    /// A prompt of the user changed its place.
    Prompt {
        /// Its id: for Claude the uuid of the transcript's record too.
        id: String,
        /// Its text.
        text: String,
        /// How many pictures it has.
        #[serde(default, skip_serializing_if = "is_zero")]
        #[ts(as = "Option<u32>", optional)]
        images: u32,
        /// Where it is.
        place: PromptPlace,
    },
    /// Queued prompts wait until the user lets them go on, or wait no longer.
    QueueHeld {
        /// Whether they wait.
        held: bool,
        /// Why: `interrupted`, `error`, `limit`, `login`, `time`.
        cause: Option<String>,
        /// Then they go on by themselves, as the user said.
        until: Option<String>,
    },
    /// A turn began.
    TurnStart,
    /// Text of the agent grew.
    Text {
        /// The message and block that it belongs to.
        block: String,
        /// The new text.
        delta: String,
    },
    /// Thinking of the agent grew.
    Thinking {
        /// The message and block that it belongs to.
        block: String,
        /// The new text.
        delta: String,
    },
    /// A block is whole. Its text replaces the deltas. An empty text drops the block: the agent begins it again.
    Block {
        /// The message and block.
        block: String,
        /// Its whole text.
        text: String,
        /// It is thinking.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        thinking: bool,
        /// The id of the transcript's record that has it, where the agent names it: Claude does.
        record: Option<String>,
    },
    /// The agent uses a tool.
    ToolUse {
        /// The id of the call.
        id: String,
        /// The tool's name.
        tool: String,
        /// The tool's input as the agent wrote it.
        #[ts(type = "unknown")]
        input: serde_json::Value,
        /// The input in one line.
        target: String,
        /// The call of the subagent that it belongs to.
        parent: Option<String>,
    },
    /// A tool has ended.
    ToolResult {
        /// The id of the call.
        id: String,
        /// Its output as text.
        text: String,
        /// It failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        failed: bool,
    },
    /// The agent asks.
    Request {
        /// The request, with `answerable` `stream`.
        request: Box<Request>,
    },
    /// It asks no longer.
    RequestClosed {
        /// The id of the request.
        request: String,
        /// `answered` from here, `withdrawn` by the agent, or `ended`: the agent is gone.
        by: String,
    },
    /// The agent tries again.
    Retry {
        /// Which try failed.
        attempt: u32,
        /// How many there are.
        of: Option<u32>,
        /// Milliseconds until the next one.
        wait_ms: Option<u64>,
        /// The cause.
        cause: String,
    },
    /// The conversation was compacted, or is being compacted.
    Compaction {
        /// It has ended.
        done: bool,
        /// `auto` or `manual`.
        trigger: Option<String>,
        /// Tokens before.
        before: Option<u64>,
    },
    /// The model or the mode changed.
    Changed {
        /// The model.
        model: Option<String>,
        /// The mode.
        mode: Option<String>,
    },
    /// The conversation goes on under another id of the agent: after a `/clear`.
    Moved {
        /// The agent's new id.
        session: String,
    },
    /// Something failed that the user should read. The session goes on.
    Error {
        /// What happened.
        text: String,
        /// `limit`, `login`, `api`, `start`, `command`, `protocol`, `interrupt`.
        cause: String,
        /// The id of the transcript's record that has it, where the agent names it: Claude does.
        record: Option<String>,
    },
    /// How full the context is.
    Context {
        /// Tokens in it.
        used: u64,
        /// Tokens that fit.
        size: Option<u64>,
    },
    /// A turn has ended.
    TurnEnd {
        /// `completed`, `interrupted`, `error`, `limit`, `login`, `max_turns`.
        reason: String,
        /// Tokens of the turn.
        tokens: Option<OwnTokens>,
        /// The prompts that it answered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        prompts: Vec<String>,
    },
    /// The agent's process was started.
    Started {
        /// Its process id.
        pid: u32,
    },
    /// The end was requested. Lists the processes that still run.
    Ending {
        /// The processes that are left.
        left: Vec<OwnProcess>,
    },
    /// The last process has ended. Comes once, and last.
    SessionEnded {
        /// The exit code of the agent, where it has one.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The user asked for the end.
        asked: bool,
        /// Its last words on standard error, where it failed.
        words: Option<String>,
    },
}

/// Where a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PromptPlace {
    /// In the host's queue: it can be taken back and edited.
    Queued,
    /// Written to the agent. It is never written again.
    Sent,
    /// The agent works on it.
    Started,
    /// The turn that took it has ended.
    Done,
    /// Taken back, or dropped by the agent before it began.
    Dropped,
    /// The agent ended before it said that it has the prompt.
    Unknown,
}

/// Tokens of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnTokens {
    /// Sent, without the cache.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Read from the cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Written to the cache.
    #[serde(default)]
    pub cache_write: u64,
}

/// A process of an own session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnProcess {
    /// Its process id.
    pub pid: u32,
    /// Its command line, shortened.
    pub command: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
