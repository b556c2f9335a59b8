//! Tools and approvals: a session needs the user when it really waits, and only then.

use serde_json::json;

use super::records::{A, answer, bash, call, interrupt, prompt, result, turn_over};
use crate::house::{House, PROJECT, transcript};

#[test]
fn edge_01_a_long_command_is_no_question() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("build it"), bash("t1", "make all")]);
    house.at(1200.0);
    assert_eq!(house.state(A), "working");
    assert_eq!(house.transitions, ["working"], "for twenty minutes there was no alert");
    // From files alone the engine guesses, and marks the guess as inferred.
    let mut house = House::files_alone();
    house.write_all(A, [prompt("build it"), bash("t1", "make all")]).at(6.0);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    assert_eq!(house.row(A).state_reason.confidence, "inferred");
}

#[test]
fn edge_02_an_approval_given_by_rule_leaves_the_session_working() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "ls")]);
    house.at(1.0).registry(7, A, "waiting:permission prompt").at(1.09).registry(7, A, "busy");
    assert_eq!(house.state(A), "working");
    house.write(A, result("t1")).at(60.0);
    assert_eq!(house.state(A), "working");
}

#[test]
fn edge_03_an_approval_is_shown_before_its_call_is_written() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go"));
    house.at(2.0).registry(7, A, "waiting:permission prompt");
    let row = house.row(A);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    assert_eq!((&*row.state_reason.confidence, row.has_pending_tool_use), ("observed", false));
    // The call arrives and names the wait's target.
    house.at(2.2).write(A, bash("t1", "rm -r build"));
    let row = house.row(A);
    assert_eq!(row.pending_tool.map(|tool| tool.target).as_deref(), Some("rm -r build"));
    assert!(row.state_reason.detail.contains("rm -r build"), "{}", row.state_reason.detail);
    // The same before the transcript exists.
    let mut house = House::live();
    house.registry(7, A, "waiting:permission prompt").at(2.0);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
}

#[test]
fn edge_04_an_answer_in_the_terminal_ends_the_wait_at_once() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "make all")]);
    house.at(1.0).registry(7, A, "waiting:permission prompt").at(30.0);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    house.registry(7, A, "busy");
    assert_eq!(house.state(A), "working");
    assert!(house.row(A).has_pending_tool_use, "it runs now");
    // Ten minutes of building without a single record.
    house.at(630.0);
    assert_eq!(house.state(A), "working");
}

