//! The name of an event, and the call that it is about.

use super::event::{HookEvent, HookToolCall};

/// The name of [`HookEvent::StatusLine`]. The client names no event there, so the sender does.
pub const STATUS_LINE: &str = "StatusLine";

impl HookEvent {
    /// `hook_event_name`.
    pub fn name(&self) -> &str {
        match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::SessionEnd { .. } => "SessionEnd",
            Self::UserPromptSubmit { .. } => "UserPromptSubmit",
            Self::PreToolUse(_) => "PreToolUse",
            Self::PostToolUse(_) => "PostToolUse",
            Self::PostToolUseFailure { .. } => "PostToolUseFailure",
            Self::PermissionRequest(_) => "PermissionRequest",
            Self::PermissionReplied(_) => "PermissionReplied",
            Self::PermissionDenied(_) => "PermissionDenied",
            Self::PostToolBatch => "PostToolBatch",
            Self::Notification { .. } => "Notification",
            Self::Stop { .. } => "Stop",
            Self::StopFailure { .. } => "StopFailure",
            Self::Interrupted => "Interrupt",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Elicitation { .. } => "Elicitation",
            Self::ElicitationResult => "ElicitationResult",
            Self::StatusLine(_) => STATUS_LINE,
            Self::Other(name) => name,
        }
    }

    /// The tool call that the event is about.
    pub fn call(&self) -> Option<&HookToolCall> {
        match self {
            Self::PreToolUse(call)
            | Self::PostToolUse(call)
            | Self::PostToolUseFailure { call, .. }
            | Self::PermissionRequest(call)
            | Self::PermissionDenied(call) => Some(call),
            _ => None,
        }
    }

    /// The same, mutable.
    pub fn call_mut(&mut self) -> Option<&mut HookToolCall> {
        match self {
            Self::PreToolUse(call)
            | Self::PostToolUse(call)
            | Self::PostToolUseFailure { call, .. }
            | Self::PermissionRequest(call)
            | Self::PermissionDenied(call) => Some(call),
            _ => None,
        }
    }
}
