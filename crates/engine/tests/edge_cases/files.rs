//! Files as they really are: half written, odd, gone, replaced; and clocks.

use std::path::Path;

use serde_json::json;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::Outlook;
use watchbill_engine::input::Input;

use crate::desk::{A, B, CWD, Desk, ROOT, answer, bash, prompt, row_of, state_of, timeless, turn_over};

#[test]
fn edge_50_a_registry_that_says_nothing_usable_is_no_evidence() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").say_all(A, [prompt("go"), answer("done"), turn_over()]);
    assert_eq!(desk.state(A), "working", "a Stop hook may run");
    for status in ["", "pondering"] {
        desk.registry(7, A, status);
        assert_eq!(desk.state(A), "waiting_for_input/turn_ended", "{status:?}: the transcript speaks");
        assert_eq!(desk.row(A).pid, Some(7));
    }
    assert_eq!(desk.problems(), []);
}

#[test]
fn edge_50_a_registry_file_in_the_middle_of_a_rewrite_is_read_again() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").say(A, prompt("go")).at(1.0);
    let whole = String::from_utf8(desk.stage.fs.bytes(Desk::registry_path(7)).unwrap()).unwrap();
    for torn in ["", &whole[..40], &format!("{whole}00,\"waitingFor\":\"x\"}}")] {
        desk.registry_text(7, torn);
        assert_eq!(desk.state(A), "working", "what was known stays: {torn}");
        assert_eq!(desk.problems(), []);
    }
    // The rewrite is completed, and for once nobody tells of it.
    desk.stage.fs.write(Desk::registry_path(7), whole.replace("busy", "idle").as_bytes());
    desk.stage.hints.take();
    desk.at(1.2);
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
    // One that stays torn is counted, once, and is forgotten when it is whole again.
    desk.registry_text(7, "{").at(10.0);
    assert_eq!(desk.problems(), [("malformed_registry".to_owned(), 1)]);
    desk.registry_text(7, &whole);
    assert_eq!((desk.problems(), desk.state(A)), (vec![], "working".into()));
}

#[test]
fn edge_51_a_session_is_a_row_before_its_file_exists() {
    let mut desk = Desk::live();
    desk.registry(7, A, "idle");
    assert_eq!(desk.state(A), "", "`--continue` names a throw-away session for some 400 ms");
    desk.at(1.5);
    assert_eq!(desk.state(A), "waiting_for_input");
    assert_eq!(desk.row(A).cwd.as_deref(), Some(CWD));
    // Its file begins with what has no time; the prompt follows.
    desk.say(A, timeless(json!({"type": "permission-mode", "permissionMode": "plan"})));
    assert_eq!(
        (desk.state(A), desk.row(A).permission_mode.as_deref()),
        ("waiting_for_input".into(), Some("plan"))
    );
    desk.at(3.0).registry(7, A, "busy").say(A, prompt("go"));
    assert_eq!((desk.state(A), desk.row(A).goal.as_deref()), ("working".into(), Some("go")));
}

#[test]
fn edge_51_a_file_of_modes_alone_is_no_session() {
    let mut desk = Desk::files_alone();
    desk.say(A, timeless(json!({"type": "permission-mode", "permissionMode": "plan"})));
    desk.say(A, timeless(json!({"type": "summary", "summary": "Of another session", "leafUuid": "x"})));
    assert_eq!(desk.engine.current(true).rows.len(), 0);
    desk.at(5.0).say(A, prompt("go"));
    assert_eq!((desk.state(A), desk.row(A).permission_mode.as_deref()), ("working".into(), Some("default")));
}

