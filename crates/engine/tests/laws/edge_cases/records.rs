//! Records and hook events of the edge cases, without the fields that all of them share.

use serde_json::{Value, json};

/// The sessions of the tests.
pub const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A hook event without a call.
pub fn event(name: &str) -> Value {
    json!({"hook_event_name": name})
}

/// A hook event about a call.
pub fn tool_event(name: &str, tool: &str, input: Value, id: &str) -> Value {
    json!({"hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": id})
}

pub fn prompt(text: &str) -> Value {
    json!({"type": "user", "promptSource": "typed", "origin": {"kind": "human"}, "permissionMode": "default",
        "message": {"role": "user", "content": text}})
}

fn assistant(block: Value, stop: &str, id: &str) -> Value {
    json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
        "id": format!("msg_{id}"), "role": "assistant", "model": "claude-x", "content": [block], "stop_reason": stop,
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0}}})
}

pub fn call(id: &str, tool: &str, input: Value) -> Value {
    assistant(json!({"type": "tool_use", "id": id, "name": tool, "input": input}), "tool_use", id)
}

pub fn bash(id: &str, command: &str) -> Value {
    call(id, "Bash", json!({"command": command}))
}

pub fn result(id: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false}]}})
}

pub fn answer(text: &str) -> Value {
    assistant(json!({"type": "text", "text": text}), "end_turn", text)
}

pub fn turn_over() -> Value {
    json!({"type": "system", "subtype": "turn_duration", "durationMs": 1000})
}

pub fn interrupt() -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "text", "text": "[Request interrupted by user for tool use]"}]}})
}

/// A record without a time; the agent writes its modes and titles so.
pub fn timeless(mut record: Value) -> Value {
    record["timestamp"] = Value::Null;
    record["uuid"] = Value::Null;
    record
}
