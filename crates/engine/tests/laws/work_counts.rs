//! How much work each event causes: counted, since tests cannot measure time reliably.

use std::collections::BTreeSet;
use std::sync::Arc;

use watchbill_core::time::Millis;
use watchbill_engine::engine::{Engine, Outlook, WorkCount};
use watchbill_engine::input::{Input, Output};
use watchbill_watch::hints::Hint;

use crate::counting_fs::Notes;
use crate::house::{House, registry_file, settings, transcript};
use crate::records::{SessionWriter, registry, session};

/// A house whose engine has a counting file system.
fn counted() -> (House, Arc<Notes>) {
    let mut house = House::before_first_scan();
    let (world, notes) = house.counted();
    house.engine = Engine::new(settings(), world, Outlook::LIVE, house.now);
    house.step(Input::ScanEnded(Vec::new()));
    (house, notes)
}

/// The work since `before`.
fn since(before: WorkCount, after: WorkCount) -> WorkCount {
    WorkCount {
        reads: after.reads - before.reads,
        bytes: after.bytes - before.bytes,
        records: after.records - before.records,
        rows: after.rows - before.rows,
        chains: after.chains - before.chains,
    }
}

/// Turns of a long session, about half a kilobyte each.
fn long_history(house: &mut House, author: &SessionWriter, turns: usize) -> String {
    let mut text = String::new();
    for _ in 0..turns {
        text += &author.prompt(house.number(), house.now);
        text += &author.answer(house.number(), house.now);
    }
    text
}

#[test]
fn an_append_costs_the_same_however_long_the_transcript_is() {
    let mut costs = Vec::new();
    for turns in [20, 12_000] {
        let (mut house, notes) = counted();
        // Neighbours in the same folder, which the append does not concern.
        for n in 1..20 {
            let neighbour = SessionWriter::new(&session(n), "/repo");
            let text = long_history(&mut house, &neighbour, 1);
            house.append(&neighbour, &text);
        }
        let author = SessionWriter::new(&session(0), "/repo");
        let text = long_history(&mut house, &author, turns);
        house.append(&author, &text);
        house.catch_up();
        house.look_again();

        let (before, read_before) = (house.engine.work(), notes.bytes());
        let line = author.call(house.number(), house.now);
        house.append(&author, &line);
        house.catch_up();
        let work = since(before, house.engine.work());
        assert_eq!(work, WorkCount { reads: 1, bytes: line.len() as u64, records: 1, rows: 1, chains: 0 });
        assert_eq!(house.row(&author).state, "working");
        let read = notes.bytes() - read_before - line.len() as u64;
        costs.push((text.len(), read));
    }
    let [(short, small), (long, large)] = costs[..] else { panic!() };
    assert!(long > 400 * short, "{short} and {long} bytes");
    assert_eq!(small, large, "what is read again to recognise the file has one size");
    assert!(large <= 8 << 10, "{large} bytes are more than two windows");
}

#[test]
fn a_hint_for_an_unchanged_file_reads_nothing() {
    let (mut house, notes) = counted();
    let author = SessionWriter::new(&session(0), "/repo");
    let text = long_history(&mut house, &author, 50);
    house.append(&author, &text);
    house.catch_up();
    let (before, read) = (house.engine.work(), notes.bytes());
    let revision = house.all().revision;
    for _ in 0..10 {
        house.hint(BTreeSet::from([Hint::File(transcript("p", &author.session))]));
    }
    let work = since(before, house.engine.work());
    assert_eq!((work.bytes, work.records, work.rows, work.chains), (0, 0, 0, 0));
    assert_eq!(notes.bytes(), read);
    assert_eq!(house.all().revision, revision, "and no subscriber gets anything");
}

#[test]
fn a_second_look_at_everything_reads_no_transcript() {
    let (mut house, notes) = counted();
    for n in 0..200 {
        let author = SessionWriter::new(&session(n), "/repo");
        let text = long_history(&mut house, &author, 2);
        house.append(&author, &text);
    }
    house.look_again();
    let (before, read) = (house.engine.work(), notes.bytes());
    house.look_again();
    let work = since(before, house.engine.work());
    assert_eq!((work.bytes, work.records, work.rows, work.chains), (0, 0, 0, 0));
    assert_eq!(notes.bytes(), read);
}

