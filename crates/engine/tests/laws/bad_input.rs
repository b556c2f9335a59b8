//! Bad files of all kinds: the problem names the file and the remedy, and everything else goes on.

use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::input::Input;
use watchbill_watch::fs::FileKind;
use watchbill_watch::hints::Hint;

use crate::house::{House, ROOT, registry_file, settings, snapshot, transcript};
use crate::records::{SessionWriter, registry, session};

fn author(n: usize) -> SessionWriter {
    SessionWriter::new(&session(n), "/repo")
}

/// A house with a healthy session beside the bad file: the session must be shown in any case.
fn house() -> House {
    let mut house = House::new();
    let line = author(0).prompt(house.number(), house.now);
    house.append(&author(0), &line);
    house.catch_up();
    house
}

/// A running engine and one that starts later report the same problems, each with a text; the healthy session is
/// unchanged.
fn check(house: &mut House, expected: &[(String, &str)]) {
    house.look_again();
    let found = house.problems();
    let named: Vec<(String, &str)> = found.iter().map(|p| (p.path.clone(), p.kind.as_str())).collect();
    assert_eq!(named, expected);
    assert!(found.iter().all(|problem| problem.detail.len() > 15 && problem.count > 0), "{found:?}");
    assert_eq!(snapshot(&house.cold().current(true)).problems, found);
    assert_eq!(house.row(author(0)).state, "working");
}

fn path(n: usize) -> String {
    transcript("p", &session(n)).to_string_lossy().into_owned()
}

#[test]
fn lines_that_are_no_records_are_counted_and_skipped() {
    let good = author(1).prompt(900, House::new().now);
    for (bad, kind, count) in [
        ("nonsense\n", "malformed_line", 1),
        ("{\"type\":\"user\",\n", "malformed_line", 1),
        ("[1,2]\n17\n\"text\"\nnull\n", "malformed_line", 4),
        ("\0\0\0\0\0\0\n", "malformed_line", 1),
    ] {
        let mut house = house();
        house.stage.fs.append(transcript("p", &session(1)), bad.as_bytes());
        house.append(&author(1), &good);
        check(&mut house, &[(path(1), kind)]);
        assert_eq!(house.problems()[0].count, count, "{bad:?}");
        assert_eq!(house.row(author(1)).goal.as_deref(), Some("prompt 900"));
    }
}

#[test]
fn invalid_utf8_is_replaced_and_the_record_counts() {
    let mut house = house();
    let line = author(1).prompt(900, house.now);
    let at = line.find("prompt 900").unwrap();
    let mut bytes = line.into_bytes();
    bytes[at] = 0xff;
    house.stage.fs.append(transcript("p", &session(1)), &bytes);
    check(&mut house, &[(path(1), "invalid_utf8")]);
    assert_eq!(house.row(author(1)).goal.as_deref(), Some("\u{fffd}rompt 900"));
}

