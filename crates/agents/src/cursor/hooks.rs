//! The hooks of Cursor, by its documents of 2026. Their payloads are told in the form of Claude Code's before they are kept.
//!
//! What is not named here is left out. So the address of the user's account (`user_email`) reaches no file and no other program.

use serde_json::{Map, Value};
use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;
use watchbill_core::session::facts::one_line;

use super::records::WORDS;
use crate::claude::hooks::{Form, read};
use crate::fold::json::{object, text};
use crate::translated::in_our_words;

const FORM: Form = Form { agent: Agent::Cursor, ..Form::OF_CLAUDE };

/// Reads one payload that was translated.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    read(bytes, &FORM)
}

/// Fields that are kept, in Cursor's words and in ours. A transcript has no ids of calls: with those of hooks each call would count twice.
const FIELDS: [(&str, &str); 9] = [
    ("transcript_path", "transcript_path"),
    ("cwd", "cwd"),
    ("model", "model"),
    ("prompt", "prompt"),
    ("tool_output", "tool_response"),
    ("error_message", "error"),
    ("is_interrupt", "is_interrupt"),
    ("duration", "duration_ms"),
    ("duration_ms", "duration_ms"),
];

/// Writes a payload in the form of Claude Code's. `None` for what is no event, or one that says nothing here.
pub fn translate(bytes: &[u8]) -> Option<Vec<u8>> {
    let payload = object(std::str::from_utf8(bytes).ok()?, "agent").ok()?;
    let name = match (text(&payload, "hook_event_name")?, text(&payload, "status")) {
        ("sessionStart", _) => "SessionStart",
        ("sessionEnd", _) => "SessionEnd",
        ("beforeSubmitPrompt", _) => "UserPromptSubmit",
        ("preToolUse", _) => "PreToolUse",
        ("postToolUse", _) => "PostToolUse",
        ("postToolUseFailure", _) => "PostToolUseFailure",
        ("stop", Some("aborted")) => "Interrupt",
        ("stop", Some("error")) => "StopFailure",
        ("stop", _) => "Stop",
        _ => return None,
    };
    let session = text(&payload, "conversation_id").or_else(|| text(&payload, "session_id"))?;
    if one_line(session).is_empty() {
        return None;
    }
    let mut told: Map<String, Value> = FIELDS
        .iter()
        .filter_map(|(theirs, ours)| Some(((*ours).to_owned(), payload.get(theirs)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    let mut set = |name: &str, value: &str| told.insert(name.to_owned(), value.into());
    set("hook_event_name", name);
    set("session_id", session);
    match name {
        "SessionStart" => set("source", "startup"),
        // The words of the editor for how its window was left.
        "SessionEnd" if text(&payload, "reason") == Some("user_close") => set("reason", "exit"),
        "SessionEnd" => set("reason", "other"),
        "StopFailure" if text(&payload, "error_message").is_none() => set("error", "error"),
        _ => None,
    };
    if !told.contains_key("cwd")
        && let Some(folder) = payload["workspace_roots"][0].as_str()
    {
        told.insert("cwd".to_owned(), folder.into());
    }
    if let Some(tool) = text(&payload, "tool_name") {
        let (tool, input) = in_our_words(tool, &payload["tool_input"], WORDS);
        told.insert("tool_name".to_owned(), tool.into());
        told.insert("tool_input".to_owned(), input);
    }
    Some(Value::Object(told).to_string().into_bytes())
}

#[cfg(test)]
mod tests;
