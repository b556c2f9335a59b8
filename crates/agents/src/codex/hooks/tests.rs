//! Payloads of Codex CLI 0.169.0.

use serde_json::{Value, json};
use watchbill_core::hook::event::StartSource;
use watchbill_core::hook::{HookEvent, HookToolCall};

use super::*;

const ROOT: &str = "01a2093d-a400-7070-84fc-8079367d656e";
const CHILD: &str = "01a2093d-ada0-7cf1-afca-3470832a898d";

fn path(thread: &str) -> String {
    format!("/home/dev/.codex/sessions/2026/11/23/rollout-2026-11-23T16-29-24-{thread}.jsonl")
}

fn event(name: &str, rest: Value) -> HookPayload {
    let mut payload = json!({
        "session_id": ROOT, "turn_id": "t", "transcript_path": path(ROOT), "cwd": "/home/dev/work", "hook_event_name": name,
        "model": "gpt-5.5-codex", "permission_mode": "default",
    });
    payload.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    parse_payload(payload.to_string().as_bytes()).unwrap()
}

fn call(name: &str, rest: Value) -> HookToolCall {
    event(name, rest).event.call().unwrap().clone()
}

#[test]
fn a_request_has_the_call_that_it_is_about_though_it_names_the_reason_too() {
    let command = json!({"command": "touch /etc/x; echo done"});
    let begun = call("PreToolUse", json!({"tool_name": "Bash", "tool_input": command, "tool_use_id": "c1"}));
    let asked =
        json!({"command": "touch /etc/x; echo done", "description": "May I write outside the folder?"});
    let asked = call("PermissionRequest", json!({"tool_name": "Bash", "tool_input": asked}));
    assert_eq!((begun.id.as_deref(), asked.id.as_deref()), (Some("c1"), None));
    assert_eq!((&asked.tool, &asked.target, asked.input), (&begun.tool, &begun.target, begun.input));
    let other = json!({"command": "touch /etc/y", "description": "May I write outside the folder?"});
    assert_ne!(
        call("PermissionRequest", json!({"tool_name": "Bash", "tool_input": other})).input,
        begun.input
    );
    let tools = json!({"tool_name": "mcp__x__y", "tool_input": {"a": 1}});
    let others = json!({"tool_name": "mcp__x__y", "tool_input": {"a": 2}});
    assert_ne!(call("PreToolUse", tools).input, call("PreToolUse", others).input);
}

#[test]
fn tools_have_the_names_and_targets_of_the_rollout() {
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch";
    for (tool, input, name, target) in [
        ("apply_patch", json!({"command": patch}), "apply_patch", "new.txt"),
        ("collaborationspawn_agent", json!({"message": "m", "task_name": "helper"}), "spawn_agent", "helper"),
        ("Bash", json!({"command": "ls -l"}), "Bash", "ls -l"),
        (
            "request_user_input",
            json!({"questions": [{"question": "Which?"}]}),
            "request_user_input",
            "Which?",
        ),
    ] {
        let call = call("PreToolUse", json!({"tool_name": tool, "tool_input": input}));
        assert_eq!((&*call.tool, &*call.target), (name, target));
    }
}

#[test]
fn events_that_claude_code_lacks_or_means_otherwise() {
    assert_eq!(event("Interrupt", json!({})).event, HookEvent::Interrupted);
    for source in ["startup", "resume", "fork", "compact"] {
        let HookEvent::SessionStart { source, .. } = event("SessionStart", json!({"source": source})).event
        else {
            panic!("it is one")
        };
        assert_eq!(source, StartSource::Unknown);
    }
    let prompt = event("UserPromptSubmit", json!({"prompt": "hello"}));
    assert_eq!(prompt.prompt_id, None, "a rollout names no prompts");
}

#[test]
fn an_event_of_a_subagent_is_told_by_its_own_rollout() {
    let started = event(
        "SubagentStart",
        json!({"transcript_path": path(CHILD), "agent_id": CHILD, "agent_type": "default"}),
    );
    assert_eq!((started.session.as_str(), started.agent_id.as_deref()), (ROOT, Some(CHILD)));
    assert_eq!(started.transcript_path, None, "it is not the session's");
    let call = event(
        "PreToolUse",
        json!({"transcript_path": path(CHILD), "tool_name": "Bash", "tool_input": {"command": "ls"}}),
    );
    assert_eq!(call.agent_id.as_deref(), Some(CHILD));
    let own = event("Stop", json!({}));
    assert_eq!((own.agent_id, own.transcript_path), (None, Some(path(ROOT).into())));
}

#[test]
fn payloads_of_other_agents_are_none_of_codex_and_the_reverse() {
    let of = |path: &str| {
        json!({"session_id": "s", "hook_event_name": "Stop", "transcript_path": path})
            .to_string()
            .into_bytes()
    };
    let claudes = of("/home/dev/.claude/projects/-home-dev/0f000000-0000-4000-8000-000000000000.jsonl");
    let own = of(&path(ROOT));
    let copilots = of("/home/dev/.copilot/session-state/d2b248d5/events.jsonl");
    let codex = |bytes: &[u8]| crate::hooks::parse(Agent::Codex, bytes);
    let claude = |bytes: &[u8]| crate::hooks::parse(Agent::Claude, bytes);
    assert_eq!(codex(&claudes), Err(HookError::Foreign));
    assert_eq!(claude(&own), Err(HookError::Foreign));
    assert_eq!((codex(&copilots), claude(&copilots)), (Err(HookError::Foreign), Err(HookError::Foreign)));
    assert!(codex(&own).is_ok() && claude(&claudes).is_ok());
    // What `notify` says has no session: it also tells of the hidden thread that invents the title.
    let notify =
        br#"{"type":"agent-turn-complete","thread-id":"t","input-messages":["Generate a concise title"]}"#;
    assert_eq!(codex(notify), Err(HookError::NotAnEvent("Codex")));
}
