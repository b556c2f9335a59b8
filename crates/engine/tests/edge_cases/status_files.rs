//! Status files through real folders: read, torn, gone, of two sessions, and too old.

use watchbill_core::time::Millis;

use crate::desk::{A, B, CWD, Desk, answer, prompt, turn_over};

fn status(word: &str, at: watchbill_core::time::Timestamp) -> String {
    format!("---\nstatus: {word}\nupdated: {at}\ntask: Tidy up\n---\n\n## Summary\nHalf of it is done.\n")
}

#[test]
fn edge_45_two_sessions_in_one_folder_have_a_status_each() {
    let mut desk = Desk::files_alone();
    desk.say_all(A, [prompt("go"), answer("done"), turn_over()]);
    desk.say_all(B, [prompt("go"), answer("done"), turn_over()]);
    let now = desk.now;
    desk.in_folder(&format!("status.{A}.md"), &status("blocked", now));
    desk.in_folder(&format!("status.{B}.md"), &status("completed", now));
    for (session, word) in [(A, "blocked"), (B, "completed")] {
        let why = desk.engine.why(session).unwrap();
        let said = why.evidence.iter().find(|witness| witness.source == "status_file");
        let said = said.unwrap_or_else(|| panic!("{word} was not heard: {why:?}"));
        assert_eq!(said.state_kind.as_deref(), Some(word));
    }
}

#[test]
fn a_torn_status_file_is_read_again_and_a_wrong_one_is_told() {
    let mut desk = Desk::live();
    desk.registry(7, A, "busy").say(A, prompt("go"));
    let path = format!("{CWD}/.claude/status.{A}.md");
    let whole = status("working", desk.now);
    desk.in_folder(&format!("status.{A}.md"), &whole[..20]);
    assert_eq!(desk.problems(), []);
    // The rest comes without a hint.
    desk.stage.fs.write(&path, whole.as_bytes());
    desk.stage.hints.take();
    desk.at(0.3);
    let heard = |desk: &Desk| desk.engine.why(A).unwrap().evidence.iter().any(|w| w.source == "status_file");
    assert!(heard(&desk));
    desk.in_folder(&format!("status.{A}.md"), "no front matter");
    assert_eq!(desk.problems(), [("malformed_status_file".to_owned(), 1)]);
    assert!(!heard(&desk), "what it said before is not what it says");
    desk.stage.fs.remove(&path);
    desk.hear();
    assert_eq!(desk.problems(), []);
    // One that stays torn is wrong in the end, and no longer waited for.
    desk.in_folder(&format!("status.{A}.md"), "---\nstatus: wor");
    desk.at(30.0);
    assert_eq!(desk.problems(), [("malformed_status_file".to_owned(), 1)]);
    assert!(
        desk.engine.next_deadline().is_none_or(|due| due > desk.now + Millis(1000)),
        "nobody looks for ever"
    );
}
