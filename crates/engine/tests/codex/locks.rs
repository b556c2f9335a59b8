//! Locks of sessions, and the words of the server about them.

use serde_json::json;
use watchbill_core::problem::ProblemKind;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{FileId, Fs as _};
use watchbill_watch::process::LockHolder;

use crate::house::{House, ROOT};

pub const A: &str = "01a20937-488c-7352-acba-3ecab2dab42e";
pub const B: &str = "01a20943-f42c-7723-b077-0f38ed1c9766";
pub const SERVER: u32 = 70;

pub fn house() -> House {
    House::new(Timestamp::parse("2026-11-20T12:00:00.000Z").unwrap(), true)
}

pub fn rollout(session: &str) -> String {
    format!("{ROOT}/sessions/2026/11/20/rollout-2026-11-20T12-00-00-{session}.jsonl")
}

/// Appends records of these payloads, and tells the engine.
pub fn append(house: &mut House, session: &str, records: &[(&str, serde_json::Value)]) {
    let path = rollout(session);
    for (kind, payload) in records {
        let line = json!({"timestamp": house.now.to_string(), "type": kind, "payload": payload});
        house.fs.append(&path, format!("{line}\n").as_bytes());
    }
    house.tell();
}

/// A session with an open call.
fn begin(house: &mut House, session: &str) {
    let meta =
        json!({"id": session, "session_id": session, "cwd": "/home/dev/work", "cli_version": "0.169.0"});
    let call =
        json!({"type": "function_call", "call_id": session, "name": "exec_command", "arguments": "{}"});
    let started = json!({"type": "task_started", "turn_id": "t"});
    append(house, session, &[("session_meta", meta), ("event_msg", started), ("response_item", call)]);
}

pub fn lock(house: &mut House, session: &str) {
    house.fs.write(House::lock_path(session), b"");
    house.lock(session, Some(SERVER), false);
    house.tell();
}

#[test]
fn a_file_that_is_locked_a_moment_later_names_its_process_all_the_same() {
    let mut house = house();
    house.fs.write(House::lock_path(A), b"");
    house.tell();
    house.lock(A, Some(SERVER), false);
    house.wait(1);
    begin(&mut house, A);
    house.wait(3);
    assert_eq!(house.state(A), "working");
    assert!(house.row(A).unwrap().live);
    assert_eq!(house.engine.next_deadline().map(|at| at > house.now + Millis(500)), Some(true));
}

#[test]
fn a_lock_without_a_rollout_shows_no_session() {
    let mut house = house();
    lock(&mut house, A);
    house.push(A, "idle");
    house.wait(5);
    assert_eq!(house.state(A), "-");
}

#[test]
fn a_session_whose_lock_stayed_without_its_process_has_ended() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    house.kill(SERVER, &[A]);
    assert_eq!(house.state(A), "ended/crashed");
    // A program that begins to look now knows no process.
    house.restart();
    house.wait(3);
    assert_eq!(house.state(A), "ended?");
    // The resumed session locks the same file, which no event reports. The word of the server is a sign of life.
    house.wait(60);
    house.lock(A, Some(71), false);
    house.push(A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    // So is a record.
    house.kill(71, &[A]);
    house.server_gone();
    assert_eq!(house.state(A), "ended/crashed");
    house.wait(60);
    house.lock(A, Some(72), true);
    append(&mut house, A, &[("event_msg", json!({"type": "task_started", "turn_id": "u"}))]);
    assert_eq!(house.state(A), "working");
}

#[test]
fn a_hook_is_a_sign_of_life_of_a_session_whose_lock_was_free() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    house.kill(SERVER, &[A]);
    house.wait(60);
    house.lock(A, Some(71), true);
    house.hook(A, "UserPromptSubmit", &[("prompt", "go on")]);
    house.wait(3);
    assert_eq!((house.state(A).as_str(), house.row(A).unwrap().pid), ("working", Some(71)));
}

