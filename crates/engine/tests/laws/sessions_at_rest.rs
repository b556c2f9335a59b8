//! Sessions at rest after a start: the engine makes their rows late, and the final roster is the same.

use std::collections::BTreeSet;
use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::session::snapshot::to_bytes;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_core::user::SessionCommand;
use watchbill_engine::input::{Input, Output};
use watchbill_engine::persist::stored_transcript::StoredTranscript;
use watchbill_protocol::roster::TrackedSession;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::fs::Fs;
use watchbill_watch::hints::Hint;

use crate::house::{House, snapshot, transcript};
use crate::records::{SessionWriter, session};

/// A house with a store and four sessions, three of them two days old, right after a restart.
fn started_again() -> (House, Vec<SessionWriter>) {
    let mut house = House::new();
    house.attach_store();
    let authors: Vec<SessionWriter> = (1..=4).map(|n| SessionWriter::new(&session(n), "/repo")).collect();
    for (n, author) in (0..).zip(&authors) {
        if n == 3 {
            house.wait(Millis::from_secs(2 * 24 * 3_600));
        }
        let at = house.now;
        house.append(author, &(author.prompt(10 * n, at) + &author.answer(10 * n + 1, at)));
        house.catch_up();
    }
    house.reboot();
    (house, authors)
}

fn shown(house: &House) -> Vec<String> {
    snapshot(&house.engine.current(false)).sessions.into_iter().map(|row| row.session_id).collect()
}

fn store(house: &House) -> Store {
    Store::open(house.memory.as_ref().unwrap().folder.path(), OpenMode::Read).unwrap()
}

/// The number of stored state changes of each session.
fn transitions(house: &House, authors: &[SessionWriter]) -> Vec<usize> {
    let store = store(house);
    let of = |author: &SessionWriter| {
        let key = store.session_key(&SessionId::new(&author.session)).unwrap().unwrap();
        store.transitions(key, 100).unwrap().len()
    };
    authors.iter().map(of).collect()
}

fn as_if_cold(house: &House) -> Vec<TrackedSession> {
    snapshot(&house.cold().current(true)).sessions
}

#[test]
fn rows_of_sessions_at_rest_are_made_after_the_first_scan() {
    let (mut house, authors) = started_again();
    assert_eq!(shown(&house), [authors[3].session.clone()]);
    assert_eq!((house.engine.work().rows, house.engine.count_all()), (1, 4));
    let before = transitions(&house, &authors);
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.all().sessions, as_if_cold(&house));
    assert_eq!((house.engine.work().rows, house.engine.count_all()), (4, 4));
    assert_eq!(transitions(&house, &authors), before, "nothing has happened to them");
}

#[test]
fn sessions_at_rest_get_their_rows_one_by_one_while_others_work() {
    let (mut house, authors) = started_again();
    house.slow_scans = true;
    house.engine.take_changes();
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!((house.engine.work().rows, house.engine.is_waking()), (1, true));
    let before = transitions(&house, &authors);
    house.step(Input::Wake(1));
    assert_eq!((house.engine.work().rows, house.all().sessions.len()), (2, 2));
    // One of them gets a new record meanwhile: that is published and stored.
    house.append(&authors[0], &authors[0].prompt(60, house.now));
    house.hint([Hint::File(transcript("p", &authors[0].session))].into());
    assert_eq!((shown(&house).len(), house.engine.count_all()), (2, 4));
    house.step(Input::Wake(1));
    assert_eq!((house.engine.work().rows, house.engine.is_waking()), (4, true));
    assert_eq!(transitions(&house, &authors), before, "its earlier state was unknown");
    house.step(Input::Wake(1));
    assert_eq!((house.engine.work().rows, house.engine.is_waking()), (4, false));
    assert_eq!(house.all().sessions, as_if_cold(&house));
    let stored = |id: &str| {
        let store = store(&house);
        let key = store.session_key(&SessionId::new(id)).unwrap().unwrap();
        store.session_of(key).unwrap().unwrap()
    };
    assert_eq!(stored(&authors[0].session).state.as_deref(), Some("working"));
    assert_eq!(stored(&authors[2].session).state.as_deref(), Some("ended"));
}

#[test]
fn a_query_for_all_sessions_makes_all_rows_and_stores_nothing_again() {
    let (mut house, _) = started_again();
    house.engine.take_changes();
    house.engine.wake_all();
    assert_eq!(house.all().sessions, as_if_cold(&house));
    assert!(house.engine.take_changes().rows.is_empty());
}

#[test]
fn an_event_ends_the_rest_of_its_session_only() {
    let (mut house, authors) = started_again();
    house.append(&authors[1], &authors[1].prompt(50, house.now));
    house.catch_up();
    assert_eq!(shown(&house).len(), 2);
    assert!(house.engine.count_all() > shown(&house).len(), "the other two rest on");
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(house.all().sessions, as_if_cold(&house));
}

