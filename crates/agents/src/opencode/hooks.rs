//! The events of opencode's plugin. The plugin is ours and writes them in the form and the words of Claude Code's.

use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;

use crate::claude::hooks::{Form, read};

const FORM: Form = Form { agent: Agent::Opencode, ..Form::OF_CLAUDE };

/// Reads one payload.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    read(bytes, &FORM)
}
