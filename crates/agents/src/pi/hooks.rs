//! The events of pi's extension. The extension is ours and writes them in the form of Claude Code's, with pi's names of tools.

use serde_json::Value;
use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;

use super::records::WORDS;
use crate::claude::hooks::{Form, read};
use crate::translated::in_our_words;

const FORM: Form = Form { agent: Agent::Pi, ..Form::OF_CLAUDE };

/// Reads one payload.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    // What is too long, or no JSON, is told by the reader.
    let payload = (bytes.len() <= watchbill_core::hook::PAYLOAD_LIMIT).then(|| serde_json::from_slice(bytes));
    let Some(Ok(Value::Object(mut payload))) = payload else { return read(bytes, &FORM) };
    if let Some(tool) = payload.get("tool_name").and_then(Value::as_str) {
        let (tool, input) = in_our_words(tool, payload.get("tool_input").unwrap_or(&Value::Null), WORDS);
        payload.extend([("tool_name".to_owned(), tool.into()), ("tool_input".to_owned(), input)]);
    }
    read(Value::Object(payload).to_string().as_bytes(), &FORM)
}