#[test]
fn edge_52_a_session_is_found_by_its_file_wherever_that_lies() {
    let second = "/home/dev/.config/claude";
    let mut desk = Desk::with(&[ROOT, second], Outlook { live: false, until: None });
    let odd = Path::new(second).join("projects/-c--caf---").join(format!("{B}.jsonl"));
    let mut elsewhere = prompt("go");
    elsewhere["cwd"] = json!("/c/caf\u{e9} 1");
    let line = desk.line(B, elsewhere);
    desk.say(A, prompt("go")).append(&odd, line.as_bytes());
    assert_eq!((desk.state(A), desk.state(B)), ("working".into(), "working".into()));
    let row = desk.row(B);
    assert_eq!(row.cwd.as_deref(), Some("/c/caf\u{e9} 1"), "never guessed from the folder's name");
    assert_eq!(row.transcript_path.as_deref(), odd.to_str());
}

#[test]
fn edge_53_a_transcript_that_is_deleted_takes_nothing_else_with_it() {
    let mut desk = Desk::live();
    desk.registry(7, A, "idle").registry(9, B, "busy");
    desk.say_all(A, [prompt("go"), answer("done")]).say(B, prompt("go")).at(5.0);
    desk.stage.fs.remove(Desk::transcript(A));
    desk.hear();
    assert_eq!(
        (desk.state(A), desk.state(B)),
        ("waiting_for_input".into(), "working".into()),
        "its client runs on"
    );
    // The client writes on, into a new file.
    desk.at(9.0).registry(7, A, "busy").say(A, prompt("again"));
    assert_eq!((desk.state(A), desk.row(A).goal.as_deref()), ("working".into(), Some("again")));
    desk.stage.fs.remove(Desk::transcript(A));
    desk.hear();
    desk.at(12.0).leave(7);
    assert_eq!((desk.state(A), desk.state(B)), (String::new(), "working".into()));
}

#[test]
fn edge_54_odd_lines_are_counted_and_the_rest_is_read() {
    let mut desk = Desk::files_alone();
    let path = Desk::transcript(A);
    let first = desk.line(A, prompt("go"));
    desk.append(&path, first.replace('\n', "\r\n").as_bytes());
    desk.append(&path, b"[1,2]\nnonsense\n\n{\"type\":\"omen\"}\n{\"type\":\"x\",\"t\":\"\xff\xfe\"}\n");
    let last = desk.line(A, answer("done"));
    let (now, later) = last.split_at(last.len() / 2);
    desk.append(&path, now.as_bytes());
    assert_eq!(desk.state(A), "working", "half a line is none yet");
    desk.append(&path, later.as_bytes());
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
    let mut problems = desk.problems();
    problems.sort();
    let of = |kind: &str| problems.iter().filter(|(known, _)| known == kind).map(|(_, n)| n).sum::<u64>();
    assert_eq!((of("malformed_line"), of("invalid_utf8")), (2, 1), "{problems:?}");
    assert!(of("unknown_record") >= 1, "{problems:?}");
}

#[test]
fn edge_54_a_line_of_many_megabytes_is_read_like_any_other() {
    let mut desk = Desk::files_alone();
    let picture = "A".repeat(12 << 20);
    let mut big = prompt("look at this");
    big["message"]["content"] = json!([{"type": "text", "text": "look at this"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}]);
    desk.say(A, big);
    assert_eq!((desk.state(A), desk.row(A).goal.as_deref()), ("working".into(), Some("look at this")));
    desk.say(A, answer("seen"));
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
    assert_eq!(desk.problems(), []);
}

#[test]
fn edge_55_a_file_that_shrinks_or_is_replaced_is_read_anew() {
    let mut desk = Desk::files_alone();
    let path = Desk::transcript(A);
    let (first, second) = (desk.line(A, prompt("one")), desk.line(A, answer("done")));
    let other = desk.line(A, prompt("another history, and a longer one than before"));
    desk.append(&path, first.as_bytes()).append(&path, second.as_bytes());
    // Shrunk: the answer is gone.
    desk.stage.fs.truncate(&path, first.len());
    desk.hear();
    assert_eq!(desk.state(A), "working");
    // Replaced by another file, as tools that synchronise do.
    desk.stage.fs.replace(&path, other.as_bytes());
    desk.hear();
    assert_eq!(desk.row(A).goal.as_deref(), Some("another history, and a longer one than before"));
    // Emptied, and written again.
    desk.stage.fs.truncate(&path, 0);
    desk.hear();
    assert_eq!(desk.state(A), "");
    desk.append(&path, first.as_bytes()).append(&path, second.as_bytes());
    assert_eq!(
        (desk.state(A), desk.row(A).goal.as_deref()),
        ("waiting_for_input/turn_ended".into(), Some("one"))
    );
    assert_eq!(row_of(&desk.cold(), A), Some(desk.row(A)));
}