#[test]
fn a_change_of_status_resolves_no_chains() {
    let (mut house, _) = counted();
    let author = SessionWriter::new(&session(0), "/repo");
    house.run(7, "1");
    let write = |house: &House, status: &str| {
        let text = registry(7, "1", &author, status, house.now, house.now);
        house.stage.fs.write(registry_file(7), text.as_bytes());
    };
    let line = author.prompt(house.number(), house.now);
    house.append(&author, &line);
    write(&house, "idle");
    house.catch_up();
    let before = house.engine.work();
    write(&house, "busy");
    house.catch_up();
    assert_eq!(since(before, house.engine.work()), WorkCount { rows: 1, ..WorkCount::default() });
    assert_eq!(house.row(&author).state, "working");
}

#[test]
fn two_thousand_idle_sessions_cost_no_wake_up() {
    let mut house = House::new();
    for n in 0..2000 {
        let author = SessionWriter::new(&session(n), &format!("/repo/{}", n % 40));
        let text = author.prompt(house.number(), house.now) + &author.answer(house.number(), house.now);
        house.append(&author, &text);
    }
    house.catch_up();
    // A session is idle ten minutes after its last record. Silence changes nothing more until it leaves the default
    // roster a day later.
    house.wait(Millis::from_secs(3600));
    assert_eq!(house.all().sessions.len(), 2000);
    let next = house.engine.next_deadline().unwrap();
    assert!(next.since(house.now) > Millis::from_secs(22 * 3600), "{next} is too soon after {}", house.now);
    let before = house.engine.work();
    house.wait(Millis::from_secs(20 * 3600));
    assert_eq!(house.engine.work(), before, "nothing is done for hours");
    house.wait(Millis::from_secs(4 * 3600));
    assert_eq!(house.engine.next_deadline(), None, "and nothing is waited for any more");
    let shown = watchbill_engine::model::publish::snapshot(&house.engine.current(false)).sessions.len();
    assert_eq!((shown, house.all().sessions.len()), (0, 2000));
}

#[test]
fn a_crashed_process_without_a_transcript_leaves_no_deadline() {
    let mut house = House::new();
    let author = SessionWriter::new(&session(0), "/repo");
    house.run(7, "1");
    let text = registry(7, "1", &author, "idle", house.now, house.now);
    house.stage.fs.write(registry_file(7), text.as_bytes());
    house.catch_up();
    assert_eq!(house.find(&author), None, "a second must pass first");
    house.wait(Millis::from_secs(2));
    assert_eq!(house.row(&author).state, "waiting_for_input");
    house.kill(7, "1");
    assert_eq!(house.engine.next_deadline(), None);
}

#[test]
fn a_huge_append_is_read_in_steps_and_delays_no_other_session() {
    let (mut house, _) = counted();
    let (huge, small) = (SessionWriter::new(&session(0), "/repo"), SessionWriter::new(&session(1), "/repo"));
    let mut text = long_history(&mut house, &huge, 1);
    let line = huge.prompt(house.number(), house.now);
    text += &line.replace("prompt", &"x".repeat(9 << 20));
    house.append(&huge, &text);
    let line = small.prompt(house.number(), house.now);
    house.append(&small, &line);
    let hints = house.stage.hints.take();
    house.step(Input::Hints(hints));
    let again: Vec<_> = house.out.iter().filter(|output| matches!(output, Output::Again(_))).collect();
    assert_eq!(again.len(), 1, "the rest has to be asked for");
    assert_eq!(house.row(&small).state, "working", "others are served meanwhile");
    assert!(house.engine.work().bytes < 6 << 20);
    house.hint(BTreeSet::from([Hint::File(transcript("p", &huge.session))]));
    assert_eq!(house.engine.work().bytes, (text.len() + line.len()) as u64);
    assert_eq!(house.row(&huge).state, "working");
}

#[test]
fn bytes_appended_during_the_first_scan_are_read_before_its_end() {
    let mut house = House::before_first_scan();
    let author = SessionWriter::new(&session(1), "/repo");
    house.append(&author, &author.prompt(1, house.now));
    let path = transcript("p", &author.session);
    let place = watchbill_agents::layout::classify(path.strip_prefix(crate::house::ROOT).unwrap()).unwrap();
    let terms = watchbill_engine::transcripts::LoadOptions::default();
    let loaded = watchbill_engine::transcripts::load(
        &house.stage.fs,
        path.clone(),
        place,
        terms,
        &mut Vec::new(),
        &|| true,
    );
    house.append(&author, &author.answer(2, house.now));
    house.catch_up();
    let from = house.out.len();
    house.step(Input::Loaded(vec![loaded]));
    let again = Output::Again(vec![path]);
    assert!(house.out[from..].contains(&again), "no row waits for the end of the scan");
}