#[test]
fn a_session_whose_lock_is_hidden_has_not_ended() {
    for (holder, state) in
        [(LockHolder::Free, "ended?"), (LockHolder::Unknown, "waiting_for_approval/permission")]
    {
        let mut house = house();
        house.fs.write(House::lock_path(A), b"");
        let file = house.fs.stat(&House::lock_path(A)).unwrap().id;
        for id in [FileId::default(), file] {
            house.processes.set_lock(id, holder.clone());
        }
        house.restart();
        begin(&mut house, A);
        let input = [("tool_name", "Bash"), ("tool_input", r#"{"command": "ls"}"#)];
        house.hook(A, "PreToolUse", &input);
        house.hook(A, "PermissionRequest", &input);
        house.wait(10);
        assert_eq!(house.state(A), state, "{holder:?}");
    }
}

#[test]
fn a_process_that_lets_a_session_go_may_run_others() {
    let mut house = house();
    for session in [A, B] {
        lock(&mut house, session);
        begin(&mut house, session);
        house.push(session, "");
    }
    house.push(A, "notLoaded");
    house.lock(A, None, false);
    house.fs.remove(House::lock_path(A));
    house.tell();
    house.wait(3);
    assert_eq!((house.state(A), house.state(B)), ("ended".into(), "working".into()));
    assert!(house.row(A).unwrap().state_reason.detail.contains("process 70 no longer runs the session"));
}

#[test]
fn a_session_that_its_server_loads_again_has_not_ended() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    append(&mut house, A, &[("event_msg", json!({"type": "task_complete", "turn_id": "t"}))]);
    house.push(A, "idle");
    house.wait(5);
    // `codex resume`: the hook is that of unloading it.
    house.hook(A, "SessionEnd", &[("reason", "other")]);
    house.push(A, "notLoaded");
    house.fs.remove(House::lock_path(A));
    house.tell();
    assert_eq!(house.state(A), "ended");
    lock(&mut house, A);
    house.push(A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    house.wait(10);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn the_servers_word_is_as_new_as_its_message_beside_hooks() {
    let mut house = house();
    lock(&mut house, A);
    house.wait(5);
    begin(&mut house, A);
    house.push(A, "");
    house.hook(A, "UserPromptSubmit", &[("prompt", "p")]);
    house.hook(A, "PreToolUse", &[("tool_name", "Bash"), ("tool_input", r#"{"command": "c"}"#)]);
    house.wait(1);
    house.push(A, "waitingOnApproval");
    house.wait(3);
    // The hook of the interruption is lost.
    append(
        &mut house,
        A,
        &[("event_msg", json!({"type": "turn_aborted", "turn_id": "t", "reason": "interrupted"}))],
    );
    house.push(A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/interrupted");
    house.wait(1);
    house.hook(A, "Stop", &[]);
    house.wait(1);
    house.push(A, "");
    assert_eq!(house.state(A), "working");
    house.push(A, "waitingOnUserInput");
    assert_eq!(house.state(A), "waiting_for_approval/question");
}

#[test]
fn a_child_counts_only_if_it_can_be_no_other_sessions() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    house.wait(1);
    house.tool(90, Some(SERVER));
    house.wait(6);
    assert_eq!(house.state(A), "working?", "the call has a child");
    let mut house = self::house();
    for session in [A, B] {
        lock(&mut house, session);
        begin(&mut house, session);
    }
    house.wait(1);
    house.tool(90, Some(SERVER));
    house.wait(6);
    assert_eq!(house.state(A), "waiting_for_approval/permission?");
    house.push(A, "");
    assert_eq!(house.state(A), "working");
}

#[test]
fn the_servers_words_count_while_it_answers() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    for (word, state) in [
        ("waitingOnApproval", "waiting_for_approval/permission"),
        ("systemError", "working"),
        ("waitingOnUserInput", "waiting_for_approval/question"),
        ("", "working"),
        ("idle", "waiting_for_input/turn_ended"),
        ("waitingOnApproval", "waiting_for_approval/permission"),
    ] {
        house.push(A, word);
        house.wait(1);
        assert_eq!(house.state(A), state, "{word}");
    }
    // An answer does not replace the news that came before it.
    house.push(A, "waitingOnApproval");
    let thread = json!({"id": A, "status": {"type": "idle"}, "updatedAt": house.now.as_millis() / 1000});
    let answer = json!({"id": 3, "result": {"thread": thread}}).to_string();
    house.server(&answer);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    house.server_gone();
    house.wait(10);
    assert_eq!(house.state(A), "waiting_for_approval/permission?");
    house.server(&answer);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    house.server("no JSON");
    let problems = house.engine.current(true).problems;
    assert!(
        problems.iter().any(|problem| problem.kind == ProblemKind::MalformedRegistry.as_str()),
        "{problems:?}"
    );
}

#[test]
fn a_long_idle_session_is_idle_when_the_server_is_asked_first() {
    let mut house = house();
    lock(&mut house, A);
    begin(&mut house, A);
    append(&mut house, A, &[("event_msg", json!({"type": "task_complete", "turn_id": "t"}))]);
    let ended = house.now;
    house.wait(3600);
    house.restart();
    let thread = json!({"id": A, "status": {"type": "idle"}, "updatedAt": ended.as_millis() / 1000});
    house.server(&json!({"id": 3, "result": {"thread": thread}}).to_string());
    let row = house.row(A).unwrap();
    assert_eq!((row.state.as_str(), row.live), ("idle", true));
    assert!(row.state_since < house.now - Millis::from_secs(1800));
}

#[test]
fn writing_to_a_command_that_was_permitted_asks_nothing() {
    for hooks in [false, true] {
        let mut house = house();
        lock(&mut house, A);
        begin(&mut house, A);
        let input = [("tool_name", "Bash"), ("tool_input", r#"{"command": "ssh host"}"#)];
        let call = |id: &str, name: &str, input: serde_json::Value| {
            let call =
                json!({"type": "function_call", "call_id": id, "name": name, "arguments": input.to_string()});
            ("response_item", call)
        };
        let output = |id: &str, text: &str| {
            ("response_item", json!({"type": "function_call_output", "call_id": id, "output": text}))
        };
        let asks = json!({"cmd": "ssh host", "sandbox_permissions": "require_escalated"});
        append(&mut house, A, &[output(A, ""), call("c", "exec_command", asks)]);
        if hooks {
            house.hook(A, "PreToolUse", &input);
            house.hook(A, "PermissionRequest", &input);
        }
        house.wait(6);
        assert!(house.state(A).starts_with("waiting_for_approval/permission"), "{hooks}");
        let runs = "Process running with session ID 7\nOutput:\n";
        let write = json!({"session_id": 7, "chars": "rm -r x\n"});
        append(&mut house, A, &[output("c", runs), call("d", "write_stdin", write)]);
        house.wait(60);
        assert_eq!(house.state(A), "working", "{hooks}");
    }
}