#[test]
fn one_look_for_the_default_roster_shows_what_a_look_at_everything_shows() {
    let (house, _) = started_again();
    let recent = house.look_at_default_roster();
    let whole = house.warm();
    let (few, all) = (snapshot(&recent.current(false)), snapshot(&whole.current(false)));
    assert_eq!((few.sessions, few.problems), (all.sessions, all.problems));
    assert_eq!(recent.count_all(), whole.count_all());
    assert_eq!((recent.work().rows, recent.work().bytes), (1, 0));
    assert!(whole.work().rows >= 4);
}

#[test]
fn a_shown_session_has_its_chain_also_with_members_at_rest() {
    let (mut house, authors) = started_again();
    house.step(Input::ScanEnded(Vec::new()));
    let (fork, at) = (SessionWriter::new(&session(5), "/repo"), house.now);
    let origin = house.stage.fs.read_small(&transcript("p", &authors[0].session), 1 << 20).unwrap();
    let copied = fork.fork(&authors[0], &String::from_utf8(origin).unwrap());
    house.append(&fork, &(copied + &fork.prompt(60, at)));
    house.catch_up();
    let id = |author: &SessionWriter| SessionId::new(&author.session);
    for (later, earlier) in [(3, 1), (2, 0)] {
        let joined = SessionCommand::Join { session: id(&authors[later]), with: id(&authors[earlier]) };
        house.engine.apply_command(at, &joined).unwrap();
        house.step(Input::Deadline);
    }
    // No engine has stored the record that ends this one's rest.
    house.append(&authors[2], &authors[2].prompt(70, at));
    let recent = house.look_at_default_roster();
    let whole = house.warm();
    let (few, all) = (snapshot(&recent.current(false)), snapshot(&whole.current(false)));
    assert_eq!(few.sessions, all.sessions);
    assert_eq!(recent.work().rows, 3, "the others rest on");
    let chain = |author: &SessionWriter| whole.row(&id(author)).unwrap().work_chain_id;
    assert_eq!(chain(&authors[3]), chain(&authors[1]));
    assert_eq!(chain(&authors[2]), chain(&authors[0]));
    assert_ne!(chain(&fork), chain(&authors[0]));
    let tokens = |author: &SessionWriter| recent.row(&id(author)).unwrap().tokens.unwrap().input;
    assert_eq!(tokens(&fork), 0, "what it copied counts where it is from");
    // If a caller asks for all sessions later, each gets its row.
    let mut recent = recent;
    recent.wake_all();
    assert_eq!(snapshot(&recent.current(true)).sessions, snapshot(&whole.current(true)).sessions);
}

/// Changes a session's stored state so that only its front can be read; the checksum still fits.
fn without_body(head: &[u8], id: &str) -> Vec<u8> {
    let mut kept = StoredTranscript::from_bytes(head).unwrap();
    let fold = LazyFold::restore(&kept.fold, &SessionId::new(id), Timeouts::default()).unwrap();
    let front = (
        fold.lineage(),
        fold.lineage_revision(),
        fold.requests(),
        fold.created_at(),
        fold.last_activity_at(),
    );
    kept.fold = to_bytes(&front).into();
    kept.to_bytes()
}

/// A house that started again from a store in which only the fronts can be read.
fn with_fronts_alone() -> (House, Vec<SessionWriter>) {
    let (mut house, authors) = started_again();
    let folder = house.end().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut heads = Vec::new();
    store.states(&mut |path, head| heads.push((path.to_owned(), head.to_vec()))).unwrap();
    let mut step = store.step().unwrap();
    for (path, head) in heads {
        let id = Path::new(&path).file_stem().unwrap().to_str().unwrap().to_owned();
        step.put_state(&path, &id, &without_body(&head, &id), None, false).unwrap();
    }
    step.commit().unwrap();
    drop(store);
    house.boot_with(folder);
    (house, authors)
}

/// The files that the engine asks to read again.
fn asked_again(out: &[Output]) -> BTreeSet<Hint> {
    let again = out.iter().filter_map(|out| match out {
        Output::Again(paths) => Some(paths.clone()),
        _ => None,
    });
    again.flatten().map(Hint::File).collect()
}

#[test]
fn an_unreadable_stored_state_is_read_anew_when_all_sessions_are_asked_for() {
    let (mut house, _) = with_fronts_alone();
    let again = asked_again(&house.engine.wake_all());
    assert_eq!(again.len(), 3, "the fourth is shown");
    house.hint(again.into_iter().chain(asked_again(&house.out)).collect());
    assert_eq!(house.all().sessions, as_if_cold(&house));
}

#[test]
fn an_unreadable_stored_state_is_read_anew_from_the_transcript() {
    let (mut house, authors) = with_fronts_alone();
    // One grows; the others are only rescanned.
    house.append(&authors[1], &authors[1].prompt(50, house.now));
    house.catch_up();
    house.step(Input::ScanEnded(Vec::new()));
    house.hint(asked_again(&house.out));
    assert_eq!(house.all().sessions, as_if_cold(&house));
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.all().sessions, as_if_cold(&house), "and is kept as it is");
}
