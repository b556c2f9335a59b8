//! Real conditions of files: half written, odd, gone, replaced; and of clocks.

use std::path::Path;

use serde_json::json;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::Outlook;
use watchbill_engine::input::Input;

use super::records::{A, B, answer, bash, prompt, timeless, turn_over};
use crate::house::{CWD, House, PROJECT, ROOT, registry_file, row_of, state_of, transcript};

#[test]
fn edge_50_a_registry_file_with_an_unknown_status_is_no_evidence() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), answer("done"), turn_over()]);
    assert_eq!(house.state(A), "working", "a Stop hook may run");
    for status in ["", "pondering"] {
        house.registry(7, A, status);
        assert_eq!(house.state(A), "waiting_for_input/turn_ended", "{status:?}: the transcript speaks");
        assert_eq!(house.row(A).pid, Some(7));
    }
    assert_eq!(house.problem_counts(), []);
}

#[test]
fn edge_50_a_registry_file_in_the_middle_of_a_rewrite_is_read_again() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go")).at(1.0);
    let whole = String::from_utf8(house.stage.fs.bytes(registry_file(7)).unwrap()).unwrap();
    for torn in ["", &whole[..40], &format!("{whole}00,\"waitingFor\":\"x\"}}")] {
        house.registry_text(7, torn);
        assert_eq!(house.state(A), "working", "what was known stays: {torn}");
        assert_eq!(house.problem_counts(), []);
    }
    // The rewrite is completed, and no hint reports it.
    house.stage.fs.write(registry_file(7), whole.replace("busy", "idle").as_bytes());
    house.stage.hints.take();
    house.at(1.2);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    // A registry file that stays torn is counted once. The problem is removed when the file is whole again.
    house.registry_text(7, "{").at(10.0);
    assert_eq!(house.problem_counts(), [("malformed_registry".to_owned(), 1)]);
    house.registry_text(7, &whole);
    assert_eq!((house.problem_counts(), house.state(A)), (vec![], "working".into()));
}

#[test]
fn edge_51_a_session_is_a_row_before_its_file_exists() {
    let mut house = House::live();
    house.registry(7, A, "idle");
    assert_eq!(house.state(A), "", "`--continue` names a throw-away session for some 400 ms");
    house.at(1.5);
    assert_eq!(house.state(A), "waiting_for_input");
    assert_eq!(house.row(A).cwd.as_deref(), Some(CWD));
    // Its transcript begins with a record without a time; the prompt follows.
    house.write(A, timeless(json!({"type": "permission-mode", "permissionMode": "plan"})));
    assert_eq!(
        (house.state(A), house.row(A).permission_mode.as_deref()),
        ("waiting_for_input".into(), Some("plan"))
    );
    house.at(3.0).registry(7, A, "busy").write(A, prompt("go"));
    assert_eq!((house.state(A), house.row(A).goal.as_deref()), ("working".into(), Some("go")));
}

#[test]
fn edge_51_a_file_of_modes_alone_is_no_session() {
    let mut house = House::files_alone();
    house.write(A, timeless(json!({"type": "permission-mode", "permissionMode": "plan"})));
    house.write(A, timeless(json!({"type": "summary", "summary": "Of another session", "leafUuid": "x"})));
    assert_eq!(house.engine.current(true).rows.len(), 0);
    house.at(5.0).write(A, prompt("go"));
    assert_eq!(
        (house.state(A), house.row(A).permission_mode.as_deref()),
        ("working".into(), Some("default"))
    );
}

