//! The hooks of Gemini CLI (0.61). Their payloads have the form of Claude Code's, with other names of events and tools.
//!
//! Gemini waits for its hooks, so their events come in order. They tell all but two things: that the user has approved a call, and that
//! the user has refused or stopped one. The chat tells the second.

use watchbill_core::hook::event::HookEvent;
use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::{Agent, SessionId};

use super::layout::short;
use super::records::WORDS;
use crate::claude::hooks::{Form, read};

const FORM: Form = Form { agent: Agent::Gemini, name: event, tool, ..Form::OF_CLAUDE };

/// The answer of a turn that failed or was stopped. The chat says which.
const NO_ANSWER: &str = "[no response text]";

/// Reads one payload. The session has the name that it has in the names of files.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    let mut payload = read(bytes, &FORM)?;
    payload.session = SessionId::new(short(payload.session.as_str()));
    if matches!(&payload.event, HookEvent::Stop { last_message, .. } if **last_message == *NO_ANSWER) {
        payload.event = HookEvent::Other("AfterAgent".into());
    }
    Ok(payload)
}

/// An event in our words.
pub fn event(name: &str) -> &str {
    match name {
        "BeforeAgent" => "UserPromptSubmit",
        "AfterAgent" => "Stop",
        "BeforeTool" => "PreToolUse",
        "AfterTool" => "PostToolUse",
        name => name,
    }
}

/// A tool in our words.
pub fn tool(name: &str) -> &str {
    WORDS.iter().find(|(theirs, ..)| *theirs == name).map_or(name, |(_, ours, _)| ours)
}

#[cfg(test)]
mod tests;
