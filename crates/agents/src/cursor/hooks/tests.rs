//! Payloads as Cursor's documents of 2026 describe them.

use serde_json::json;
use watchbill_core::hook::event::{EndReason, HookEvent, StartSource};

use super::*;

const EMAIL: &str = "someone@example.org";

fn payload(name: &str, rest: &Value) -> Value {
    let mut payload = json!({
        "conversation_id": "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc", "generation_id": "g", "model": "m", "hook_event_name": name,
        "cursor_version": "2026.11.1", "workspace_roots": ["/home/dev/work"], "user_email": EMAIL, "transcript_path": null,
    });
    payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    payload
}

fn event(name: &str, rest: &Value) -> HookPayload {
    parse_payload(&translate(payload(name, rest).to_string().as_bytes()).unwrap()).unwrap()
}

#[test]
fn each_event_says_what_the_one_of_claude_code_says() {
    let started = event("sessionStart", &json!({ "session_id": "x", "is_background_agent": false }));
    assert_eq!(started.session.as_str(), "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc");
    assert_eq!(started.cwd.as_deref(), Some("/home/dev/work"));
    let model = Some("m".into());
    assert_eq!(started.event, HookEvent::SessionStart { source: StartSource::Startup, model, title: None });
    let of = |name: &str, rest: Value| event(name, &rest).event;
    for (reason, ours) in [("user_close", EndReason::Exit), ("completed", EndReason::Other)] {
        assert_eq!(of("sessionEnd", json!({ "reason": reason })), HookEvent::SessionEnd { reason: ours });
    }
    let prompt = of("beforeSubmitPrompt", json!({ "prompt": "go", "attachments": [] }));
    assert_eq!(prompt, HookEvent::UserPromptSubmit { task_notification: false });
    let call =
        json!({ "tool_name": "Shell", "tool_input": { "command": "make" }, "tool_use_id": "t", "cwd": "/x" });
    let HookEvent::PreToolUse(ours) = of("preToolUse", call.clone()) else { panic!() };
    assert_eq!((&*ours.tool, &*ours.target, ours.id.as_deref()), ("Bash", "make", None));
    assert_eq!(event("preToolUse", &call).cwd.as_deref(), Some("/x"));
    let mut failed = call;
    failed["is_interrupt"] = true.into();
    let failed = of("postToolUseFailure", failed);
    assert!(matches!(failed, HookEvent::PostToolUseFailure { interrupted: true, .. }));
    assert!(matches!(of("stop", json!({ "status": "completed", "loop_count": 0 })), HookEvent::Stop { .. }));
    assert_eq!(of("stop", json!({ "status": "aborted" })), HookEvent::Interrupted);
    assert!(matches!(of("stop", json!({ "status": "error" })), HookEvent::StopFailure { .. }));
}

#[test]
fn what_runs_before_cursors_own_rules_is_no_request() {
    for name in ["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preCompact", "later"] {
        let told = translate(payload(name, &json!({ "command": "rm -rf /" })).to_string().as_bytes());
        assert_eq!(told, None, "{name}");
    }
    for broken in ["", "[]", "{", "{}", "{\"hook_event_name\":\"stop\"}", "\u{0}"] {
        assert_eq!(translate(broken.as_bytes()), None, "{broken}");
    }
}

#[test]
fn the_address_of_the_account_is_left_out() {
    let names = ["sessionStart", "sessionEnd", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop"];
    for name in names.into_iter().chain(["postToolUseFailure"]) {
        let rest = json!({ "tool_name": "Shell", "tool_input": {}, "later": { "user_email": EMAIL } });
        let told = translate(payload(name, &rest).to_string().as_bytes()).unwrap();
        assert!(!String::from_utf8(told).unwrap().contains(EMAIL), "{name}");
    }
}

#[test]
fn calls_have_our_words() {
    let call =
        json!({ "tool_name": "Write", "tool_input": { "path": "/a", "contents": "x" }, "tool_output": "{}" });
    let told: Value =
        serde_json::from_slice(&translate(payload("postToolUse", &call).to_string().as_bytes()).unwrap())
            .unwrap();
    assert_eq!(told["tool_input"], json!({ "file_path": "/a", "content": "x" }));
    assert_eq!((&told["tool_response"], &told["hook_event_name"]), (&json!("{}"), &json!("PostToolUse")));
}