#[test]
fn edge_52_a_session_is_found_by_its_file_in_any_root_and_folder() {
    let second = "/home/dev/.config/claude";
    let mut house = House::with_first_look(&[ROOT, second], Outlook { live: false, until: None });
    let odd = Path::new(second).join("projects/-c--caf---").join(format!("{B}.jsonl"));
    let mut elsewhere = prompt("go");
    elsewhere["cwd"] = json!("/c/caf\u{e9} 1");
    let line = house.line(B, elsewhere);
    house.write(A, prompt("go")).append_bytes(&odd, line.as_bytes());
    assert_eq!((house.state(A), house.state(B)), ("working".into(), "working".into()));
    let row = house.row(B);
    assert_eq!(row.cwd.as_deref(), Some("/c/caf\u{e9} 1"), "never guessed from the folder's name");
    assert_eq!(row.transcript_path.as_deref(), odd.to_str());
}

#[test]
fn edge_53_a_deleted_transcript_affects_no_other_session() {
    let mut house = House::live();
    house.registry(7, A, "idle").registry(9, B, "busy");
    house.write_all(A, [prompt("go"), answer("done")]).write(B, prompt("go")).at(5.0);
    house.stage.fs.remove(transcript(PROJECT, A));
    house.catch_up();
    assert_eq!(
        (house.state(A), house.state(B)),
        ("waiting_for_input".into(), "working".into()),
        "its client runs on"
    );
    // The agent continues in a new file.
    house.at(9.0).registry(7, A, "busy").write(A, prompt("again"));
    assert_eq!((house.state(A), house.row(A).goal.as_deref()), ("working".into(), Some("again")));
    house.stage.fs.remove(transcript(PROJECT, A));
    house.catch_up();
    house.at(12.0).end_process_cleanly(7);
    assert_eq!((house.state(A), house.state(B)), (String::new(), "working".into()));
}

#[test]
fn edge_54_odd_lines_are_counted_and_the_rest_is_read() {
    let mut house = House::files_alone();
    let path = transcript(PROJECT, A);
    let first = house.line(A, prompt("go"));
    house.append_bytes(&path, first.replace('\n', "\r\n").as_bytes());
    house.append_bytes(
        &path,
        b"[1,2]\nnonsense\n\n{\"type\":\"omen\"}\n{\"type\":\"x\",\"t\":\"\xff\xfe\"}\n",
    );
    let last = house.line(A, answer("done"));
    let (now, later) = last.split_at(last.len() / 2);
    house.append_bytes(&path, now.as_bytes());
    assert_eq!(house.state(A), "working", "half a line is none yet");
    house.append_bytes(&path, later.as_bytes());
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    let mut problems = house.problem_counts();
    problems.sort();
    let of = |kind: &str| problems.iter().filter(|(known, _)| known == kind).map(|(_, n)| n).sum::<u64>();
    assert_eq!((of("malformed_line"), of("invalid_utf8")), (2, 1), "{problems:?}");
    assert!(of("unknown_record") >= 1, "{problems:?}");
}

#[test]
fn edge_54_a_line_of_many_megabytes_is_read_like_any_other() {
    let mut house = House::files_alone();
    let picture = "A".repeat(12 << 20);
    let mut big = prompt("look at this");
    big["message"]["content"] = json!([{"type": "text", "text": "look at this"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}]);
    house.write(A, big);
    assert_eq!((house.state(A), house.row(A).goal.as_deref()), ("working".into(), Some("look at this")));
    house.write(A, answer("seen"));
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    assert_eq!(house.problem_counts(), []);
}

#[test]
fn edge_55_a_file_that_shrinks_or_is_replaced_is_read_anew() {
    let mut house = House::files_alone();
    let path = transcript(PROJECT, A);
    let (first, second) = (house.line(A, prompt("one")), house.line(A, answer("done")));
    let other = house.line(A, prompt("another history, and a longer one than before"));
    house.append_bytes(&path, first.as_bytes()).append_bytes(&path, second.as_bytes());
    // Shrunk: the answer is gone.
    house.stage.fs.truncate(&path, first.len());
    house.catch_up();
    assert_eq!(house.state(A), "working");
    // Another file replaces it, as synchronisation tools do.
    house.stage.fs.replace(&path, other.as_bytes());
    house.catch_up();
    assert_eq!(house.row(A).goal.as_deref(), Some("another history, and a longer one than before"));
    // Emptied, and written again.
    house.stage.fs.truncate(&path, 0);
    house.catch_up();
    assert_eq!(house.state(A), "");
    house.append_bytes(&path, first.as_bytes()).append_bytes(&path, second.as_bytes());
    assert_eq!(
        (house.state(A), house.row(A).goal.as_deref()),
        ("waiting_for_input/turn_ended".into(), Some("one"))
    );
    assert_eq!(row_of(&house.cold(), A), Some(house.row(A)));
}

