//! A subscriber that applies all its messages to its snapshot has the current roster, however seldom it was served.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::Engine;
use watchbill_engine::model::publish::{Subscriber, Subscription, snapshot};
use watchbill_protocol::event::{StoreEvent, StoreEvents, replay};
use watchbill_protocol::roster::{RosterDelta, RosterMessage, RosterSnapshot};

/// A subscriber that keeps its own copy, once by deltas and once by store events.
pub struct Reader {
    subscriber: Subscriber,
    all: bool,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    copy: Option<RosterSnapshot>,
    events: Option<StoreEvents>,
    replayed: Option<RosterSnapshot>,
}

impl Reader {
    /// Readers differ in their view, in their pause and in the number of rows they want at first.
    pub fn new(n: usize) -> Self {
        let all = n.is_multiple_of(2);
        let received = Arc::new(Mutex::new(Received::default()));
        let sink_state = Arc::clone(&received);
        let pause = Millis::from_secs([0, 10, 300][n % 3]);
        let first = [None, None, Some(1), Some(3)][n % 4];
        let wants = Subscription { all, pause, first, ..Subscription::default() };
        let sink = Box::new(move |message| {
            sink_state.lock().unwrap().apply_message(message);
            true
        });
        Self { subscriber: Subscriber::new(wants, sink), all, received }
    }

    pub fn serve(&mut self, engine: &Engine, now: Timestamp) {
        self.subscriber.serve(&engine.current(self.all), now);
    }

    /// After it has been served, its copies equal the roster.
    pub fn check(&mut self, engine: &Engine) -> Result<(), TestCaseError> {
        // A pause may hold the last message back until it ends.
        self.serve(engine, engine.now() + Millis::from_secs(86_400));
        let mut now = snapshot(&engine.current(self.all));
        let received = self.received.lock().unwrap();
        let (mut copy, mut replayed) = (received.copy.clone().unwrap(), received.replayed.clone().unwrap());
        // The time advances without a message, and a revision may change nothing for this reader.
        for snapshot in [&mut now, &mut copy, &mut replayed] {
            snapshot.generated_at.clear();
            snapshot.revision = 0;
        }
        prop_assert_eq!(&copy, &now);
        prop_assert_eq!(&replayed, &now);
        Ok(())
    }
}

impl Received {
    fn apply_message(&mut self, message: RosterMessage) {
        match message {
            RosterMessage::Snapshot(snapshot) => {
                assert!(self.copy.is_none(), "a snapshot is told once");
                // Store events are for the command line: it never limits its first rows, so it gets no counts of a
                // rest.
                let mut replayed = RosterSnapshot { rest: None, ..snapshot.clone() };
                let (events, first) = StoreEvents::new(&replayed);
                replay(&mut replayed, &first);
                (self.copy, self.events, self.replayed) = (Some(snapshot), Some(events), Some(replayed));
            }
            RosterMessage::Delta(delta) => {
                let events: Vec<StoreEvent> = self.events.as_mut().unwrap().delta(&delta);
                let replayed = self.replayed.as_mut().unwrap();
                events.iter().for_each(|event| replay(replayed, event));
                apply(self.copy.as_mut().unwrap(), delta);
            }
            RosterMessage::Select { .. } | RosterMessage::Stopped => {}
        }
    }
}

/// Applies a delta as the window does.
fn apply(copy: &mut RosterSnapshot, delta: RosterDelta) {
    assert_eq!(delta.base, copy.revision, "no delta is missing");
    let touched = |id: &String| {
        delta.removals.contains(id) || delta.upserts.iter().any(|u| u.session.session_id == *id)
    };
    copy.sessions.retain(|row| !touched(&row.session_id));
    for upsert in delta.upserts {
        copy.sessions.insert(upsert.index as usize, upsert.session);
    }
    if let Some(problems) = delta.problems {
        copy.problems = problems;
    }
    copy.revision = delta.revision;
    copy.reading = delta.reading;
    copy.rest = None;
    copy.generated_at = delta.generated_at;
}