#[test]
fn edge_05_a_refusal_ends_the_turn() {
    let mut house = House::live();
    house.registry(7, A, "waiting:permission prompt").write_all(A, [prompt("go"), bash("t1", "ls")]).at(3.0);
    house.registry(7, A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    assert!(!house.row(A).has_pending_tool_use);
    let mut refused = result("t1");
    refused["toolUseResult"] = json!("User rejected tool use");
    house.write_all(A, [refused, interrupt()]);
    assert_eq!(house.state(A), "waiting_for_input/interrupted");
}

#[test]
fn edge_06_the_second_of_parallel_calls_is_asked_for_after_the_first() {
    let mut house = House::live();
    house.registry(7, A, "waiting:permission prompt");
    house.write_all(A, [prompt("go"), bash("t1", "one"), bash("t2", "two")]).at(2.0);
    house.registry(7, A, "busy").at(4.0).write(A, result("t1")).registry(7, A, "waiting:permission prompt");
    let row = house.row(A);
    assert_eq!(house.state(A), "waiting_for_approval/permission");
    assert_eq!(row.pending_tools.iter().map(|tool| &*tool.target).collect::<Vec<_>>(), ["two"]);
}

#[test]
fn edge_07_a_subagents_request_is_shown_for_its_session() {
    let mut house = House::live();
    let mut launched = result("t1");
    launched["toolUseResult"] = json!({"status": "async_launched", "agentId": "a1"});
    house.registry(7, A, "busy");
    house.write_all(A, [prompt("go"), call("t1", "Agent", json!({"description": "look"})), launched]);
    house.write_all(A, [answer("launched"), turn_over()]).at(3.0);
    assert_eq!(house.state(A), "working/background");
    house.registry(7, A, "waiting:permission prompt");
    assert_eq!(house.state(A), "waiting_for_approval/permission", "the parent's end does not clear it");
    assert!(!house.row(A).has_pending_tool_use, "its call is not written yet");
    let mut wants = call("t2", "Write", json!({"file_path": "notes.txt"}));
    (wants["isSidechain"], wants["agentId"]) = (json!(true), json!("a1"));
    let wants = house.line(A, wants);
    house.append_bytes(
        &transcript(PROJECT, A).with_extension("").join("subagents/agent-a1.jsonl"),
        wants.as_bytes(),
    );
    let row = house.row(A);
    assert_eq!(row.pending_tool.map(|tool| tool.target).as_deref(), Some("notes.txt"));
    assert!(row.state_reason.detail.contains("Write: notes.txt"), "{}", row.state_reason.detail);
    house.at(9.0).registry(7, A, "busy");
    assert_eq!(house.state(A), "working/background");
    assert!(!house.row(A).has_pending_tool_use, "what its subagents run is not the session's own");
}

#[test]
fn edge_08_a_subagents_end_does_not_end_its_parents_turn() {
    let mut house = House::live();
    house.registry(7, A, "busy");
    house.write_all(A, [prompt("go"), call("t1", "Agent", json!({"description": "look"}))]);
    let file = transcript(PROJECT, A).with_extension("").join("subagents/agent-a1.jsonl");
    let side = |mut record: serde_json::Value| {
        record["isSidechain"] = json!(true);
        record["agentId"] = json!("a1");
        record
    };
    let begun = house.line(A, side(prompt("look")));
    house.at(1.0).append_bytes(&file, begun.as_bytes());
    assert_eq!(house.row(A).subagents.map(|agents| (agents.running, agents.total)), Some((1, 1)));
    let ended = house.line(A, side(answer("seen")));
    house.at(2.0).append_bytes(&file, ended.as_bytes());
    assert_eq!(house.state(A), "working");
    assert_eq!(house.row(A).subagents.map(|agents| (agents.running, agents.total)), Some((0, 1)));
    assert_eq!(house.engine.current(true).rows.len(), 1, "no session of its own");
}

#[test]
fn edge_09_a_question_is_distinguished_from_a_permission() {
    let mut house = House::live();
    let question = json!({"questions": [{"question": "Which colour?", "options": []}]});
    house.registry(7, A, "waiting:input needed").write(A, prompt("ask me")).at(2.0);
    assert_eq!(house.state(A), "waiting_for_approval/question");
    // Some agents report `permission prompt` for a question too.
    house.registry(7, A, "waiting:permission prompt").write(A, call("t1", "AskUserQuestion", question));
    assert_eq!(house.state(A), "waiting_for_approval/question");
    assert!(house.row(A).state_reason.detail.contains("Which colour?"));
}

#[test]
fn edge_10_a_plan_is_distinguished_from_a_permission() {
    let mut house = House::live();
    house.registry(7, A, "waiting:permission prompt");
    house.write_all(A, [prompt("plan"), call("t1", "ExitPlanMode", json!({"plan": "1. do it"}))]).at(2.0);
    assert_eq!(house.state(A), "waiting_for_approval/plan");
}

#[test]
fn edge_11_a_dialog_without_a_transcript_is_a_row() {
    let mut house = House::live();
    house.at(60.0);
    assert_eq!(house.engine.current(true).rows.len(), 0, "a screen before any file is not to be seen");
    house.registry(7, A, "waiting:dialog open").at(61.5);
    assert_eq!(house.state(A), "waiting_for_input/dialog");
    assert_eq!(house.row(A).cwd.as_deref(), Some(crate::house::CWD));
}

#[test]
fn edge_12_a_long_call_in_a_mode_that_never_asks_is_working() {
    for mode in ["auto", "bypassPermissions", "dontAsk"] {
        let mut house = House::files_alone();
        let mut asked = prompt("go");
        asked["permissionMode"] = json!(mode);
        house.write_all(A, [asked, bash("t1", "make all")]).at(500.0);
        assert_eq!(house.transitions, ["working"], "{mode}");
    }
}
