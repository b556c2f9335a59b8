//! The tool calls that a reading of hook events keeps: open calls, requests, and ended calls.

use std::collections::VecDeque;
use std::sync::Arc;

use super::event::HookToolCall;
use super::witness::{HookCall, HookRequest};
use crate::session::state::StateKind;
use crate::time::Timestamp;
use crate::tool::Ask;

/// More open calls than any client makes at once. Beyond it the oldest is dropped.
pub(super) const OPEN_CALL_LIMIT: usize = 64;
/// How many prompts and finished calls are kept, because senders may put events into the wrong order.
const MAX_REMEMBERED: usize = 32;
/// A call that has begun and not ended, of the turn or of a subagent.
#[derive(Debug, Clone)]
pub(super) struct OpenCall {
    pub shown: HookCall,
    pub input: u64,
    pub agent: Option<Arc<str>>,
}

/// A request without an answer.
#[derive(Debug, Clone)]
pub(super) struct OpenRequest {
    pub shown: HookRequest,
    pub input: u64,
}

impl OpenRequest {
    /// Whether the answer to a call is the one to this request. An answer that names no call is to all of the same agent.
    pub fn is_answered_by(&self, call: &HookToolCall, agent: Option<&Arc<str>>) -> bool {
        self.shown.agent.as_ref() == agent && (call.id.is_none() || self.shown.call == call.id)
    }
}

/// A call that has ended.
#[derive(Debug, Clone)]
pub(super) struct EndedCall {
    pub call: HookToolCall,
    pub agent: Option<Arc<str>>,
    pub at: Timestamp,
}

/// The kind of request that a call of this tool always is.
pub(super) fn asks_by_itself(tool: &str) -> Option<StateKind> {
    match Ask::of(tool, false) {
        Ask::Question => Some(StateKind::Question),
        Ask::Plan => Some(StateKind::Plan),
        Ask::Never | Ask::Edit | Ask::Tool | Ask::Permission => None,
    }
}

pub(super) fn remember<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == MAX_REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}
