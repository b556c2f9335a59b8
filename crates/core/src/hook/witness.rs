//! What the hooks of one process say of one session: facts with their times, for the resolver to weigh.

use std::sync::Arc;

use crate::hook::event::EndReason;
use crate::ids::Instance;
use crate::session::state::StateKind;
use crate::time::Timestamp;

/// The session as the hooks of one process report it.
///
/// Facts only: the resolver adds dwell, decay and precedence. Hooks do not report everything: none fires when the
/// user answers a dialog (with yes or no), with most agents none for Escape, and none when the process is killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookWitness {
    /// The process, where the sender found it.
    pub agent: Option<Instance>,
    /// What the session's own turn does.
    pub turn: HookTurn,
    /// Since when the turn does so: the time of the event.
    pub since: Timestamp,
    /// When the newest prompt was submitted; `None` when no hook reported it.
    pub prompt_at: Option<Timestamp>,
    /// A compaction has run since then.
    pub compacting: Option<Timestamp>,
    /// Requests that no hook has answered yet: at most one for the turn and one for each subagent, oldest first.
    pub asks: Vec<HookRequest>,
    /// The session's own tool calls that have begun and not ended, oldest first.
    pub calls: Vec<HookCall>,
    /// Subagents that run.
    pub agents_running: u32,
    /// When the last of them ended; the turn that reports it begins a moment later.
    pub agents_ended: Option<Timestamp>,
    /// Shells that run in the background, as the last `Stop` reported.
    pub shells_running: u32,
    /// Time of the newest event about the turn, a call or a request.
    pub turn_event_at: Timestamp,
    /// Time of the newest event that only happens where the turn's own dialog is closed: a prompt, a result, an end.
    pub answered_at: Option<Timestamp>,
    /// Time of the newest event of any kind.
    pub newest_event_at: Timestamp,
}

/// The state of a session's own turn, as hooks report it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HookTurn {
    /// No hook reported it: only subagents, or only signs of life.
    #[default]
    Unreported,
    /// A session began or was resumed, and no prompt has come.
    NoPrompt,
    /// A turn runs.
    Running,
    /// `Stop`: it ended by itself.
    Ended {
        /// First line of the last answer.
        message: Arc<str>,
    },
    /// `StopFailure`: the request failed for good.
    Failed {
        /// `error`.
        error: Arc<str>,
        /// The agent's words about it, one line.
        message: Arc<str>,
        /// A usage limit was reached.
        limit: bool,
    },
    /// `Interrupt`: the user stopped it.
    Interrupted,
    /// The prompt has been open for a minute, and no hook reported an end.
    Quiet,
    /// `SessionEnd`: the process has left the session.
    Closed(EndReason),
}

/// A request to the user that no hook has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRequest {
    /// Permission, question, plan, or a dialog of a server or of the agent itself.
    pub kind: StateKind,
    /// The tool; empty when there was only a notification.
    pub tool: Arc<str>,
    /// The target of the call, or the question, one line.
    pub target: Arc<str>,
    /// `tool_use_id`, if a hook reported the call before.
    pub call: Option<Arc<str>>,
    /// The subagent that asks.
    pub agent: Option<Arc<str>>,
    /// When.
    pub at: Timestamp,
    /// When a notification confirmed that the dialog was still open.
    pub confirmed: Option<Timestamp>,
    /// Hooks reported only the call of a tool that always asks, not the request itself. A dialog: it is the agent's own, and no hook
    /// will say that it was closed.
    pub implied: bool,
}

/// A tool call that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCall {
    /// `tool_use_id`.
    pub id: Option<Arc<str>>,
    /// The tool.
    pub tool: Arc<str>,
    /// What it acts on, one line.
    pub target: Arc<str>,
    /// When.
    pub at: Timestamp,
}
