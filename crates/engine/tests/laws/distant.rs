//! One look for the default roster keeps nothing of sessions that the roster does not show or need. The result shows
//! no difference.

use std::path::PathBuf;

use proptest::prelude::*;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::alone::single_look::{look as look_at_all, look_at_recent};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_protocol::roster::{Problem, TrackedSession};

use crate::house::{House, agent, registry_file, settings, snapshot, transcript};
use crate::interleavings::{History, Op, op};
use crate::records::{SessionWriter, marker, registry, session};

const DAY: Millis = Millis::from_secs(24 * 3_600);

/// The default roster, its problems, and the number of sessions with a row.
fn shown(engine: &Engine) -> (Vec<TrackedSession>, Vec<Problem>, usize) {
    let roster = snapshot(&engine.current(false));
    (roster.sessions, roster.problems, engine.count_all())
}

/// A look for the default roster shows the same as a look at everything, with a store and without one.
pub fn shows_what_a_look_at_everything_shows(house: &House) -> Result<(), TestCaseError> {
    let all = house.cold();
    let mut few = house.cold_look_at_default_roster();
    prop_assert_eq!(shown(&few), shown(&all));
    if house.memory.is_some() {
        prop_assert_eq!(shown(&house.look_at_default_roster()), shown(&house.warm()));
    }
    // If a caller asks for all sessions later, each gets its row.
    few.wake_all();
    prop_assert_eq!(snapshot(&few.current(true)).sessions, snapshot(&all.current(true)).sessions);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_look_for_the_default_roster_shows_what_a_look_at_everything_shows(
        before in prop::collection::vec(op(), 1..40),
        after in prop::collection::vec(op(), 0..12),
        remembers in any::<bool>(),
    ) {
        let mut history = History::new();
        if remembers {
            history.house.attach_store();
        }
        for op in before.iter().chain([&Op::Wait { secs: 90_000 }]).chain(&after) {
            history.act(op);
        }
        history.end();
        shows_what_a_look_at_everything_shows(&history.house)?;
    }
}

/// The transcripts that a look for the default roster opens, in order, and the resulting engine.
fn look(house: &House) -> (Vec<PathBuf>, Engine) {
    let (world, notes) = house.counted();
    let engine = look_at_recent(settings(), world, Outlook::LIVE, &ManualClock::new(house.now));
    let mut opened = notes.opened();
    opened.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    opened.sort();
    (opened, engine)
}

#[test]
fn a_marker_ties_sessions_also_in_a_look_at_a_past_time() {
    let (mut house, authors) = old_house();
    let heir = SessionWriter::new(&session(902), "/repo/2");
    let path = format!("/repo/2/.claude/compacted.{}.marker", heir.session);
    house.stage.fs.write(path, marker(&heir.session, "/repo/2", house.now).as_bytes());
    house.append(&heir, &(heir.prompt(9_001, house.now) + &heir.answer(9_002, house.now)));
    house.wait(Millis::from_secs(60));
    let (outlook, clock) = (Outlook { live: false, until: Some(house.now) }, ManualClock::new(house.now));
    let few = look_at_recent(settings(), house.stage.world(), outlook, &clock);
    let all = look_at_all(settings(), house.stage.world(), outlook, &clock);
    assert_eq!(shown(&few), shown(&all));
    let row = few.row(&SessionId::new(&heir.session)).unwrap();
    let chain = few.chains().of(&row.session_id).unwrap();
    assert_eq!(chain.sessions[0], SessionId::new(&authors[192].session), "the last that was active there");
}

/// A house in which two hundred sessions have worked, each with a subagent, and ended two days ago.
fn old_house() -> (House, Vec<SessionWriter>) {
    let mut house = House::new();
    let authors: Vec<SessionWriter> =
        (0..200).map(|n| SessionWriter::new(&session(n), &format!("/repo/{}", n % 10))).collect();
    for author in &authors {
        let (prompt, answer) = (house.number(), house.number());
        let at = house.now;
        house.append(author, &(author.prompt(prompt, at) + &author.answer(answer, at)));
        let text = author.answer(house.number(), at);
        house.stage.fs.append(agent("p", &author.session, "a1"), text.as_bytes());
        house.now = house.now + Millis::from_secs(60);
        house.stage.fs.set_now(house.now);
    }
    house.wait(Millis(2 * DAY.0));
    (house, authors)
}

