//! Hooks of agents with a form of their own: their payloads in, and the same rows and recoveries out as of Claude Code's.

use serde_json::{Value, json};
use watchbill_agents::cursor::hooks::translate;
use watchbill_core::history::{Activity, BatchStatus, RecoverySettings, SessionView, recover};
use watchbill_core::ids::Agent;
use watchbill_core::time::Timestamp;

use crate::model::{Model, Reader};

const START: i64 = 1_795_186_800_000;
const CWD: &str = "/home/dev/work";
const PLAN: &str = "/home/dev/work/.cursor/plans/a.md";
const EMAIL: &str = "someone@example.org";
const SESSION: &str = "14c59a54";

/// An event as Claude Code, Cursor and Gemini CLI tell it, some seconds after the start. `None`: the agent does not tell it.
type Event = (i64, Value, Option<Value>, Option<Value>);

fn event(at: i64, ours: Value, cursors: Value, geminis: Value) -> Event {
    let told = |event: Value| (!event.is_null()).then_some(event);
    (at, ours, told(cursors), told(geminis))
}

fn prompt(at: i64, text: &str) -> Event {
    event(
        at,
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": text }),
        json!({ "hook_event_name": "beforeSubmitPrompt", "prompt": text, "attachments": [] }),
        json!({ "hook_event_name": "BeforeAgent", "prompt": text }),
    )
}

fn events() -> Vec<Event> {
    let plan = json!({ "file_path": PLAN, "content": "# The plan\n\n1. Do it." });
    let cursors = json!({ "path": PLAN, "contents": "# The plan\n\n1. Do it." });
    vec![
        event(
            0,
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
            json!({ "hook_event_name": "sessionStart", "session_id": SESSION }),
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
        ),
        prompt(1, "plan it <private>s3cret</private>"),
        event(
            2,
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": plan }),
            json!({ "hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": cursors, "tool_use_id": "t" }),
            json!({ "hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": plan }),
        ),
        event(
            3,
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": plan, "tool_response": "done" }),
            json!({
                "hook_event_name": "postToolUse", "tool_name": "Write", "tool_input": cursors, "tool_output": "done", "tool_use_id": "t",
            }),
            json!({ "hook_event_name": "AfterTool", "tool_name": "write_file", "tool_input": plan, "tool_response": "done" }),
        ),
        event(
            4,
            json!({
                "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": { "command": "false" }, "error": "bad",
            }),
            json!({
                "hook_event_name": "postToolUseFailure", "tool_name": "Shell", "tool_input": { "command": "false" },
                "error_message": "bad", "failure_type": "error", "tool_use_id": "u",
            }),
            Value::Null,
        ),
        event(
            5,
            json!({ "hook_event_name": "Stop" }),
            json!({ "hook_event_name": "stop", "status": "completed", "loop_count": 0 }),
            json!({ "hook_event_name": "AfterAgent", "prompt": "plan it", "stop_hook_active": false }),
        ),
        prompt(61, &format!("carry out {PLAN}")),
        event(
            62,
            json!({ "hook_event_name": "StopFailure", "error": "error" }),
            json!({ "hook_event_name": "stop", "status": "error" }),
            // Its answer is that of a turn that was stopped. The chat says which.
            Value::Null,
        ),
        prompt(121, "and on"),
        event(
            122,
            json!({ "hook_event_name": "SessionEnd", "reason": "prompt_input_exit" }),
            json!({ "hook_event_name": "sessionEnd", "reason": "user_close", "duration_ms": 122_000 }),
            json!({ "hook_event_name": "SessionEnd", "reason": "exit" }),
        ),
    ]
}

/// What the hook's sender passes on of an agent's event.
fn payload(agent: Agent, (_, ours, cursors, geminis): &Event) -> Option<String> {
    let mut event = match agent {
        Agent::Cursor => cursors.clone()?,
        Agent::Gemini => geminis.clone()?,
        _ => ours.clone(),
    };
    match agent {
        Agent::Cursor => {
            let of_all = json!({ "conversation_id": SESSION, "generation_id": "g", "workspace_roots": [CWD], "user_email": EMAIL });
            event.as_object_mut().expect("one").extend(of_all.as_object().expect("one").clone());
            let told = translate(event.to_string().as_bytes()).expect("an event");
            return Some(String::from_utf8(told).expect("a text"));
        }
        Agent::Gemini => event["session_id"] = "14c59a54-cb06-4496-a11e-6790cf8c8cbf".into(),
        _ => event["session_id"] = SESSION.into(),
    }
    event["cwd"] = CWD.into();
    Some(event.to_string())
}

/// The rows of events, and the corrections of a recovery a year later. An agent is compared with Claude Code by what it tells.
fn rows(agent: Agent, events: &[Event]) -> (Model, String) {
    let mut reader = Reader::new(SESSION, None);
    for event in events {
        let Some(payload) = payload(agent, event) else { continue };
        reader.hook_of(agent, &format!("event-{}", event.0), START + event.0 * 1_000, &payload);
    }
    let batches: Vec<_> = reader.model.batches.values().cloned().collect();
    let view = SessionView {
        id: SESSION.into(),
        open: true,
        last_activity_at: batches.iter().filter_map(|batch| batch.last_activity_at).max(),
        batches,
        // Hooks tell a call with its turn. One without a turn comes of a record that was torn off.
        orphans: vec![Activity { at: Some(Timestamp::from_millis(START)), ..Activity::new("torn".into()) }],
        ..SessionView::default()
    };
    let later = Timestamp::from_millis(START + 365 * 86_400_000);
    let corrections = recover(&[view], RecoverySettings::default(), later).corrections;
    (reader.model, format!("{corrections:?}"))
}

#[test]
fn the_same_batches_plans_and_recoveries_as_of_claude_code() {
    for agent in [Agent::Cursor, Agent::Gemini] {
        let told: Vec<_> = events().into_iter().filter(|event| payload(agent, event).is_some()).collect();
        let (ours, recovered) = rows(Agent::Claude, &told);
        let (theirs, recovered_there) = rows(agent, &told);
        assert_eq!(theirs, ours, "{agent:?}");
        assert_eq!(recovered_there, recovered, "{agent:?}");
        for kind in ["StuckBatch", "StaleSession", "OrphanedActivity"] {
            assert!(recovered.contains(kind), "{agent:?} {recovered}");
        }
        let status = |prompt: &str| theirs.batch(prompt).ended.as_ref().map(|ended| ended.status);
        assert_eq!(status("plan it"), Some(BatchStatus::Completed), "{agent:?}");
        let failed = if agent == Agent::Cursor { BatchStatus::Failed } else { BatchStatus::Active };
        assert_eq!(status("carry out"), Some(failed), "{agent:?}");
        assert_eq!(status("and on"), Some(BatchStatus::Active), "{agent:?}");
        assert_eq!(theirs.plans.len(), 1, "the plan that was written: {agent:?}");
        assert!(format!("{:?}", theirs.plans[0].given).contains("Do it."), "{agent:?}");
        assert_eq!(theirs.executions.len(), 1, "the plan that was carried out: {agent:?}");
        assert_eq!(theirs.executions[0].plan.as_deref(), Some(PLAN), "{agent:?}");
        let all = format!("{theirs:?}");
        assert!(!all.contains(EMAIL) && !all.contains("s3cret"), "{agent:?}");
    }
}
