//! Sends the roster to subscribers: first a snapshot, then the differences without a gap.
//!
//! The engine remembers the ids and versions that each subscriber has. Any number of changes between two messages gives
//! one difference. So a slow subscriber never gets more than the current roster.

use std::collections::HashSet;
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::limits::KnownLimit;
use watchbill_core::roster::row::Row;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::alert::Alert;
use watchbill_protocol::roster::{
    GroupCounts, PlanLimit, Problem, RosterDelta, RosterMessage, RosterSnapshot, TrackedSession, Upsert,
};

/// A published row. It gets a new version with each change.
#[derive(Debug, Clone)]
pub struct Published {
    /// The session of the row.
    pub id: SessionId,
    /// The revision at which it last changed.
    pub version: u64,
    /// The row. It is converted to the form of the protocol when it is sent, because most rows of a start are never
    /// sent.
    pub row: Arc<Row>,
}

impl Published {
    /// The row in the protocol's form.
    pub fn session(&self) -> TrackedSession {
        TrackedSession::from(&*self.row)
    }
}

/// The current state of one view, for subscribers.
#[derive(Debug)]
pub struct Current<'a> {
    /// Rises with every change.
    pub revision: u64,
    /// The engine's clock.
    pub now: Timestamp,
    /// Rows in order.
    pub rows: &'a [Published],
    /// All problems, sorted.
    pub problems: &'a Arc<[Problem]>,
    /// Whether the first scan still runs.
    pub reading: bool,
    /// The end of the user's mute.
    pub muted_until: Option<Timestamp>,
    /// The limits of plans.
    pub limits: &'a Arc<[KnownLimit]>,
}

/// Takes a message; returns `false` when the subscriber is gone.
pub type RosterSink = Box<dyn FnMut(RosterMessage) -> bool + Send>;

/// Takes an alert; returns `false` when the subscriber is gone.
pub type AlertSink = Box<dyn FnMut(Alert) -> bool + Send>;

/// How to serve a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Subscription {
    /// Include superseded, ended and long idle sessions.
    pub all: bool,
    /// The shortest time between two deltas. The first change is sent at once: this is a pause after sending, not a
    /// wait before it.
    pub pause: Millis,
    /// Hold the snapshot until the recently active sessions are read.
    pub wait_for_recent: bool,
    /// The most rows in the snapshot. The first delta, after the pause, has the rest. A window then shows its first
    /// rows before it gets two megabytes of hidden rows.
    pub first: Option<usize>,
}

/// One subscriber, and the state that it has got.
pub struct Subscriber {
    /// How it wants to be served.
    pub wants: Subscription,
    sink: RosterSink,
    sent: Option<Sent>,
}

struct Sent {
    revision: u64,
    at: Timestamp,
    rows: Vec<(SessionId, u64)>,
    /// `rows` holds all rows of that revision, not only the first ones.
    whole: bool,
    problems: Arc<[Problem]>,
    reading: bool,
    muted_until: Option<Timestamp>,
    limits: Arc<[KnownLimit]>,
}

/// The result of serving a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// It has everything.
    UpToDate,
    /// It will get the rest at this time.
    Later(Timestamp),
    /// It is gone.
    Gone,
}

impl Subscriber {
    /// A subscriber that has got nothing yet.
    pub fn new(wants: Subscription, sink: RosterSink) -> Self {
        Self { wants, sink, sent: None }
    }

    /// Sends a message that is not about the roster. Returns `false` if the subscriber is gone.
    pub fn tell(&mut self, message: RosterMessage) -> bool {
        (self.sink)(message)
    }

