//! Status files: the document's format, half-written ones and wrong ones.

use proptest::prelude::*;
use watchbill_core::status_file::{
    STATUS_FILE_TTL, Status, StatusFileError, StatusWitness, parse_status_file,
};
use watchbill_core::time::Timestamp;

const GOOD: &str = "---\nstatus: working\nupdated: 2026-01-11T18:00:00Z\ntask: Implementing feature X\n---\n\n## Summary\nWorking on the authentication module.\n";

#[test]
fn the_documents_example_is_read() {
    let file = parse_status_file(GOOD.as_bytes()).expect("a status");
    assert_eq!(file.status, Status::Working);
    assert_eq!(file.updated, Timestamp::parse("2026-01-11T18:00:00Z"));
    assert_eq!(file.task.as_deref(), Some("Implementing feature X"));
    assert_eq!(file.summary.as_deref(), Some("Working on the authentication module."));
}

#[test]
fn all_seven_words_are_known_and_no_other() {
    for word in
        ["working", "waiting_for_approval", "waiting_for_input", "completed", "error", "blocked", "idle"]
    {
        let file = parse_status_file(format!("---\nstatus: {word}\n---\n").as_bytes()).expect("a status");
        assert_eq!(file.status.as_str(), word);
        assert!(file.status.state().is_some(), "{word}");
    }
    let file = parse_status_file(b"---\nstatus: pondering\n---\n").expect("a status");
    assert_eq!((file.status.as_str(), file.status.state()), ("pondering", None));
}

#[test]
fn flat_yaml_keys_are_read_in_every_form() {
    for (front, task) in [
        ("task: 'it''s done'", "it's done"),
        ("task: \"say \\\"hi\\\"\"  # a comment", "say \"hi\""),
        ("task: plain # a comment", "plain"),
        ("task: http://example.test/#x", "http://example.test/#x"),
        ("task: |\n  first\n  second", "first second"),
        ("task: >-\n  folded\n  text\nother: x", "folded text"),
        ("tags:\n  - a\n  - b\n# a comment\n\nmap: {a: b}\ntask: after", "after"),
        ("\"task\": quoted key", "quoted key"),
    ] {
        let text = format!("---\r\nstatus: idle\r\n{front}\r\n---\r\n");
        let file = parse_status_file(text.as_bytes()).unwrap_or_else(|error| panic!("{front}: {error}"));
        assert_eq!(file.task.as_deref(), Some(task), "{front}");
        assert_eq!(file.status, Status::Idle, "{front}");
    }
    let none =
        parse_status_file(b"\xef\xbb\xbf---\nstatus: 'error'\ntask:\nupdated: yesterday\n---\nno summary")
            .expect("a status");
    assert_eq!((none.status, none.updated, none.task, none.summary), (Status::Error, None, None, None));
}

#[test]
fn every_beginning_of_a_file_is_torn_until_the_front_matter_is_closed() {
    let closed = GOOD.find("\n---\n").expect("a front matter") + 4;
    for cut in 0..closed {
        assert_eq!(parse_status_file(&GOOD.as_bytes()[..cut]), Err(StatusFileError::Torn), "cut at {cut}");
    }
    for cut in closed..GOOD.len() {
        assert!(parse_status_file(&GOOD.as_bytes()[..cut]).is_ok(), "cut at {cut}");
    }
}

#[test]
fn wrong_files_are_refused_with_a_reason() {
    for (text, error) in [
        ("# Notes\nstatus: working\n", StatusFileError::NoFrontMatter),
        ("---\ntask: x\n---\n", StatusFileError::NoStatus),
        ("---\nstatus:\n---\n", StatusFileError::NoStatus),
        ("---\nstatus: working\n{oops\n---\n", StatusFileError::NotYaml { line: 3 }),
        ("---\nstatus=working\n---\n", StatusFileError::NotYaml { line: 2 }),
    ] {
        assert_eq!(parse_status_file(text.as_bytes()), Err(error), "{text}");
    }
}

#[test]
fn it_counts_for_five_minutes_even_with_a_wrong_clock() {
    let now = Timestamp::parse("2026-01-11T18:01:00Z").expect("a time");
    let file = parse_status_file(GOOD.as_bytes()).expect("a status");
    let witness = StatusWitness { file: file.clone(), modified: now };
    assert_eq!(witness.until(now), Timestamp::parse("2026-01-11T18:05:00Z").expect("a time"));
    let early = Timestamp::parse("2026-01-11T17:00:00Z").expect("a time");
    let ahead = StatusWitness { modified: early, ..witness };
    assert_eq!(ahead.until(now), early + STATUS_FILE_TTL);
    let untimed = StatusWitness {
        file: watchbill_core::status_file::StatusFile { updated: None, ..file },
        modified: early,
    };
    assert_eq!(untimed.until(now), early + STATUS_FILE_TTL);
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), front in "[a-z:|> \n'\"#-]{0,80}") {
        let _ = parse_status_file(&bytes);
        let _ = parse_status_file(format!("---\n{front}\n---\n").as_bytes());
    }
}
