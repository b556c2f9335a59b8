//! Events of a turn whose prompt is private as a whole: which of their fields hold no text.

use serde_json::{Map, Value, json};
use watchbill_core::transcript::record::PromptOrigin;

use super::records::prompt_source::origin_of_text;

/// Fields that tell a state and no text. Fields of events to come count as texts.
const WITHOUT_TEXT: [&str; 18] = [
    "session_id",
    "transcript_path",
    "cwd",
    "permission_mode",
    "prompt_id",
    "agent_id",
    "agent_type",
    "agent_transcript_path",
    "hook_event_name",
    "source",
    "trigger",
    "notification_type",
    "model",
    "tool_name",
    "tool_use_id",
    "is_interrupt",
    "duration_ms",
    "stop_hook_active",
];
/// What an event tells of work in the background, beside texts.
const OF_BACKGROUND: [&str; 3] = ["id", "type", "status"];

/// The name of the event of a prompt, and within how many bytes of a payload it begins.
const PROMPT: &[u8] = b"UserPromptSubmit";
const NAMED_WITHIN: usize = 1024;

/// Whether a payload may be a prompt. The check is cheap.
pub fn may_be_prompt(payload: &[u8]) -> bool {
    payload.windows(PROMPT.len()).take(NAMED_WITHIN).any(|part| part == PROMPT)
}

/// The payload without texts; `None` if it is no object. `name` stands in place of a tool's input: equal inputs get equal names.
pub fn without_texts(payload: &[u8], name: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    let Ok(Value::Object(payload)) = serde_json::from_slice(payload) else { return None };
    let event = payload.get("hook_event_name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut public = Map::new();
    for (field, value) in payload {
        let value = match (&*field, &*event) {
            // The name lies deep, so that no reader takes it for what the call is about.
            // A request repeats the command, and may name a reason.
            ("tool_input", _) => {
                let repeated = value.get("command").unwrap_or(&value);
                json!({ "private": { "id": name(&repeated.to_string()) } })
            }
            ("background_tasks", _) => background(value),
            // The client's own words: what it waits for, why the session or the turn ended.
            ("message", "Notification") | ("reason", "SessionEnd") => value,
            ("error" | "last_assistant_message", "StopFailure") => value,
            // The sender has removed what is private in it. A notice may quote the turn, so only its tag stays.
            ("prompt", "UserPromptSubmit") => match value.as_str().and_then(origin_of_text) {
                Some(PromptOrigin::TaskNotification) => "<task-notification></task-notification>".into(),
                Some(_) => "<teammate-message></teammate-message>".into(),
                None => value,
            },
            (field, _) if WITHOUT_TEXT.contains(&field) => value,
            _ => continue,
        };
        public.insert(field, value);
    }
    Some(Value::Object(public).to_string().into_bytes())
}

fn background(mut tasks: Value) -> Value {
    for task in tasks.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        task.retain(|field, _| OF_BACKGROUND.contains(&field.as_str()));
    }
    tasks
}
