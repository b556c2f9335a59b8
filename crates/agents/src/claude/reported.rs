//! Records of a transcript from the events that another program reports, so that readers need no other form.

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;

/// The records of an event: a prompt, a call with its result, or an answer. `at`: RFC 3339. An event that is sent again gives records
/// with the same ids.
pub fn records(event: &Value, session: &str, at: &str) -> Vec<Value> {
    let record =
        |role: &str, content: Value| json!({ "type": role, "message": { "role": role, "content": content } });
    let call = &event["tool_use_id"];
    let mut records = match event["hook_event_name"].as_str() {
        Some("UserPromptSubmit") => vec![record("user", event["prompt"].clone())],
        Some("PostToolUse") => {
            let (tool, input) = (&event["tool_name"], &event["tool_input"]);
            let result = match &event["tool_response"] {
                Value::String(text) => text.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            };
            let used = json!([{ "type": "tool_use", "id": call, "name": tool, "input": input }]);
            let gave = json!([{ "type": "tool_result", "tool_use_id": call, "content": result }]);
            vec![record("assistant", used), record("user", gave)]
        }
        Some("Stop") => match event["last_assistant_message"].as_str() {
            Some(text) => {
                let mut said = record("assistant", json!([{ "type": "text", "text": text }]));
                said["message"]["stop_reason"] = "end_turn".into();
                vec![said]
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    };
    // A program may send the same prompt or call again with other fields, and use the id of a call again in another turn.
    let prompt = &event["prompt_id"];
    let id = match event["hook_event_name"].as_str() {
        Some("UserPromptSubmit") if !prompt.is_null() => prompt.to_string(),
        Some("PostToolUse") if !call.is_null() => format!("{prompt} {call}"),
        _ => event.to_string(),
    };
    let event_id = stable_hash(id.as_bytes());
    for (part, record) in records.iter_mut().enumerate() {
        record["uuid"] = format!("http-{event_id:016x}-{part}").into();
        record["timestamp"] = at.into();
        record["sessionId"] = session.into();
        for (to, from) in [("promptId", "prompt_id"), ("cwd", "cwd")] {
            if event[from].is_string() {
                record[to] = event[from].clone();
            }
        }
    }
    records
}
