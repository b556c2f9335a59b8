//! The identity of processes, sessions and folders, and how they end.

use std::path::Path;

use serde_json::json;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_engine::input::Input;

use super::records::{A, B, answer, bash, prompt, turn_over};
use crate::house::{CWD, House, PROJECT, state_of, transcript};

#[test]
fn edge_35_a_resumed_session_is_judged_by_its_new_process() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.at(2.0).end_process_cleanly(7);
    assert_eq!(house.state(A), "ended");
    house.at(60.0).registry(9, A, "idle");
    assert_eq!((house.state(A), house.row(A).pid), ("waiting_for_input/turn_ended".into(), Some(9)));
    house.at(70.0).registry(9, A, "busy").write(A, prompt("more"));
    assert_eq!(house.state(A), "working");
    assert_eq!(house.engine.current(true).rows.len(), 1);
}

#[test]
fn edge_36_two_processes_on_one_session_are_one_row_and_a_problem() {
    let mut house = House::live();
    house.registry(7, A, "idle").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.at(2.0).registry(9, A, "waiting:permission prompt");
    assert_eq!(house.state(A), "waiting_for_approval/permission", "the one that needs the user speaks");
    assert_eq!(house.problem_counts(), [("two_processes".to_owned(), 1)]);
    assert!(house.row(A).state_reason.detail.contains("2 processes"));
    house.at(3.0).end_process_cleanly(9);
    assert_eq!((house.state(A), house.row(A).pid), ("waiting_for_input/turn_ended".into(), Some(7)));
    assert_eq!(house.problem_counts(), []);
}

#[test]
fn edge_37_clear_continues_the_same_chain() {
    let mut house = House::live();
    house.registry(7, A, "idle").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.at(5.0).registry(7, B, "idle");
    let (old, new) = (house.row(A), house.row(B));
    assert_eq!((house.state(A), old.superseded_by.as_deref()), ("ended".into(), Some(B)));
    assert_eq!(new.work_chain_id, old.work_chain_id);
    assert_eq!(new.compaction_count, 0);
    let shown: Vec<_> =
        house.engine.current(false).rows.iter().map(|row| row.session().session_id.clone()).collect();
    assert_eq!(shown, [B]);
}

#[test]
fn edge_37_a_registry_that_keeps_the_old_session_hides_neither() {
    let mut house = House::live();
    house.registry(7, A, "idle").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    // Earlier agents went on naming the old session. The new file says which process wrote it.
    let mut cleared = json!({"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}});
    let mut go = prompt("another thing");
    for record in [&mut cleared, &mut go] {
        record["session_id"] = json!(A);
    }
    house.at(5.0).write_all(B, [cleared, go]);
    assert_eq!(house.row(B).work_chain_id, house.row(A).work_chain_id);
    assert_eq!((house.state(A), house.state(B)), ("waiting_for_input/turn_ended".into(), "working".into()));
    assert_eq!(house.engine.current(false).rows.len(), 2, "the registry is believed: its session still runs");
}

#[test]
fn edge_38_a_marker_ties_a_compacted_session_to_the_one_before() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.at(60.0).write_all(B, [prompt("go on"), answer("done")]);
    let marker = Path::new(CWD).join(".claude").join(format!("compacted.{B}.marker"));
    let text = json!({"newSessionId": B, "cwd": CWD, "compactedAt": "2026-11-20T12:00:59.000Z"}).to_string();
    // Half of it first, as a reader of the folder may see it.
    house.append_bytes(&marker, &text.as_bytes()[..20]);
    assert!(house.row(A).superseded_by.is_none());
    house.append_bytes(&marker, &text.as_bytes()[20..]).at(61.0);
    let (old, new) = (house.row(A), house.row(B));
    assert_eq!((old.superseded_by.as_deref(), &old.work_chain_id), (Some(B), &new.work_chain_id));
    assert_eq!(new.compaction_count, 1);
    assert_eq!(house.problem_counts(), []);
}

#[test]
fn the_context_size_is_known_after_an_automatic_compaction() {
    let boundary = |trigger: &str, tokens: u64| {
        json!({"type": "system", "subtype": "compact_boundary",
        "content": "Conversation compacted", "compactMetadata": {"trigger": trigger, "preTokens": tokens}})
    };
    let mut house = House::files_alone();
    let context = |house: &House| house.row(A).context.map(|context| (context.used, context.size));
    house.write_all(A, [prompt("go"), answer("done")]);
    let Some((used, None)) = context(&house) else { panic!("no transcript tells how much it takes") };
    house.write_all(A, [boundary("manual", 10 * used), prompt("on"), answer("done")]);
    assert_eq!(context(&house), Some((used, None)), "a user compacts at any time");
    house.write_all(A, [boundary("auto", 4 * used), prompt("on"), answer("done")]);
    assert_eq!(context(&house), Some((used, Some(4 * used))));
    assert_eq!(house.row(A).context.and_then(|context| context.percent), Some(25.0));
    let mut more = answer("done");
    more["message"]["usage"]["input_tokens"] = json!(9 * used);
    house.write_all(A, [prompt("on"), more]);
    assert!(matches!(context(&house), Some((_, None))), "it takes more: another model, or another setting");
}

#[test]
fn edge_40_a_forks_copied_history_is_counted_once() {
    let mut house = House::files_alone();
    let own = |mut record: serde_json::Value, process: &str| {
        record["session_id"] = json!(process);
        record
    };
    let history =
        [prompt("go"), answer("done"), turn_over()].map(|record| house.line(A, own(record, A))).concat();
    house.append_bytes(&transcript(PROJECT, A), history.as_bytes());
    let before = house.row(A).tokens.unwrap();
    assert!(before.input > 0);
    // The agent copies every record under the new id; only the id of its process stays.
    let copied = history.replace(&format!("\"sessionId\":\"{A}\""), &format!("\"sessionId\":\"{B}\""));
    house.at(60.0).append_bytes(&transcript(PROJECT, B), copied.as_bytes());
    house.write_all(B, [own(prompt("another way"), B), own(answer("there"), B)]);
    let (fork, origin) = (house.row(B), house.row(A));
    assert_eq!((origin.tokens, fork.tokens.map(|tokens| tokens.input)), (Some(before), Some(before.input)));
    assert!(origin.superseded_by.is_none(), "a fork supersedes no session");
}

#[test]
fn edge_42_a_killed_client_is_neither_working_nor_waiting() {
    for status in ["busy", "waiting:permission prompt", "waiting:dialog open", "idle", "shell"] {
        let mut house = House::live();
        house.registry(7, A, status).write_all(A, [prompt("go"), bash("t1", "make all")]);
        house.at(3.0).kill(7, "700");
        assert_eq!(house.state(A), "ended/crashed", "{status}");
        assert!(!house.row(A).has_pending_tool_use && house.row(A).pid.is_none());
        assert_eq!(state_of(&house.cold(), A), "ended/crashed", "{status}: so says who comes later");
    }
    // The registry file may be gone with the agent's whole machine: a later look finds no process that claims the
    // session.
    let mut house = House::live();
    house.write_all(A, [prompt("go"), bash("t1", "make all")]).at(60.0);
    assert_eq!(state_of(&house.cold(), A), "ended");
}

#[test]
fn edge_43_a_reused_process_id_is_no_evidence() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "make all")]);
    // The agent is gone and another program has its process id: the start time differs.
    house.stage.processes.set(Instance { pid: 7, proc_start: Some("700".into()) }, Liveness::Dead);
    house.stage.processes.set(Instance { pid: 7, proc_start: Some("999".into()) }, Liveness::Alive);
    house.step(Input::ProcessEnded(None));
    assert_eq!(house.state(A), "ended/crashed");
    // A new client that gets the same process id overwrites the old file.
    let text = json!({"pid": 7, "procStart": "999", "sessionId": B, "status": "busy",
        "startedAt": house.now.as_millis() - 5_000, "version": "2.1.329", "entrypoint": "cli"});
    house.at(10.0).registry_text(7, &text.to_string());
    assert_eq!((house.state(A), house.state(B)), ("ended/crashed".into(), "working".into()));
    assert_ne!(
        house.row(A).work_chain_id,
        house.row(B).work_chain_id,
        "another client is another piece of work"
    );
}

