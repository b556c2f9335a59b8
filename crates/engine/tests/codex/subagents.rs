//! Subagents, each with a rollout of its own: they have no row, and show in the row of the session that started them.

use serde_json::{Value, json};
use watchbill_core::time::Millis;
use watchbill_engine::persist::Persist;
use watchbill_store::OpenMode;

use crate::house::{House, Witnesses};
use crate::locks::{A as ROOT, B as CHILD, SERVER, append, house, lock};
use crate::states::play;

const GRANDCHILD: &str = "01a20950-0000-7000-8000-000000000001";

pub fn meta(id: &str, parent: Option<&str>) -> (&'static str, Value) {
    let source = parent.map_or(
        json!("vscode"),
        |parent| json!({"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}),
    );
    let meta = json!({"id": id, "session_id": ROOT, "cwd": "/home/dev/work", "cli_version": "0.169.0", "source": source});
    ("session_meta", meta)
}

pub fn started() -> (&'static str, Value) {
    ("event_msg", json!({"type": "task_started", "turn_id": "t"}))
}

pub fn ended() -> (&'static str, Value) {
    ("event_msg", json!({"type": "task_complete", "turn_id": "t"}))
}

fn calls(name: &str, input: &Value) -> (&'static str, Value) {
    let call =
        json!({"type": "function_call", "call_id": name, "name": name, "arguments": input.to_string()});
    ("response_item", call)
}

fn says(text: &str) -> (&'static str, Value) {
    ("event_msg", json!({"type": "agent_message", "message": text}))
}

/// A command that may leave its sandbox with permission only.
fn publishes() -> (&'static str, Value) {
    calls("exec_command", &json!({"cmd": "npm publish", "sandbox_permissions": "require_escalated"}))
}

fn tokens(total: u64) -> (&'static str, Value) {
    let usage = json!({"input_tokens": total, "output_tokens": 0});
    (
        "event_msg",
        json!({"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}}),
    )
}

/// A session that waits for its subagent, both run by the server.
fn waiting_for_subagent() -> House {
    let mut house = house();
    for session in [ROOT, CHILD] {
        lock(&mut house, session);
    }
    append(&mut house, ROOT, &[meta(ROOT, None), started(), calls("wait_agent", &json!({})), tokens(100)]);
    append(&mut house, CHILD, &[meta(CHILD, Some(ROOT)), started(), says("I begin."), tokens(20)]);
    house
}

fn reason(house: &House) -> String {
    house.row(ROOT).unwrap().state_reason.detail.to_string()
}

#[test]
fn what_a_subagent_asks_is_shown_by_the_session_that_started_it() {
    let mut house = waiting_for_subagent();
    append(&mut house, CHILD, &[publishes()]);
    house.push(ROOT, "");
    house.push(CHILD, "waitingOnApproval");
    assert_eq!(
        (house.state(ROOT).as_str(), house.state(CHILD).as_str()),
        ("waiting_for_approval/permission", "-")
    );
    assert!(reason(&house).starts_with("a subagent asks: "), "{}", reason(&house));
    let row = house.row(ROOT).unwrap();
    let targets: Vec<_> = row.pending_tools.iter().map(|call| &*call.target).collect();
    assert_eq!((targets, row.pid, row.live), (vec!["npm publish"], Some(SERVER), true));
    let why = house.engine.why(ROOT).unwrap();
    assert!(why.evidence[0].detail.starts_with("a subagent asks: "), "{:?}", why.evidence[0]);
    house.push(CHILD, "");
    assert_eq!(house.state(ROOT), "working");
    house.push(CHILD, "waitingOnUserInput");
    assert_eq!(house.state(ROOT), "waiting_for_approval/question");
    house.push(CHILD, "");
    append(&mut house, CHILD, &[ended()]);
    house.push(CHILD, "idle");
    assert_eq!(house.state(ROOT), "working");
}

#[test]
fn a_session_works_while_its_subagent_does_and_counts_its_tokens() {
    let mut house = waiting_for_subagent();
    let row = house.row(ROOT).unwrap();
    assert_eq!((row.tokens.unwrap().input, row.subagents.running, row.subagents.total), (120, 1, 1));
    append(&mut house, ROOT, &[ended()]);
    assert_eq!(house.state(ROOT), "working/background");
    append(&mut house, CHILD, &[tokens(50)]);
    assert_eq!(house.row(ROOT).unwrap().tokens.unwrap().input, 150);
    append(&mut house, CHILD, &[ended()]);
    let row = house.row(ROOT).unwrap();
    assert_eq!((house.state(ROOT).as_str(), row.subagents.running), ("waiting_for_input/turn_ended", 0));
}

#[test]
fn without_the_server_an_open_call_of_a_subagent_is_suspected_until_it_has_a_process() {
    for runs in [false, true] {
        let mut house = waiting_for_subagent();
        append(&mut house, CHILD, &[publishes()]);
        house.wait(1);
        house.tool(90, runs.then_some(SERVER));
        house.wait(6);
        let expected = if runs { "working" } else { "waiting_for_approval/permission?" };
        assert_eq!(house.state(ROOT), expected);
    }
}

#[test]
fn the_order_in_which_rollouts_are_read_does_not_matter() {
    let records = [
        (ROOT, vec![meta(ROOT, None), started(), calls("wait_agent", &json!({})), tokens(100)]),
        (CHILD, vec![meta(CHILD, Some(ROOT)), started(), calls("wait_agent", &json!({})), tokens(20)]),
        (GRANDCHILD, vec![meta(GRANDCHILD, Some(CHILD)), started(), publishes(), tokens(3)]),
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut house = house();
        for at in order {
            let (session, records) = &records[at];
            lock(&mut house, session);
            append(&mut house, session, records);
        }
        house.push(GRANDCHILD, "waitingOnApproval");
        let seen = |house: &House| {
            let row = house.row(ROOT).unwrap();
            (
                house.state(ROOT),
                row.tokens.unwrap().input,
                row.subagents.total,
                house.engine.current(true).rows.len(),
            )
        };
        assert_eq!(seen(&house), ("waiting_for_approval/permission".into(), 123, 2, 1), "{order:?}");
        house.restart();
        house.push(GRANDCHILD, "waitingOnApproval");
        assert_eq!(seen(&house), ("waiting_for_approval/permission".into(), 123, 2, 1), "{order:?}");
    }
}

#[test]
fn a_subagent_that_goes_on_without_its_session_is_shown_until_its_own_process_ends() {
    let mut house = waiting_for_subagent();
    append(&mut house, CHILD, &[publishes()]);
    house.lock(ROOT, None, false);
    house.fs.remove(House::lock_path(ROOT));
    house.tell();
    house.wait(2);
    house.push(CHILD, "waitingOnApproval");
    assert_eq!(house.state(ROOT), "waiting_for_approval/permission");
    assert!(house.row(ROOT).unwrap().live);
    house.kill(SERVER, &[CHILD]);
    house.wait(2);
    assert_eq!((house.state(ROOT).as_str(), house.row(ROOT).unwrap().live), ("ended", false));
}

#[test]
fn a_start_with_the_store_knows_the_subagents() {
    let mut house = waiting_for_subagent();
    append(&mut house, CHILD, &[publishes()]);
    let folder = tempfile::TempDir::new().unwrap();
    let open = || Persist::open(folder.path(), OpenMode::WriteOrRead);
    let mut persist = open();
    persist.load(&mut house.engine);
    house.engine.requeue_everything();
    persist.save(&mut house.engine, house.now);
    drop(persist);
    house.now = house.now + Millis::from_secs(1);
    house.start_with(|engine| {
        open().load(engine);
    });
    house.push(CHILD, "waitingOnApproval");
    let row = house.row(ROOT).unwrap();
    assert_eq!(
        (house.state(ROOT).as_str(), row.tokens.unwrap().input),
        ("waiting_for_approval/permission", 120)
    );
}

#[test]
fn a_removed_subagent_leaves_its_session_as_it_would_be_without() {
    let mut house = waiting_for_subagent();
    append(&mut house, ROOT, &[ended()]);
    assert_eq!(house.state(ROOT), "working/background");
    house.fs.remove(crate::locks::rollout(CHILD));
    house.tell();
    let row = house.row(ROOT).unwrap();
    assert_eq!(
        (house.state(ROOT).as_str(), row.tokens.unwrap().input),
        ("waiting_for_input/turn_ended", 100)
    );
}

#[test]
fn a_session_that_names_its_own_subagent_as_its_parent_has_no_row_and_ends_no_program() {
    let mut house = house();
    append(&mut house, ROOT, &[meta(ROOT, Some(CHILD)), started()]);
    append(&mut house, CHILD, &[meta(CHILD, Some(ROOT)), started()]);
    house.wait(10);
    assert_eq!(house.engine.current(true).rows.len(), 0);
}

#[test]
fn the_recorded_subagent_counts() {
    let house = play("12-subagent", &[14850], Witnesses::Locks, |_, _, _| {});
    let rows = house.engine.current(true).rows;
    let row = &rows[0].row;
    let tokens = row.tokens.unwrap();
    assert_eq!((rows.len(), tokens.input, tokens.output, row.subagents.total), (1, 500, 100, 1));
}
