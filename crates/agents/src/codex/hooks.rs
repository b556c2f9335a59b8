//! The hooks of Codex. Their payloads have the form of Claude Code's; read with 0.169.0.
//!
//! Codex waits for its hooks, so their events come in order. It runs them where the turn runs, which is often a server in the
//! background: their parents and their environment say nothing of the terminal.

use std::borrow::Cow;

use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;
use watchbill_core::transcript::json::Raw;

use super::layout::thread_of;
use super::records::calls;
use crate::claude::hooks::{Form, read};

const FORM: Form = Form {
    agent: Agent::Codex,
    target,
    prefix: "collaboration",
    // Only `PermissionRequest` has the reason as well.
    repeats: Some("command"),
    starts_in_turn: true,
    ..Form::OF_CLAUDE
};

/// Reads one payload.
///
/// `turn_id` does not become the id of the prompt: the records of a rollout name no prompts, and a subagent's turn has an id of
/// its own. An event of a subagent has the session of its parent, and its own transcript.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    // Its words for the mode are Claude Code's; the rollout has Codex's own.
    let mut payload = HookPayload { permission_mode: None, ..read(bytes, &FORM)? };
    let thread = payload.transcript_path.as_deref().and_then(|path| thread_of(path.as_ref()));
    if let Some(thread) = thread.filter(|thread| *thread != payload.session.as_str()) {
        payload.agent_id.get_or_insert_with(|| thread.into());
        payload.transcript_path = None;
    }
    Ok(payload)
}

/// A command, or the first file of a patch. The transcript names both in other fields.
fn target<'a>(tool: &str, input: Raw<'a>) -> Cow<'a, str> {
    match (tool, input.get("command")) {
        ("apply_patch", Raw::Str(patch)) => calls::first_file(patch),
        _ => calls::target(tool, input),
    }
}

#[cfg(test)]
mod tests;
