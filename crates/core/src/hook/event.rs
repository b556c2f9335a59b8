//! Hook events as a closed set of types.

use std::sync::Arc;

use super::status_line::StatusLine;

/// One hook event. Events that this program does not use are [`HookEvent::Other`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookEvent {
    /// A process began with a session, or goes on in it after `/clear`, `/resume` or a compaction.
    SessionStart {
        /// `source`.
        source: StartSource,
        /// `model`.
        model: Option<Arc<str>>,
        /// `session_title`.
        title: Option<Arc<str>>,
    },
    /// A process leaves a session.
    SessionEnd {
        /// `reason`.
        reason: EndReason,
    },
    /// A prompt begins a turn.
    UserPromptSubmit {
        /// The agent submitted it by itself: background work has ended.
        task_notification: bool,
    },
    /// A tool is about to run, or to ask.
    PreToolUse(HookToolCall),
    /// A tool has run.
    PostToolUse(HookToolCall),
    /// A tool has failed.
    PostToolUseFailure {
        /// Its call.
        call: HookToolCall,
        /// `is_interrupt`: the user stopped it. Client 2.1.329 fires no hook at all for Escape.
        interrupted: bool,
    },
    /// A dialog for this call is about to be shown. The payload has no `tool_use_id`.
    PermissionRequest(HookToolCall),
    /// The user has answered the dialog for a call. Only some agents fire a hook then.
    PermissionReplied(HookToolCall),
    /// The auto mode refused a call. A refusal by the user fires no hook.
    PermissionDenied(HookToolCall),
    /// All calls of one answer are done, including refused ones.
    PostToolBatch,
    /// The agent notifies the user.
    Notification {
        /// `notification_type`.
        kind: NotificationKind,
    },
    /// The turn ended by itself.
    Stop {
        /// First line of `last_assistant_message`.
        last_message: Arc<str>,
        /// `background_tasks` that still run.
        background: Background,
    },
    /// The turn ended because the request failed.
    StopFailure {
        /// `error`: `rate_limit`, `server_error`, ….
        error: Arc<str>,
        /// First line of `last_assistant_message`, which holds the agent's own words about the error.
        message: Arc<str>,
    },
    /// The user stopped the turn. Only some agents fire a hook then.
    Interrupted,
    /// A subagent begins.
    SubagentStart,
    /// A subagent has ended, or the worker of a compaction (`agent_type` empty).
    SubagentStop,
    /// A compaction begins.
    PreCompact,
    /// A compaction has ended.
    PostCompact,
    /// An MCP server asks the user for something.
    Elicitation {
        /// First line of `message`.
        message: Arc<str>,
    },
    /// The user has answered it.
    ElicitationResult,
    /// The client's status line was drawn. It is no event of the turn.
    StatusLine(Arc<StatusLine>),
    /// Any other event, by its name: a sign of life.
    Other(Arc<str>),
}

/// A tool call as a hook names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookToolCall {
    /// `tool_name`.
    pub tool: Arc<str>,
    /// What it acts on, one line.
    pub target: Arc<str>,
    /// `tool_use_id`.
    pub id: Option<Arc<str>>,
    /// Hash of `tool_input`. It joins a `PermissionRequest`, which has no id, with its call.
    pub input: u64,
}

/// `source` of SessionStart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StartSource {
    /// A new session.
    Startup,
    /// An old session is resumed, by a new process or by `/resume` inside one.
    Resume,
    /// `/clear`.
    Clear,
    /// After a compaction.
    Compact,
    /// A copy of another session (since 2.1.214).
    Fork,
    /// A word that this program does not know.
    Unknown,
}

/// `reason` of SessionEnd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// `/clear`: the process goes on with a new session.
    Clear,
    /// `/resume` inside: the process goes on with another session.
    Resume,
    /// `/exit` and its keys.
    Exit,
    /// `/logout`.
    Logout,
    /// A signal, or the end of print mode; also any word that this program does not know.
    Other,
}

/// `notification_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// A dialog has been open for six seconds without a key press.
    PermissionPrompt,
    /// The prompt has been empty for a minute.
    IdlePrompt,
    /// A server's question has been open for six seconds.
    Elicitation,
    /// A dialog of the agent itself is open, such as "Auto mode can't check actions" (2.1.332). The agent view says the same of
    /// other sessions.
    NeedsInput,
    /// Anything else: no evidence.
    Other,
}

/// Background work, as `Stop` reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Background {
    /// Ids of subagents that run.
    pub agents: Vec<Arc<str>>,
    /// Number of anything else that runs: shells, monitors.
    pub shells: u32,
}

impl EndReason {
    /// The process goes on with another session.
    pub const fn moves_on(self) -> bool {
        matches!(self, Self::Clear | Self::Resume)
    }
}