#[test]
fn absurd_token_counts_are_capped_and_reported() {
    let mut house = house();
    let text = author(1).prompt(900, house.now) + &author(1).answer(901, house.now);
    house.append(&author(1), &text.replace(r#""input_tokens":10"#, r#""input_tokens":18446744073709551615"#));
    check(&mut house, &[(path(1), "absurd_tokens")]);
    assert_eq!(house.tokens(&author(1)), u64::from(u32::MAX));
}

#[test]
fn crlf_blank_lines_and_two_records_on_a_line_are_no_problem() {
    let mut house = house();
    let lines = author(1).prompt(900, house.now) + &author(1).answer(901, house.now);
    let text = format!("\n\r\n{}", lines.replace('\n', "\r\n"));
    let one_line = author(2).prompt(902, house.now).trim_end().to_owned() + &author(2).answer(903, house.now);
    house.append(&author(1), &text);
    house.append(&author(2), &one_line);
    house.catch_up();
    for n in [1, 2] {
        assert_eq!(house.row(author(n)).state, "waiting_for_input", "session {n}");
        assert_eq!(house.tokens(&author(n)), 10);
    }
    let expected: Vec<_> =
        house.problems().into_iter().filter(|problem| problem.kind != "malformed_line").collect();
    assert_eq!(expected, []);
}

#[test]
fn a_torn_last_line_is_no_problem_and_is_read_when_complete() {
    let mut house = house();
    let line = author(1).prompt(900, house.now);
    let (first, rest) = line.split_at(line.len() / 2);
    house.append(&author(1), first);
    house.catch_up();
    check(&mut house, &[]);
    assert_eq!(house.find(author(1)), None);
    house.append(&author(1), rest);
    house.catch_up();
    assert_eq!(house.row(author(1)).goal.as_deref(), Some("prompt 900"));
    check(&mut house, &[]);
}

#[test]
fn a_file_without_timed_records_is_no_session() {
    let mut house = house();
    house.stage.fs.append(transcript("p", &session(1)), b"");
    house.stage.fs.append(transcript("p", &session(2)), b"{\"type\":\"ai-title\",\"aiTitle\":\"x\"}\n");
    check(&mut house, &[]);
    assert_eq!(house.all().sessions.len(), 1);
    // With a process it is a session that is about to begin.
    house.run(7, "1");
    let text =
        registry(7, "1", &author(1), "idle", house.now - watchbill_core::time::Millis(5000), house.now);
    house.stage.fs.write(registry_file(7), text.as_bytes());
    house.catch_up();
    assert_eq!(house.row(author(1)).state, "waiting_for_input");
}

#[test]
fn a_line_of_ten_megabytes_is_read() {
    let mut house = house();
    let line = author(1).prompt(900, house.now).replace("prompt 900", &"y".repeat(10 << 20));
    house.append(&author(1), &line);
    house.catch_up();
    check(&mut house, &[]);
    assert!(house.row(author(1)).goal.unwrap().starts_with("yyy"));
}

/// The test denies access in memory: on a disk, tests that run as root may read everything.
#[test]
fn a_path_without_permission_is_a_problem_until_it_is_readable() {
    let mut house = house();
    let file = transcript("p", &session(1));
    let folder = format!("{ROOT}/projects/closed");
    let line = author(1).prompt(900, house.now);
    house.append(&author(1), &line);
    let inside = author(2).prompt(901, house.now);
    house.stage.fs.append(format!("{folder}/{}.jsonl", session(2)), inside.as_bytes());
    house.stage.fs.deny(&file, true);
    house.stage.fs.deny(&folder, true);
    house.catch_up();
    check(&mut house, &[(folder.clone(), "permission_denied"), (path(1), "permission_denied")]);
    assert_eq!(house.all().sessions.len(), 1, "no row is made of what is not known");
    // It is read again without further action, as the problem's text promises.
    house.stage.fs.deny(&file, false);
    house.stage.fs.deny(&folder, false);
    house.catch_up();
    assert_eq!(house.problems(), []);
    assert_eq!(house.row(author(1)).goal.as_deref(), Some("prompt 900"));
    assert_eq!(house.row(author(2)).goal.as_deref(), Some("prompt 901"));
}

#[test]
fn a_path_that_is_no_regular_file_is_a_problem_until_it_is_gone() {
    let mut house = house();
    let pipe = transcript("p", &session(1));
    let folder = transcript("p", &session(2));
    house.stage.fs.append(&pipe, b"");
    house.stage.fs.set_kind(&pipe, FileKind::Other);
    house.stage.fs.mkdir(&folder);
    house.stage.fs.append(registry_file(7), b"");
    house.stage.fs.set_kind(registry_file(7), FileKind::Other);
    house.catch_up();
    let registry = registry_file(7).to_string_lossy().into_owned();
    check(&mut house, &[(path(1), "not_a_file"), (path(2), "not_a_file"), (registry, "not_a_file")]);
    for path in [pipe, folder, registry_file(7)] {
        house.stage.fs.remove(path);
    }
    house.catch_up();
    assert_eq!(house.problems(), []);
    check(&mut house, &[]);
}

/// A scan has reported the problem; the hint of the removal names the file alone and starts no other scan.
#[test]
fn a_problem_from_a_scan_ends_with_the_hint_of_the_removal() {
    let mut house = house();
    let pipe = transcript("p", &session(1));
    house.stage.fs.append(&pipe, b"");
    house.stage.fs.set_kind(&pipe, FileKind::Other);
    house.look_again();
    check(&mut house, &[(path(1), "not_a_file")]);
    house.hint([Hint::File(pipe.clone())].into());
    check(&mut house, &[(path(1), "not_a_file")]);
    house.stage.fs.remove(&pipe);
    house.hint([Hint::File(pipe)].into());
    assert_eq!(house.problems(), []);
}

#[test]
fn a_missing_root_is_reported_and_read_when_it_appears() {
    let mut house = House::new();
    house.stage.fs.remove(ROOT);
    house.look_again();
    assert_eq!(house.problem(ROOT, "missing").map(|problem| problem.count), Some(1));
    let line = author(1).prompt(900, house.now);
    house.append(&author(1), &line);
    house.catch_up();
    assert_eq!(house.row(author(1)).state, "working");
    assert_eq!(house.problems(), []);
}

#[test]
fn key_files_are_never_opened() {
    let mut house = House::before_first_scan();
    let (world, notes) = house.counted();
    let sessions = format!("{ROOT}/sessions");
    house.stage.fs.write(format!("{sessions}/7.key"), b"secret");
    house.stage.fs.write(format!("{ROOT}/.credentials.json"), b"secret");
    house
        .stage
        .fs
        .write(registry_file(7), registry(7, "1", &author(1), "busy", house.now, house.now).as_bytes());
    house.engine = Engine::new(settings(), world.clone(), Outlook::LIVE, house.now);
    house.engine.read_registries(&mut house.out);
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    house.stage.fs.write(format!("{sessions}/7.key"), b"another");
    house.catch_up();
    house.hint([watchbill_watch::hints::Hint::Tree(ROOT.into())].into());
    let clock = watchbill_engine::clock::ManualClock::new(house.now);
    watchbill_engine::alone::single_look::look(settings(), world, Outlook::LIVE, &clock);
    let opened = notes.opened();
    assert!(opened.contains(&registry_file(7)), "the test sees what is opened");
    assert!(opened.iter().all(|path| path.extension().is_none_or(|ending| ending != "key")), "{opened:?}");
    assert!(opened.iter().all(|path| !path.ends_with(".credentials.json")));
}