    /// Sends the snapshot, or the changes since the last message. During the pause, returns the time to send.
    pub fn serve(&mut self, current: &Current<'_>, now: Timestamp) -> Served {
        let mut here = current.rows.len();
        let message = match &self.sent {
            None => {
                here = here.min(self.wants.first.unwrap_or(here));
                RosterMessage::Snapshot(first_rows(current, here))
            }
            Some(sent) => {
                let due = sent.at + self.wants.pause;
                // If the clock went back, do not wait.
                if now < due && now >= sent.at {
                    return if sent.is_current(current) { Served::UpToDate } else { Served::Later(due) };
                }
                match sent.difference(current) {
                    None => return Served::UpToDate,
                    Some(delta) => RosterMessage::Delta(delta),
                }
            }
        };
        if !(self.sink)(message) {
            return Served::Gone;
        }
        self.sent = Some(Sent {
            revision: current.revision,
            at: now,
            rows: current.rows[..here].iter().map(|row| (row.id.clone(), row.version)).collect(),
            whole: here == current.rows.len(),
            problems: Arc::clone(current.problems),
            reading: current.reading,
            muted_until: current.muted_until,
            limits: Arc::clone(current.limits),
        });
        if here < current.rows.len() { Served::Later(now + self.wants.pause) } else { Served::UpToDate }
    }
}

/// The whole view as it leaves the process.
pub fn snapshot(current: &Current<'_>) -> RosterSnapshot {
    first_rows(current, current.rows.len())
}

/// The first `here` rows, and the counts of the others.
fn first_rows(current: &Current<'_>, here: usize) -> RosterSnapshot {
    let (first, rest) = current.rows.split_at(here);
    RosterSnapshot {
        revision: current.revision,
        generated_at: current.now.to_string(),
        sessions: first.iter().map(Published::session).collect(),
        problems: current.problems.to_vec(),
        reading: current.reading,
        muted_until: current.muted_until.map(|until| until.to_string()),
        limits: current.limits.iter().map(PlanLimit::from).collect(),
        rest: (!rest.is_empty()).then(|| GroupCounts::of(rest.iter().map(|published| &*published.row))),
    }
}

impl Sent {
    fn is_current(&self, current: &Current<'_>) -> bool {
        // A snapshot of the first rows has counts of the other rows. The subscriber needs a delta to replace these
        // counts.
        self.whole
            && (self.revision == current.revision
                || (self.reading == current.reading
                    && self.muted_until == current.muted_until
                    && *self.limits == **current.limits
                    && *self.problems == **current.problems
                    && self.rows.len() == current.rows.len()
                    && self
                        .rows
                        .iter()
                        .zip(current.rows)
                        .all(|(had, has)| had.0 == has.id && had.1 == has.version)))
    }

    /// The rows with a new version, and the rows that are gone. Unchanged rows keep their order, because the order
    /// follows from the fields of the rows. So one pass over both lists finds all differences.
    fn difference(&self, current: &Current<'_>) -> Option<RosterDelta> {
        if self.is_current(current) {
            return None;
        }
        let (mut upserts, mut had) = (Vec::new(), self.rows.iter());
        // Rows that the subscriber has, but that have changed or are gone.
        let mut otherwise: Vec<&SessionId> = Vec::new();
        for (index, row) in current.rows.iter().enumerate() {
            // If the subscriber has only the first rows, an unchanged row may be new to it.
            let unchanged = row.version <= self.revision
                && had.any(|(id, _)| {
                    let it = *id == row.id;
                    otherwise.extend((!it).then_some(id));
                    it
                });
            if !unchanged {
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                upserts.push(Upsert { index, session: row.session() });
            }
        }
        otherwise.extend(had.map(|(id, _)| id));
        let here: HashSet<&str> = upserts.iter().map(|upsert| &*upsert.session.session_id).collect();
        let removals =
            otherwise.into_iter().filter(|id| !here.contains(id.as_str())).map(ToString::to_string).collect();
        Some(RosterDelta {
            base: self.revision,
            revision: current.revision,
            generated_at: current.now.to_string(),
            upserts,
            removals,
            problems: (*self.problems != **current.problems).then(|| current.problems.to_vec()),
            reading: current.reading,
            muted_until: current.muted_until.map(|until| until.to_string()),
            limits: (*self.limits != **current.limits)
                .then(|| current.limits.iter().map(PlanLimit::from).collect()),
        })
    }
}
