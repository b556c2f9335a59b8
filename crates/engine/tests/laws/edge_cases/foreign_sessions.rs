//! Sessions that other tools start, and transcripts of another agent.

use serde_json::json;

use watchbill_protocol::roster::Group;

use super::records::{A, B, answer, bash, call, prompt, turn_over};
use crate::house::{House, PROJECT, transcript};

/// Watchbill starts no sessions of its own. Other tools start sessions for summaries. Those end by themselves, need
/// nothing of the user, and change nothing in the session beside which they run.
#[test]
fn edge_49_a_helper_session_has_no_need_and_changes_no_other_session() {
    let mut house = House::live();
    let helper = |mut record: serde_json::Value| {
        record["entrypoint"] = json!("sdk-cli");
        record
    };
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "make all")]).at(2.0);
    let before = house.row(A);
    house.out.clear();
    // In the same folder, while the other session works.
    house.registry(9, B, "busy").write(B, helper(prompt("Summarize the following session: …")));
    house.at(3.0).write(B, helper(answer("A summary."))).write(B, helper(turn_over())).end_process_cleanly(9);
    house.at(30.0);
    let (own, helper) = (house.row(A), house.row(B));
    assert_eq!((own.state.as_str(), own.work_chain_id), ("working", before.work_chain_id.clone()));
    assert_eq!((own.goal, own.title, own.superseded), (before.goal, before.title, None));
    assert_eq!((helper.state.as_str(), helper.needs), ("ended", None));
    assert_ne!(helper.work_chain_id, before.work_chain_id, "it is no part of that work");
    let raised = |outcome: &&watchbill_core::attention::AttentionEvent| {
        matches!(outcome, watchbill_core::attention::AttentionEvent::Raised { .. })
    };
    assert_eq!(house.outcomes().iter().find(raised), None, "it raises no alert");
}

/// A program answers what its sessions ask, so such a session needs nothing of the user in any state.
#[test]
fn a_session_of_a_program_has_no_need_in_any_state() {
    let mut house = House::live();
    let by = |entrypoint: &str, mut record: serde_json::Value| {
        record["entrypoint"] = json!(entrypoint);
        record
    };
    for (entrypoint, group) in [("sdk-ts", Group::Working), ("claude-vscode", Group::NeedsYou)] {
        let question = call("t1", "AskUserQuestion", json!({"questions": [{"question": "Which?"}]}));
        house.write_all(B, [by(entrypoint, prompt("go")), by(entrypoint, question)]).at(2.0);
        let row = house.row(B);
        assert_eq!((row.state.as_str(), row.group), ("waiting_for_approval", group), "{entrypoint}");
        let started_by = row.started_by.as_ref().map(|by| by.entrypoint.as_str());
        assert_eq!(started_by, Some(entrypoint).filter(|_| group == Group::Working));
        assert_eq!(row.needs.is_some(), group == Group::NeedsYou, "{entrypoint}");
        house = House::live();
    }
    // A person goes on with it in a terminal.
    house.write_all(
        B,
        [by("sdk-cli", prompt("go")), by("sdk-cli", answer("done")), by("sdk-cli", turn_over())],
    );
    assert_eq!(house.row(B).group, Group::Idle);
    house.registry(9, B, "idle");
    assert_eq!((house.row(B).started_by, house.row(B).group), (None, Group::YourTurn));
}

/// A transcript of Codex among those of Claude Code. Watchbill does not read its lifecycle, so it shows no session.
/// The records count as unknown, and the sessions beside it are read.
#[test]
fn edge_58_a_transcript_of_codex_is_no_session_and_its_records_are_counted() {
    let mut house = House::files_alone();
    let at = "2026-11-20T15:00:00.000Z";
    let records = [
        json!({"timestamp": at, "type": "session_meta", "payload": {"id": B, "cwd": "/home/dev/work", "originator": "codex_cli_rs"}}),
        json!({"timestamp": at, "type": "event_msg", "payload": {"type": "task_started"}}),
        json!({"timestamp": at, "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "an intermediate word"}]}}),
        json!({"timestamp": at, "type": "response_item", "payload": {"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": "*** Begin Patch"}}),
        json!({"timestamp": at, "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}}),
    ];
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    house.append_bytes(&transcript(PROJECT, B), lines.as_bytes()).write(A, prompt("go"));
    assert_eq!((house.state(A).as_str(), house.state(B).as_str()), ("working", ""));
    assert_eq!(house.engine.current(true).rows.len(), 1, "nothing is claimed of it");
    let of_type = |count| ("unknown_record".to_owned(), count);
    assert_eq!(house.problem_counts(), [of_type(1), of_type(2), of_type(2)], "each type by itself");
    // Such a record does not change a session of Claude Code either.
    house.append_bytes(&transcript(PROJECT, A), format!("{}\n", records[4]).as_bytes());
    assert_eq!(house.state(A), "working");
    house.write_all(A, [answer("done"), turn_over()]);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}
