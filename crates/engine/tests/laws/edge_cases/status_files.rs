//! Status files through real folders: read, torn, removed, of two sessions, and too old.

use watchbill_core::time::Millis;

use super::records::{A, B, answer, prompt, turn_over};
use crate::house::{CWD, House};

fn status(word: &str, at: watchbill_core::time::Timestamp) -> String {
    format!("---\nstatus: {word}\nupdated: {at}\ntask: Tidy up\n---\n\n## Summary\nHalf of it is done.\n")
}

#[test]
fn edge_45_two_sessions_in_one_folder_have_a_status_each() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("go"), answer("done"), turn_over()]);
    house.write_all(B, [prompt("go"), answer("done"), turn_over()]);
    let now = house.now;
    house.write_in_folder(&format!("status.{A}.md"), &status("blocked", now));
    house.write_in_folder(&format!("status.{B}.md"), &status("completed", now));
    for (session, word) in [(A, "blocked"), (B, "completed")] {
        let why = house.engine.why(session).unwrap();
        let said = why.evidence.iter().find(|witness| witness.source == "status_file");
        let said = said.unwrap_or_else(|| panic!("{word} was not heard: {why:?}"));
        assert_eq!(said.state_kind.as_deref(), Some(word));
        assert!(said.detail.ends_with(&format!("`{word}`: Tidy up; Half of it is done.")), "{}", said.detail);
        let row = house.row(session);
        assert_eq!(
            (row.state_kind.as_deref(), row.summary.as_deref()),
            (Some(word), Some("Half of it is done."))
        );
    }
}

#[test]
fn a_torn_status_file_is_read_again_and_a_malformed_one_is_a_problem() {
    let mut house = House::live();
    house.registry(7, A, "busy").write(A, prompt("go"));
    let path = format!("{CWD}/.claude/status.{A}.md");
    let whole = status("working", house.now);
    house.write_in_folder(&format!("status.{A}.md"), &whole[..20]);
    assert_eq!(house.problem_counts(), []);
    // The rest comes without a hint.
    house.stage.fs.write(&path, whole.as_bytes());
    house.stage.hints.take();
    house.at(0.3);
    let heard =
        |house: &House| house.engine.why(A).unwrap().evidence.iter().any(|w| w.source == "status_file");
    assert!(heard(&house));
    house.write_in_folder(&format!("status.{A}.md"), "no front matter");
    assert_eq!(house.problem_counts(), [("malformed_status_file".to_owned(), 1)]);
    assert!(!heard(&house), "what it said before is not what it says");
    house.stage.fs.remove(&path);
    house.catch_up();
    assert_eq!(house.problem_counts(), []);
    // A status file that stays torn is malformed in the end, and the engine stops waiting for it.
    house.write_in_folder(&format!("status.{A}.md"), "---\nstatus: wor");
    house.at(30.0);
    assert_eq!(house.problem_counts(), [("malformed_status_file".to_owned(), 1)]);
    assert!(
        house.engine.next_deadline().is_none_or(|due| due > house.now + Millis(1000)),
        "the polling ends"
    );
}