#[test]
fn edge_45_two_sessions_in_one_folder_do_not_mix() {
    let mut house = House::live();
    house.registry(7, A, "busy").registry(9, B, "waiting:permission prompt");
    house
        .write_all(A, [prompt("one"), bash("t1", "ls")])
        .write_all(B, [prompt("two"), bash("t2", "rm x")])
        .at(2.0);
    assert_eq!(
        (house.state(A), house.state(B)),
        ("working".into(), "waiting_for_approval/permission".into())
    );
    house.kill(9, "900");
    assert_eq!((house.state(A), house.state(B)), ("working".into(), "ended/crashed".into()));
    assert_ne!(house.row(A).work_chain_id, house.row(B).work_chain_id);
}

#[test]
fn edge_46_a_session_stays_in_the_folder_where_it_was_launched() {
    let mut house = House::files_alone();
    let mut moved = prompt("and here");
    moved["cwd"] = json!("/home/dev/elsewhere");
    house.write_all(A, [prompt("go"), answer("done"), moved]);
    let row = house.row(A);
    assert_eq!((row.cwd.as_deref(), row.project_id.as_deref()), (Some(CWD), Some("-home-dev-work")));
}

#[test]
fn edge_48_a_session_of_the_sdk_is_judged_by_its_transcript_and_process() {
    let mut house = House::live();
    let sdk = |mut record: serde_json::Value| {
        record["entrypoint"] = json!("sdk-ts");
        record
    };
    house.write_all(A, [sdk(prompt("go")), sdk(bash("t1", "ls"))]).at(4.0);
    assert_eq!(house.state(A), "working", "it keeps no registry file, so none is missed");
    // Or an SDK session whose registry file has no status.
    let mut house = House::live();
    house.registry(7, A, "").write_all(A, [sdk(prompt("go")), sdk(answer("done"))]);
    assert_eq!((house.state(A), house.row(A).pid), ("waiting_for_input/turn_ended".into(), Some(7)));
    house.at(3.0).end_process_cleanly(7);
    assert_eq!(house.state(A), "ended");
    // Print mode keeps a registry file: a later look sees that no client waits there for an answer.
    let mut house = House::live();
    let print = |mut record: serde_json::Value| {
        record["entrypoint"] = json!("sdk-cli");
        record
    };
    house
        .registry(7, A, "busy")
        .write_all(A, [print(prompt("go")), print(answer("done"))])
        .end_process_cleanly(7);
    house.at(3.0);
    assert_eq!(state_of(&house.cold(), A), "ended");
}
