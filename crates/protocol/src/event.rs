//! `watch --json`: store events, one object a line, and how a reader replays them.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::request::Request;
use crate::roster::{Group, PlanLimit, Problem, RosterDelta, RosterSnapshot, TrackedSession};

/// One line of `watch --json`.
///
/// Replaying the events over the snapshot gives the next `roster --json`: see [`replay`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum StoreEvent {
    /// The first line: the whole roster.
    Snapshot(RosterSnapshot),
    /// A session entered the roster.
    Discovered {
        /// The revision that it belongs to.
        revision: u64,
        /// The whole row.
        session: Box<TrackedSession>,
    },
    /// A session changed.
    Updated {
        /// The revision that it belongs to.
        revision: u64,
        /// The session.
        session_id: String,
        /// Only the fields that changed, each in full; a field that is absent from now on is `null`.
        #[ts(
            type = "{ [K in keyof import(\"./TrackedSession\").TrackedSession]?: import(\"./TrackedSession\").TrackedSession[K] | null }"
        )]
        updates: Map<String, Value>,
    },
    /// A session left the roster.
    Removed {
        /// The revision that it belongs to.
        revision: u64,
        /// The session.
        session_id: String,
    },
    /// A session asks. Its row, in the event before, has the same request.
    Request {
        /// The revision that it belongs to.
        revision: u64,
        /// The session.
        session_id: String,
        /// The request.
        request: Box<Request>,
    },
    /// A request ended. It cannot be answered any more.
    RequestClosed {
        /// The revision that it belongs to.
        revision: u64,
        /// The session.
        session_id: String,
        /// The request.
        request_id: String,
        /// How it ended.
        by: ClosedBy,
    },
    /// The list of problems changed.
    Problems {
        /// The revision that it belongs to.
        revision: u64,
        /// The whole list.
        problems: Vec<Problem>,
    },
    /// The limits of plans changed.
    Limits {
        /// The revision that it belongs to.
        revision: u64,
        /// The whole list.
        limits: Vec<PlanLimit>,
    },
    /// The first reading of transcripts began or ended.
    Reading {
        /// The revision that it belongs to.
        revision: u64,
        /// See [`RosterSnapshot::reading`].
        reading: bool,
    },
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// It was answered through Watchbill, and the session went on.
    Watchbill,
    /// The session went on without an answer from Watchbill: the user decided in the terminal, or the turn ended.
    Terminal,
    /// Its hook process ended, or the session did before an answer showed its effect. The terminal may ask on.
    Withdrawn,
}

/// Turns snapshots and deltas into store events. It remembers the row of each session as it was last reported.
#[derive(Debug, Clone, Default)]
pub struct StoreEvents {
    sessions: HashMap<String, TrackedSession>,
    problems: Vec<Problem>,
    limits: Vec<PlanLimit>,
    reading: bool,
}

/// The end of the request that a row had, if the row after it has another one or none.
fn closed(revision: u64, before: &TrackedSession, after: Option<&TrackedSession>) -> Option<StoreEvent> {
    let request = before.request.as_ref()?;
    if after.and_then(|after| after.request.as_ref()).is_some_and(|after| after.id == request.id) {
        return None;
    }
    let waits = after.is_some_and(|after| after.state == "waiting_for_approval" && after.request.is_none());
    let has_ended = after.is_none_or(|after| after.state == "ended");
    let by = match &*request.progress {
        // The answer was lost, or its effect is not known.
        "sending" | "taken" if waits || has_ended => ClosedBy::Withdrawn,
        "sending" | "taken" => ClosedBy::Watchbill,
        // An answer without effect decided nothing.
        _ if waits => ClosedBy::Withdrawn,
        _ => ClosedBy::Terminal,
    };
    let (session_id, request_id) = (before.session_id.clone(), request.id.clone());
    Some(StoreEvent::RequestClosed { revision, session_id, request_id, by })
}

impl StoreEvents {
    /// Begins with a snapshot, which is the first event.
    pub fn new(snapshot: &RosterSnapshot) -> (Self, StoreEvent) {
        let mut events = Self::default();
        for session in &snapshot.sessions {
            events.sessions.insert(session.session_id.clone(), session.clone());
        }
        events.problems.clone_from(&snapshot.problems);
        events.limits.clone_from(&snapshot.limits);
        events.reading = snapshot.reading;
        (events, StoreEvent::Snapshot(snapshot.clone()))
    }

    /// The events of one delta; none if nothing that a reader sees has changed.
    pub fn delta(&mut self, delta: &RosterDelta) -> Vec<StoreEvent> {
        let mut out = Vec::new();
        for session in &delta.removals {
            self.remove(delta.revision, session, &mut out);
        }
        for upsert in &delta.upserts {
            self.upsert(delta.revision, &upsert.session, &mut out);
        }
        self.problems_and_reading(delta.revision, delta.problems.as_deref(), delta.reading, &mut out);
        self.note_limits(delta.revision, delta.limits.as_deref(), &mut out);
        out
    }

    /// The events from the last reported state to `next`, for a subscriber that was left behind.
    pub fn catch_up(&mut self, next: &RosterSnapshot) -> Vec<StoreEvent> {
        let mut out = Vec::new();
        let stay: std::collections::HashSet<&str> =
            next.sessions.iter().map(|session| session.session_id.as_str()).collect();
        let mut gone: Vec<String> =
            self.sessions.keys().filter(|id| !stay.contains(id.as_str())).cloned().collect();
        gone.sort();
        for session in &gone {
            self.remove(next.revision, session, &mut out);
        }
        for session in &next.sessions {
            self.upsert(next.revision, session, &mut out);
        }
        self.problems_and_reading(next.revision, Some(&next.problems), next.reading, &mut out);
        self.note_limits(next.revision, Some(&next.limits), &mut out);
        out
    }

