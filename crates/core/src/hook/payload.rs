//! One hook payload as facts: the fields that decide a session's state. `watchbill_agents` reads it.

use std::sync::Arc;

use super::event::HookEvent;
use crate::ids::SessionId;

/// Longest payload that is read, in bytes. A `PostToolUse` carries the whole output of its tool. The sender shortens
/// the texts of a longer payload.
pub const PAYLOAD_LIMIT: usize = 4 * 1024 * 1024;

/// One hook event: the fields that every event has, and the event itself.
///
/// Source of the shapes: 63 payloads of 22 events recorded from agent 2.1.329, and the agent's hooks reference of
/// 2.1.240 for those that were not recorded (PermissionDenied, Elicitation). Fields that are absent, empty or of
/// another type are unknown, never an error. The payload's long texts are not kept; [`super::HookTexts`] reads them
/// from the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPayload {
    /// `session_id`: the session that the process is on now.
    pub session: SessionId,
    /// `transcript_path`: where the session's main transcript lies or will lie, also for events of subagents.
    pub transcript_path: Option<Arc<str>>,
    /// `cwd`: the agent's folder at that moment. It changes during a session, so it identifies nothing.
    pub cwd: Option<Arc<str>>,
    /// `permission_mode`.
    pub permission_mode: Option<Arc<str>>,
    /// `prompt_id` (since 2.1.196): which prompt the event belongs to.
    pub prompt_id: Option<Arc<str>>,
    /// `agent_id`: the subagent that the event is about; `None` for the session's own turn.
    pub agent_id: Option<Arc<str>>,
    /// `agent_type`; empty for the worker of a compaction.
    pub agent_type: Option<Arc<str>>,
    /// What happened.
    pub event: HookEvent,
}

/// Why the bytes gave no payload. No retry helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// More than [`PAYLOAD_LIMIT`] bytes.
    #[error("the hook's payload is longer than {} MB and was not read", PAYLOAD_LIMIT / 1024 / 1024)]
    TooLarge,
    /// Nested too deeply: a recursive parser could overflow the stack.
    #[error("the hook's payload is nested too deep and was not read")]
    TooDeep,
    /// No JSON object, or one that was cut.
    #[error("the hook's payload is no complete JSON object")]
    Malformed,
    /// An object that names no session or no event; the agent's name.
    #[error("the hook's payload names no session or no event: it is not one of {0}'s")]
    NotAnEvent(&'static str),
    /// An event of another agent than the hook was installed for.
    #[error("the hook's payload is of another agent")]
    Foreign,
}
