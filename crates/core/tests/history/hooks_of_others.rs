//! Hooks of an agent with a form of its own: its payloads in, and the same rows and recoveries out as of Claude Code's.

use serde_json::{Value, json};
use watchbill_agents::cursor::hooks::translate;
use watchbill_core::history::{BatchStatus, RecoverySettings, SessionView, recover};
use watchbill_core::time::Timestamp;

use crate::model::{Model, Reader};

const START: i64 = 1_795_186_800_000;
const CWD: &str = "/home/dev/work";
const PLAN: &str = "/home/dev/work/.cursor/plans/a.md";
const EMAIL: &str = "someone@example.org";

/// The same event in both forms.
type Pair = (Value, Value);

fn pair(ours: &str, theirs: &str, more: &Value, of_theirs: &Value) -> Pair {
    let mut claudes = json!({ "session_id": "s", "cwd": CWD, "hook_event_name": ours });
    let mut cursors = json!({
        "conversation_id": "s", "generation_id": "g", "workspace_roots": [CWD], "user_email": EMAIL, "hook_event_name": theirs,
    });
    claudes.as_object_mut().expect("one").extend(more.as_object().expect("one").clone());
    cursors.as_object_mut().expect("one").extend(of_theirs.as_object().expect("one").clone());
    (claudes, cursors)
}

fn pairs() -> Vec<(i64, Pair)> {
    let prompt = |text: &str| json!({ "prompt": text });
    let wrote = json!({
        "tool_name": "Write", "tool_input": { "file_path": PLAN, "content": "# The plan\n\n1. Do it." }, "tool_response": "done",
    });
    let wrote_there = json!({
        "tool_name": "Write", "tool_input": { "path": PLAN, "contents": "# The plan\n\n1. Do it." }, "tool_output": "done",
        "tool_use_id": "t",
    });
    let start = json!({ "source": "startup" });
    vec![
        (0, pair("SessionStart", "sessionStart", &start, &json!({ "session_id": "s" }))),
        (1, pair("UserPromptSubmit", "beforeSubmitPrompt", &prompt("plan it"), &prompt("plan it"))),
        (2, pair("PostToolUse", "postToolUse", &wrote, &wrote_there)),
        (3, pair("Stop", "stop", &json!({}), &json!({ "status": "completed", "loop_count": 0 }))),
        (61, pair("UserPromptSubmit", "beforeSubmitPrompt", &prompt("now do it"), &prompt("now do it"))),
        (62, pair("StopFailure", "stop", &json!({ "error": "error" }), &json!({ "status": "error" }))),
        (121, pair("UserPromptSubmit", "beforeSubmitPrompt", &prompt("and on"), &prompt("and on"))),
    ]
}

/// The rows of all events, and those of a recovery a year later.
fn rows(payload_of: impl Fn(&Pair) -> String) -> (Model, String) {
    let mut reader = Reader::new("s", None);
    for (n, (at, pair)) in pairs().iter().enumerate() {
        reader.hook(&format!("event-{n}"), START + at * 1_000, &payload_of(pair));
    }
    let batches = reader.model.batches.values().cloned().collect();
    let view = SessionView { id: "s".into(), open: true, batches, ..SessionView::default() };
    let later = Timestamp::from_millis(START + 365 * 86_400_000);
    let recovery = recover(&[view], RecoverySettings::default(), later);
    (reader.model, format!("{:?}", recovery.corrections))
}

#[test]
fn the_same_batches_plans_and_recoveries_as_of_claude_code() {
    let translated = |pair: &Pair| {
        let told = translate(pair.1.to_string().as_bytes()).expect("an event");
        String::from_utf8(told).expect("a text")
    };
    let (ours, recovered) = rows(|pair| pair.0.to_string());
    let (theirs, recovered_there) = rows(translated);
    assert_eq!(theirs, ours);
    assert_eq!(recovered_there, recovered);
    let status = |prompt: &str| ours.batch(prompt).ended.as_ref().map(|ended| ended.status);
    assert_eq!(status("plan it"), Some(BatchStatus::Completed));
    assert_eq!(status("now do it"), Some(BatchStatus::Failed));
    assert_eq!(status("and on"), Some(BatchStatus::Active));
    assert_eq!(theirs.plans.len(), 1, "the plan that was written");
    assert!(theirs.plans[0].given.as_ref().is_some_and(|plan| format!("{plan:?}").contains("Do it.")));
    assert!(recovered.contains("StuckBatch") && recovered.matches("batch").count() > 0, "{recovered}");
    assert!(!format!("{theirs:?}").contains(EMAIL));
}
