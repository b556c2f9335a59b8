//! Beginnings and ends of turns.

use serde_json::{Value, json};

use super::records::{A, B, answer, bash, call, prompt, result, timeless, turn_over};
use crate::house::{House, PROJECT, state_of, transcript};

#[test]
fn edge_19_only_the_registry_shows_escape_before_the_first_token() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go"));
    house.at(3.0).registry(7, A, "idle");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    house.at(300.0);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    // Without the registry the running turn is not believed for ever.
    let mut house = House::files_alone();
    house.write(A, prompt("go")).at(61.0);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    assert_eq!(house.row(A).state_reason.confidence, "inferred");
}

#[test]
fn edge_21_local_commands_start_no_turn_and_are_no_activity() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("go"), answer("done"), turn_over()]);
    let before = house.row(A);
    house.at(20.0);
    for text in [
        "<command-name>/model</command-name>\n<command-message>model</command-message>",
        "<local-command-stdout>Set model</local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<bash-stdout>a b</bash-stdout>",
    ] {
        house.write(A, json!({"type": "user", "message": {"role": "user", "content": text}}));
    }
    let after = house.row(A);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    assert_eq!((before.last_activity_at, before.goal), (after.last_activity_at, after.goal));
}

#[test]
fn edge_24_records_added_after_the_end_are_no_activity() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("go"), answer("done"), turn_over()]);
    let before = house.row(A);
    house.at(180.0).write_all(
        A,
        [
            json!({"type": "system", "subtype": "away_summary", "content": "you were away"}),
            timeless(json!({"type": "ai-title", "aiTitle": "A title"})),
            timeless(json!({"type": "last-prompt", "lastPrompt": "go"})),
            timeless(json!({"type": "file-history-snapshot", "snapshot": {}})),
        ],
    );
    let after = house.row(A);
    assert_eq!(after.title.as_deref(), Some("A title"));
    assert_eq!((&after.state, &after.state_since), (&before.state, &before.state_since));
    assert_eq!(after.last_activity_at, before.last_activity_at);
    house.at(601.0);
    assert_eq!(house.state(A), "idle", "ten minutes after the turn, not after the title");
}

#[test]
fn edge_28_a_turn_of_two_thousand_records_is_one_turn() {
    let mut house = House::files_alone();
    let mut records = vec![prompt("go")];
    for n in 0..1000 {
        let id = format!("t{n}");
        records.extend([bash(&id, "ls"), result(&id)]);
    }
    house.write_all(A, records);
    assert_eq!(house.state(A), "working");
    assert_eq!(house.row(A).goal.as_deref(), Some("go"));
    assert_eq!(state_of(&house.cold(), A), "working");
    house.write_all(A, [answer("done"), turn_over()]);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_29_a_whole_turn_between_two_reads_ends_when_it_ended() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]).at(30.0);
    let first = house.row(A);
    let lines = [house.line(A, prompt("two")), house.line(A, answer("done again"))].concat();
    house.at(45.0).append_bytes(&transcript(PROJECT, A), lines.as_bytes());
    let row = house.row(A);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    assert_eq!(row.summary.as_deref(), Some("done again"));
    assert!(row.state_since > first.state_since, "a second end, not the first one");
    assert_eq!(row.state_since, "2026-11-20T12:00:30.000Z", "when it was written, not when it was read");
}

#[test]
fn edge_30_the_first_look_reports_no_change() {
    let mut house = House::before_first_scan();
    for n in 0..50 {
        let session = format!("{n:08}-0000-4000-8000-000000000000");
        house.write_all(&session, [prompt("go"), answer("done"), turn_over()]);
    }
    house.registry(7, B, "waiting:permission prompt").write_all(B, [prompt("go"), bash("t1", "ls")]);
    house.at(60.0).transitions.clear();
    house.look();
    assert_eq!(house.state(B), "waiting_for_approval/permission", "what waits is there to be seen");
    assert_eq!(house.transitions, Vec::<String>::new());
    // A witness's report after that is a change.
    house.at(65.0).registry(7, B, "busy");
    assert_eq!(house.transitions, ["working"]);
}

/// A result with these words, an error or not.
fn ended(id: &str, words: &str, is_error: bool) -> Value {
    let mut record = result(id);
    record["message"]["content"][0]["content"] = json!(words);
    record["message"]["content"][0]["is_error"] = json!(is_error);
    record
}

#[test]
fn a_finished_turn_says_what_came_of_it() {
    let edit = |id: &str, file: &str| {
        call(id, "Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"}))
    };
    let outcome =
        |house: &House| house.row(A).outcome.map(|outcome| (outcome.files, outcome.passed, outcome.seconds));
    let mut house = House::live();
    house.write_all(
        A,
        [prompt("go"), edit("e1", "/a"), result("e1"), edit("e2", "/b"), ended("e2", "no such text", true)],
    );
    assert_eq!(outcome(&house), None, "it still works");
    house.at(90.0).write_all(
        A,
        [edit("e3", "/a"), result("e3"), bash("t1", "cargo test"), result("t1"), answer("done")],
    );
    assert_eq!(outcome(&house), Some((1, Some(true), Some(90))));
    // What follows a notice of the agent belongs to the same prompt, and an edit makes the tests old.
    house.at(120.0).write_all(A, [edit("e4", "/c"), result("e4"), answer("more")]);
    assert_eq!(outcome(&house), Some((2, None, Some(120))));
    house.at(150.0).write_all(
        A,
        [prompt("test"), bash("t2", "cargo test"), ended("t2", "Exit code 101\nfailed", true), answer("no")],
    );
    assert_eq!(outcome(&house), Some((0, Some(false), Some(0))));
    for (command, words) in [
        ("cargo test", "Command timed out after 2m 0s"),
        ("cd /gone && cargo test", "Exit code 1\ncd: /gone: No such file or directory"),
        ("cargo test | tail -1", "Exit code 1"),
    ] {
        house.write_all(A, [prompt("again"), bash("t3", command), ended("t3", words, true), answer("?")]);
        assert_eq!(outcome(&house), None, "{command}: {words}");
    }
    assert!(house.write(A, prompt("say something")).write(A, answer("something")).row(A).outcome.is_none());
}