#[test]
fn edge_56_records_from_the_future_do_not_overrule_the_registry() {
    let mut house = House::live();
    let ahead = |mut record: serde_json::Value| {
        record["timestamp"] = json!("2026-11-20T15:00:00.000Z");
        record
    };
    house.registry(7, A, "busy").write_all(A, [ahead(prompt("go")), ahead(bash("t1", "ls"))]);
    assert_eq!(house.state(A), "working");
    house.at(5.0).registry(7, A, "idle").at(30.0);
    // The registry's times come from the same clock as the engine's; a record of the future does not overrule them.
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_56_a_clock_that_was_ahead_and_is_corrected_is_followed_and_reported() {
    let mut house = House::files_alone();
    // The clock runs an hour ahead for a moment: silence alone ends the turn, and the session becomes idle.
    house.write(A, prompt("go")).at(3_600.0);
    assert_eq!(house.state(A), "idle");
    house.now = house.begin + Millis::from_secs(10);
    house.step(Input::Deadline);
    assert_eq!(house.state(A), "working", "the turn is ten seconds old");
    assert_eq!(row_of(&house.cold(), A), Some(house.row(A)));
    assert_eq!(house.problem_counts(), [("clock_went_back".to_owned(), 1)]);
}

#[test]
fn edge_56_a_clock_that_was_set_back_makes_no_repeated_work() {
    let mut house = House::live();
    house
        .registry(7, A, "busy")
        .write_all(A, [prompt("go"), answer("done")])
        .at(100.0)
        .registry(7, A, "idle")
        .at(110.0);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    house.now = house.begin + Millis::from_secs(50);
    house.step(Input::Deadline);
    let before = house.engine.work().rows;
    house.at(90.0);
    assert_eq!(house.engine.work().rows, before, "nothing is due");
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_56_after_a_long_sleep_the_running_turn_still_runs() {
    let mut house = House::live();
    house.registry(7, A, "busy").registry(9, B, "busy");
    house.write_all(A, [prompt("go"), bash("t1", "make all")]).write(B, prompt("go"));
    house.transitions.clear();
    // Eight hours pass in one step, as after a suspend; one client did not survive it.
    house.now = house.begin + Millis::from_secs(28_800);
    house.stage.fs.set_now(house.now);
    let dead = watchbill_core::ids::Instance { pid: 9, proc_start: Some("900".into()) };
    house.stage.processes.set(dead, watchbill_core::evidence::registry::Liveness::Dead);
    house.step(Input::Hints([watchbill_watch::hints::Hint::Everything].into()));
    assert_eq!((house.state(A), house.state(B)), ("working".into(), "ended/crashed".into()));
    assert_eq!(house.transitions, ["ended/crashed"]);
}

#[test]
fn edge_57_two_watchers_see_the_same_and_write_nothing() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "ls")]).at(2.0);
    let files = || (house.stage.fs.bytes(transcript(PROJECT, A)), house.stage.fs.bytes(registry_file(7)));
    let before = files();
    let other = house.cold();
    assert_eq!(row_of(&other, A), Some(house.row(A)));
    assert_eq!(state_of(&other, A), "working");
    assert_eq!(files(), before);
    assert!(Timestamp::parse(&house.row(A).last_activity_at).is_some());
}