    fn remove(&mut self, revision: u64, session: &str, out: &mut Vec<StoreEvent>) {
        if let Some(before) = self.sessions.remove(session) {
            out.extend(closed(revision, &before, None));
            out.push(StoreEvent::Removed { revision, session_id: session.to_owned() });
        }
    }

    fn upsert(&mut self, revision: u64, session: &TrackedSession, out: &mut Vec<StoreEvent>) {
        let event = match self.sessions.get(&session.session_id) {
            Some(before) if before == session => return,
            Some(before) => StoreEvent::Updated {
                revision,
                session_id: session.session_id.clone(),
                updates: changes(&fields(before), fields(session)),
            },
            None => StoreEvent::Discovered { revision, session: Box::new(session.clone()) },
        };
        let before = self.sessions.insert(session.session_id.clone(), session.clone());
        out.push(event);
        out.extend(before.as_ref().and_then(|before| closed(revision, before, Some(session))));
        if let Some(request) = &session.request
            && before.and_then(|before| before.request).is_none_or(|before| before.id != request.id)
        {
            let (session_id, request) = (session.session_id.clone(), Box::new(request.clone()));
            out.push(StoreEvent::Request { revision, session_id, request });
        }
    }

    fn note_limits(&mut self, revision: u64, limits: Option<&[PlanLimit]>, out: &mut Vec<StoreEvent>) {
        if let Some(limits) = limits.filter(|limits| self.limits != *limits) {
            self.limits = limits.to_vec();
            out.push(StoreEvent::Limits { revision, limits: limits.to_vec() });
        }
    }

    /// The events besides rows; `problems` is `None` if the list did not change.
    fn problems_and_reading(
        &mut self,
        revision: u64,
        problems: Option<&[Problem]>,
        reading: bool,
        out: &mut Vec<StoreEvent>,
    ) {
        if self.reading != reading {
            self.reading = reading;
            out.push(StoreEvent::Reading { revision, reading });
        }
        if let Some(problems) = problems
            && self.problems != problems
        {
            self.problems = problems.to_vec();
            out.push(StoreEvent::Problems { revision, problems: problems.to_vec() });
        }
    }
}

/// Applies one event to a roster, as a reader of `watch --json` would.
///
/// Rows are sorted by `group` (in the order of [`Group`]), then by `stateSince`, then by `sessionId`. Older states
/// come first in `needs_you`, newer ones in the other groups. `generatedAt` stays that of the snapshot: events
/// report changes, not the passing of time. An event that does not fit leaves the rows as they are.
pub fn replay(roster: &mut RosterSnapshot, event: &StoreEvent) {
    match event {
        StoreEvent::Snapshot(snapshot) => *roster = snapshot.clone(),
        StoreEvent::Discovered { revision, session } => {
            roster.revision = *revision;
            roster.sessions.retain(|other| other.session_id != session.session_id);
            roster.sessions.push(session.as_ref().clone());
        }
        StoreEvent::Updated { revision, session_id, updates } => {
            roster.revision = *revision;
            if let Some(session) = roster.sessions.iter_mut().find(|s| s.session_id == *session_id) {
                let mut merged = fields(session);
                for (field, value) in updates {
                    if value.is_null() {
                        merged.shift_remove(field);
                    } else {
                        merged.insert(field.clone(), value.clone());
                    }
                }
                if let Ok(updated) = serde_json::from_value(Value::Object(merged)) {
                    *session = updated;
                }
            }
        }
        StoreEvent::Removed { revision, session_id } => {
            roster.revision = *revision;
            roster.sessions.retain(|session| session.session_id != *session_id);
        }
        // The rows have the requests.
        StoreEvent::Request { revision, .. } | StoreEvent::RequestClosed { revision, .. } => {
            roster.revision = *revision;
        }
        StoreEvent::Problems { revision, problems } => {
            roster.revision = *revision;
            roster.problems.clone_from(problems);
        }
        StoreEvent::Limits { revision, limits } => {
            roster.revision = *revision;
            roster.limits.clone_from(limits);
        }
        StoreEvent::Reading { revision, reading } => {
            roster.revision = *revision;
            roster.reading = *reading;
        }
    }
    roster.sessions.sort_by(in_roster_order);
}

/// The order of `watchbill_core::roster::OrderKey`, computed from the JSON's fields.
fn in_roster_order(a: &TrackedSession, b: &TrackedSession) -> Ordering {
    // RFC 3339 in one precision and zone sorts as text.
    let oldest_first = a.state_since.cmp(&b.state_since);
    let by_age = if a.group == Group::NeedsYou { oldest_first } else { oldest_first.reverse() };
    a.group.cmp(&b.group).then(by_age).then_with(|| a.session_id.cmp(&b.session_id))
}

fn fields(session: &TrackedSession) -> Map<String, Value> {
    match serde_json::to_value(session) {
        Ok(Value::Object(fields)) => fields,
        // A struct of texts, numbers and lists always becomes an object.
        _ => Map::new(),
    }
}

fn changes(before: &Map<String, Value>, after: Map<String, Value>) -> Map<String, Value> {
    let vanished: Vec<String> = before.keys().filter(|field| !after.contains_key(*field)).cloned().collect();
    let mut updates: Map<String, Value> =
        after.into_iter().filter(|(field, value)| before.get(field) != Some(value)).collect();
    updates.extend(vanished.into_iter().map(|field| (field, Value::Null)));
    updates
}
