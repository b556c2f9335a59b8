//! A window gets its first rows at once with counts of the others, and gets the others a moment later.

use std::sync::{Arc, Mutex};

use watchbill_core::time::Millis;
use watchbill_engine::model::publish::{Served, Subscriber, Subscription, snapshot};
use watchbill_protocol::roster::{GroupCounts, RosterDelta, RosterMessage, RosterSnapshot};
use watchbill_protocol::status::Status;

use crate::house::{House, transcript};
use crate::records::{SessionWriter, session};

const PAUSE: Millis = Millis(50);

/// Six sessions: four wait for the user's next prompt, two are at work.
fn house() -> House {
    let mut house = House::new();
    for n in 0..6 {
        let author = SessionWriter::new(&session(n), "/repo");
        let mut text = author.prompt(house.number(), house.now);
        if n % 3 != 0 {
            text += &author.answer(house.number(), house.now);
        }
        house.append(&author, &text);
    }
    house.catch_up();
    house
}

/// A subscriber of all sessions that wants that many rows at first, and its messages.
fn subscriber(first: usize) -> (Subscriber, Arc<Mutex<Vec<RosterMessage>>>) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink_messages = Arc::clone(&messages);
    let wants = Subscription { all: true, pause: PAUSE, first: Some(first), ..Subscription::default() };
    let sink = move |message| {
        sink_messages.lock().unwrap().push(message);
        true
    };
    (Subscriber::new(wants, Box::new(sink)), messages)
}

fn counts(snapshot: &RosterSnapshot) -> GroupCounts {
    let Status { needs_you, working, your_turn, idle, .. } = Status::from(snapshot);
    GroupCounts { needs_you, working, your_turn, idle }
}

#[test]
fn the_rest_is_counted_at_once_and_comes_after_the_pause() {
    let house = house();
    let whole = snapshot(&house.engine.current(true));
    let (mut subscriber, messages) = subscriber(2);
    let due = house.now + PAUSE;
    assert_eq!(subscriber.serve(&house.engine.current(true), house.now), Served::Later(due));
    assert_eq!(subscriber.serve(&house.engine.current(true), house.now), Served::Later(due));
    let later = RosterSnapshot { sessions: whole.sessions[2..].to_vec(), ..whole.clone() };
    let first = RosterSnapshot {
        sessions: whole.sessions[..2].to_vec(),
        rest: Some(counts(&later)),
        ..whole.clone()
    };
    assert_eq!(*messages.lock().unwrap(), [RosterMessage::Snapshot(first)]);

    assert_eq!(subscriber.serve(&house.engine.current(true), due), Served::UpToDate);
    assert_eq!(subscriber.serve(&house.engine.current(true), due), Served::UpToDate);
    let messages = messages.lock().unwrap();
    let [_, RosterMessage::Delta(RosterDelta { base, revision, upserts, removals, .. })] = &messages[..]
    else {
        panic!("{messages:?}")
    };
    assert_eq!((*base, *revision, &removals[..]), (whole.revision, whole.revision, &[][..]));
    let places: Vec<_> = upserts.iter().map(|upsert| upsert.index as usize).collect();
    assert_eq!(places, (2..whole.sessions.len()).collect::<Vec<_>>());
    assert!(upserts.iter().map(|upsert| &upsert.session).eq(&later.sessions));
}

#[test]
fn a_row_that_is_removed_before_the_rest_comes_is_not_sent() {
    let mut house = house();
    let rows = snapshot(&house.engine.current(true)).sessions;
    let (mut subscriber, messages) = subscriber(rows.len() - 1);
    let due = house.now + PAUSE;
    assert_eq!(subscriber.serve(&house.engine.current(true), house.now), Served::Later(due));
    house.stage.fs.remove(transcript("p", &rows[rows.len() - 1].session_id));
    house.catch_up();
    assert_eq!(snapshot(&house.engine.current(true)).sessions, rows[..rows.len() - 1]);
    assert_eq!(subscriber.serve(&house.engine.current(true), house.now), Served::Later(due));
    assert_eq!(subscriber.serve(&house.engine.current(true), due), Served::UpToDate);
    let messages = messages.lock().unwrap();
    let [RosterMessage::Snapshot(first), RosterMessage::Delta(delta)] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert!(first.rest.is_some(), "one more was to come");
    assert_eq!((&delta.upserts[..], &delta.removals[..]), (&[][..], &[][..]));
}

#[test]
fn a_subscriber_whose_limit_covers_all_rows_gets_them_at_once() {
    let house = house();
    let whole = snapshot(&house.engine.current(true));
    let (mut subscriber, messages) = subscriber(whole.sessions.len());
    assert_eq!(subscriber.serve(&house.engine.current(true), house.now), Served::UpToDate);
    assert_eq!(*messages.lock().unwrap(), [RosterMessage::Snapshot(whole)]);
}
