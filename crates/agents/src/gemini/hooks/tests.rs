//! Payloads of Gemini CLI 0.61.0.

use serde_json::{Value, json};
use watchbill_core::hook::event::{EndReason, NotificationKind, StartSource};

use super::*;

fn event(name: &str, rest: Value) -> HookPayload {
    let mut payload = json!({
        "session_id": "14c59a54-cb06-4496-a11e-6790cf8c8cbf", "cwd": "/home/dev/work", "hook_event_name": name,
        "transcript_path": "/home/dev/.gemini/tmp/work/chats/session-2026-11-23T16-28-14c59a54.jsonl",
        "timestamp": "2026-11-23T16:28:32.106Z",
    });
    payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    parse_payload(payload.to_string().as_bytes()).unwrap()
}

#[test]
fn each_event_says_what_the_one_of_claude_code_says() {
    let of = |name: &str, rest: Value| event(name, rest).event;
    let started = of("SessionStart", json!({ "source": "clear" }));
    assert_eq!(started, HookEvent::SessionStart { source: StartSource::Clear, model: None, title: None });
    assert_eq!(
        of("SessionEnd", json!({ "reason": "exit" })),
        HookEvent::SessionEnd { reason: EndReason::Exit }
    );
    assert_eq!(
        of("SessionEnd", json!({ "reason": "clear" })),
        HookEvent::SessionEnd { reason: EndReason::Clear }
    );
    let prompt = of("BeforeAgent", json!({ "prompt": "hello" }));
    assert_eq!(prompt, HookEvent::UserPromptSubmit { task_notification: false });
    let over = json!({ "prompt": "hello", "prompt_response": "OK.\nMore.", "stop_hook_active": false });
    assert!(
        matches!(of("AfterAgent", over), HookEvent::Stop { last_message, .. } if &*last_message == "OK.")
    );
    let asked =
        json!({ "notification_type": "ToolPermission", "details": { "type": "exec", "command": "make" } });
    assert_eq!(
        of("Notification", asked),
        HookEvent::Notification { kind: NotificationKind::PermissionPrompt }
    );
}

#[test]
fn events_that_say_nothing_of_the_turn_change_nothing() {
    for (name, rest) in [
        ("PreCompress", json!({ "trigger": "auto" })),
        ("PreCompress", json!({ "trigger": "manual" })),
        ("AfterAgent", json!({ "prompt": "x", "prompt_response": "[no response text]" })),
        ("BeforeModel", json!({})),
    ] {
        assert!(matches!(event(name, rest).event, HookEvent::Other(_)), "{name}");
    }
}

#[test]
fn a_call_has_our_words_and_its_session_the_name_of_its_files() {
    for (tool, input, ours, target) in [
        ("run_shell_command", json!({ "command": "make", "description": "Build" }), "Bash", "make"),
        ("write_file", json!({ "file_path": "n.txt", "content": "hello" }), "Write", "n.txt"),
        ("replace", json!({ "file_path": "a.rs", "old_string": "a" }), "Edit", "a.rs"),
        (
            "ask_user",
            json!({ "questions": [{ "question": "Which colour?" }] }),
            "AskUserQuestion",
            "Which colour?",
        ),
        ("mcp_x_y", json!({ "q": "z" }), "mcp_x_y", "z"),
    ] {
        let begun = event("BeforeTool", json!({ "tool_name": tool, "tool_input": input }));
        let done = event("AfterTool", json!({ "tool_name": tool, "tool_input": input, "tool_response": {} }));
        let (HookEvent::PreToolUse(begun_call), HookEvent::PostToolUse(done_call)) =
            (&begun.event, &done.event)
        else {
            panic!("{tool}")
        };
        assert_eq!((begun_call, &*begun_call.tool, &*begun_call.target), (done_call, ours, target));
        assert_eq!(begun.session.as_str(), "14c59a54");
    }
}
