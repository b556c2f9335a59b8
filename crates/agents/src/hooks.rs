//! Hook events of any agent: what their payloads say, and whose they are.

use std::ffi::OsString;
use std::path::Path;

use watchbill_core::hook::{HookError, HookMessage, HookPayload};
use watchbill_core::ids::Agent;

pub use crate::claude::hooks::{parse_payload, read_texts};
use crate::files::place_of;
use crate::{hook_traits, traits};

/// Folders of agents that run the hooks which Claude Code's settings name. Seen: Copilot CLI 1.0.102 with those of a project, and
/// Grok 1.0.41 with `~/.claude/settings.json` too. Cursor does so by its documents.
const BORROWERS: [&str; 2] = [".copilot", ".grok"];

/// The variables that these agents, and Cursor, set for their hooks.
const BORROWERS_SIGNS: [&str; 3] = ["COPILOT_CLI", "GROK_SESSION_ID", "CURSOR_VERSION"];

/// The payload of an event, read as its agent writes it.
///
/// # Errors
/// When it is no event, or one of another agent than the hook is for.
pub fn payload_of(message: &HookMessage) -> Result<&HookPayload, HookError> {
    let payload = message.parsed(hook_traits(message.agent).parse)?;
    if is_of_another(message.agent, payload) { Err(HookError::Foreign) } else { Ok(payload) }
}

/// The same for the bytes of a payload.
///
/// # Errors
/// As [`payload_of`].
pub fn parse(agent: Agent, bytes: &[u8]) -> Result<HookPayload, HookError> {
    let payload = (hook_traits(agent).parse)(bytes)?;
    if is_of_another(agent, &payload) { Err(HookError::Foreign) } else { Ok(payload) }
}

/// Whether the transcript of an event belongs to another agent, by its path.
fn is_of_another(agent: Agent, payload: &HookPayload) -> bool {
    let Some(path) = payload.transcript_path.as_deref().map(Path::new) else { return false };
    let own = traits(agent).folder;
    path.iter().any(|name| BORROWERS.iter().any(|folder| *folder != own && name == *folder))
        || place_of(path).is_some_and(|place| place.agent() != agent)
}

/// Whether another agent runs this agent's hook, as far as its environment and the payload tell. An agent that is started in a tool
/// of such a one inherits its variables, but names a transcript of its own.
pub fn is_borrowed(agent: Agent, env: &dyn Fn(&str) -> Option<OsString>, payload: &[u8]) -> bool {
    agent == Agent::Claude
        && BORROWERS_SIGNS.iter().any(|sign| env(sign).is_some())
        && parse(agent, payload).map_or(true, |event| event.transcript_path.is_none())
}
