//! Lines that are written to the agent.
//!
//! Source: the two-way `stream-json` talk of client 2.1.329.

use serde_json::{Value, json};
use watchbill_protocol::own::command::OwnImage;

/// A prompt. The agent keeps `id` as the uuid of the transcript's record.
pub(super) fn prompt(id: &str, text: &str, images: &[OwnImage]) -> String {
    let image = |image: &OwnImage| {
        let source = json!({ "type": "base64", "media_type": image.media, "data": image.data });
        json!({ "type": "image", "source": source })
    };
    let mut content: Vec<Value> = images.iter().map(image).collect();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    json!({
        "type": "user",
        "uuid": id,
        "message": { "role": "user", "content": content },
        "parent_tool_use_id": null,
        "session_id": "",
    })
    .to_string()
}

/// A call of ours.
pub(super) fn call(id: &str, request: &Value) -> String {
    json!({ "type": "control_request", "request_id": id, "request": request }).to_string()
}

/// The answer to a call of the agent.
pub(super) fn answer(id: &str, response: &Value) -> String {
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    json!({ "type": "control_response", "response": response }).to_string()
}

/// The reply to a call that this program does not know. It is never answered with success.
pub(super) fn unknown_call(id: &str, subtype: &str) -> String {
    let error = format!("Unsupported control request subtype: {subtype}");
    let response = json!({ "subtype": "error", "request_id": id, "error": error });
    json!({ "type": "control_response", "response": response }).to_string()
}
