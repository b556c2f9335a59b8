//! The events of opencode's plugin. The plugin is ours and writes them in the form and the words of Claude Code's.

use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;

use crate::claude::hooks::{Form, read};
use crate::claude::records::target;

const FORM: Form =
    Form { agent: Agent::Opencode, target: target::of, prefix: "", repeats: None, starts_in_turn: false };

/// Reads one payload.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    read(bytes, &FORM)
}