#[test]
fn edge_56_records_of_a_clock_that_is_ahead_are_not_believed_for_ever() {
    let mut desk = Desk::live();
    let ahead = |mut record: serde_json::Value| {
        record["timestamp"] = json!("2026-11-20T15:00:00.000Z");
        record
    };
    desk.registry(7, A, "busy").say_all(A, [ahead(prompt("go")), ahead(bash("t1", "ls"))]);
    assert_eq!(desk.state(A), "working");
    desk.at(5.0).registry(7, A, "idle").at(30.0);
    // The registry stamps by the same clock as we; a record of the future does not overrule it.
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_56_a_clock_that_was_ahead_and_is_set_right_is_believed_and_said() {
    let mut desk = Desk::files_alone();
    // The clock runs an hour ahead for a moment: silence alone ends the turn and idles the session.
    desk.say(A, prompt("go")).at(3_600.0);
    assert_eq!(desk.state(A), "idle");
    desk.now = desk.begin + Millis::from_secs(10);
    desk.step(Input::Deadline);
    assert_eq!(desk.state(A), "working", "the turn is ten seconds old");
    assert_eq!(row_of(&desk.cold(), A), Some(desk.row(A)));
    assert_eq!(desk.problems(), [("clock_went_back".to_owned(), 1)]);
}

#[test]
fn edge_56_a_clock_that_was_set_back_is_not_asked_about_ever_again() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy")
        .say_all(A, [prompt("go"), answer("done")])
        .at(100.0)
        .registry(7, A, "idle")
        .at(110.0);
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
    desk.now = desk.begin + Millis::from_secs(50);
    desk.step(Input::Deadline);
    let before = desk.engine.work().rows;
    desk.at(90.0);
    assert_eq!(desk.engine.work().rows, before, "nothing is due");
    assert_eq!(desk.state(A), "waiting_for_input/turn_ended");
}

#[test]
fn edge_56_after_a_long_sleep_the_running_turn_still_runs() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").registry(9, B, "busy");
    desk.say_all(A, [prompt("go"), bash("t1", "make all")]).say(B, prompt("go"));
    desk.told.clear();
    // Eight hours in one step, as after a suspend; one client did not survive it.
    desk.now = desk.begin + Millis::from_secs(28_800);
    desk.stage.fs.set_now(desk.now);
    let dead = watchbill_core::ids::Instance { pid: 9, proc_start: Some("900".into()) };
    desk.stage.processes.set(dead, watchbill_core::evidence::registry::Liveness::Dead);
    desk.step(Input::Hints([watchbill_watch::hints::Hint::Everything].into()));
    assert_eq!((desk.state(A), desk.state(B)), ("working".into(), "ended/crashed".into()));
    assert_eq!(desk.told, ["ended/crashed"]);
}

#[test]
fn edge_57_two_watchers_see_the_same_and_write_nothing() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").say_all(A, [prompt("go"), bash("t1", "ls")]).at(2.0);
    let files = || (desk.stage.fs.bytes(Desk::transcript(A)), desk.stage.fs.bytes(Desk::registry_path(7)));
    let before = files();
    let other = desk.cold();
    assert_eq!(row_of(&other, A), Some(desk.row(A)));
    assert_eq!(state_of(&other, A), "working");
    assert_eq!(files(), before);
    assert!(Timestamp::parse(&desk.row(A).last_activity_at).is_some());
}