#[test]
fn files_of_sessions_that_are_not_shown_are_read_once_and_not_kept() {
    let (house, authors) = old_house();
    let author = SessionWriter::new(&session(900), "/repo/1");
    house.append(&author, &author.prompt(9_000, house.now));
    let (opened, engine) = look(&house);
    let mut files: Vec<PathBuf> = authors
        .iter()
        .flat_map(|author| [transcript("p", &author.session), agent("p", &author.session, "a1")])
        .chain([transcript("p", &author.session)])
        .collect();
    files.sort();
    assert_eq!(opened, files);
    let work = engine.work();
    assert_eq!((work.reads, work.rows, engine.count_all()), (401, 1, 201));
    assert_eq!(engine.known_files().len(), 1, "one transcript is held");
    assert_eq!(engine.chains().len(), 1);
    let bytes: u64 = files.iter().map(|file| house.stage.fs.bytes(file).unwrap().len() as u64).sum();
    assert_eq!(work.bytes, bytes);
}

#[test]
fn sessions_that_a_shown_session_may_be_tied_to_are_read_once_more() {
    let (mut house, authors) = old_house();
    let now = house.now;
    // The first session has a fork, the second has a running process, and the third was compacted into a session that
    // has just begun.
    let fork = SessionWriter::new(&session(900), "/repo/0");
    let history = house.stage.fs.bytes(transcript("p", &authors[0].session)).unwrap();
    let copied = fork.fork(&authors[0], &String::from_utf8(history).unwrap());
    house.append(&fork, &(copied + &fork.prompt(9_000, now)));
    house.run(7, "1");
    let text = registry(7, "1", &authors[1], "idle", now, now);
    house.stage.fs.write(registry_file(7), text.as_bytes());
    let heir = SessionWriter::new(&session(902), "/repo/2");
    let path = format!("/repo/2/.claude/compacted.{}.marker", heir.session);
    house.stage.fs.write(path, marker(&heir.session, "/repo/2", now).as_bytes());
    house.append(&heir, &(heir.prompt(9_001, now) + &heir.answer(9_002, now)));
    // Two other files hold a bad line.
    house.append(&authors[8], "this is no record\n");
    house.append(&authors[1], "nor is this\n");
    house.wait(Millis::from_secs(1));

    let (opened, engine) = look(&house);
    let times = |author: &SessionWriter| {
        let path = transcript("p", &author.session);
        opened.iter().filter(|opened| **opened == path).count()
    };
    // All sessions of the marker's folder are read again; the compacted session is one of them.
    let read_again = |n: usize| n <= 1 || n % 10 == 2;
    for (n, author) in authors.iter().enumerate() {
        assert_eq!(times(author), if read_again(n) { 2 } else { 1 }, "session {n}");
    }
    assert_eq!((times(&fork), times(&heir)), (1, 1));
    let told = shown(&engine);
    assert_eq!(told, shown(&house.cold()));
    let ids: Vec<&str> = told.0.iter().map(|row| &*row.session_id).collect();
    assert!([&fork, &heir, &authors[1]].iter().all(|author| ids.contains(&&*author.session)), "{ids:?}");
    assert_eq!(told.1.len(), 2, "{:?}", told.1);
    assert!(told.1.iter().all(|problem| problem.count == 1), "{:?}", told.1);
    let tokens = |author: &SessionWriter| {
        let row = told.0.iter().find(|row| row.session_id == author.session).unwrap();
        row.tokens.unwrap().input
    };
    assert_eq!(tokens(&fork), 0, "what it copied counts where it is from");
    assert_eq!(tokens(&authors[1]), 20, "its own request and its subagent's");
}
