//! Replaying store events over a snapshot gives exactly the next roster.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::attention::need;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::roster::Roster;
use watchbill_core::roster::row::{Row, Subagents, Supersession};
use watchbill_core::session::state::{State, StateKind};
use watchbill_protocol::event::{StoreEvent, StoreEvents, replay};
use watchbill_protocol::roster::{RosterDelta, RosterSnapshot};

use crate::rows::{at, bare, full};

/// A row in which any field may be absent, as rows of one session differ from time to time.
fn any_row() -> impl Strategy<Value = Row> {
    let states = vec![
        (State::Working, None),
        (State::Working, Some(StateKind::Compacting)),
        (State::WaitingForApproval, Some(StateKind::Question)),
        (State::WaitingForInput, Some(StateKind::TurnEnded)),
        (State::Ended, None),
    ];
    (0..8u8, prop::sample::select(states), 0..3i64, any::<[bool; 7]>()).prop_map(
        |(id, (state, kind), since, [much, title, calls, superseded, agents, pid, needs])| {
            let id = format!("s{id}");
            let mut row = if much { full(&id) } else { bare(&id) };
            (row.state, row.state_kind, row.state_since) = (state, kind, at(since));
            row.needs = needs.then(|| need(state, kind)).flatten();
            row.title = title.then(|| Arc::from("Failing tests"));
            if !calls {
                row.pending_tools.clear();
            }
            row.superseded = superseded.then(|| Supersession { by: SessionId::new("n"), at: None });
            row.subagents = Subagents { running: u32::from(agents), total: u32::from(agents) };
            row.pid = pid.then_some(7);
            row
        },
    )
}

fn any_problems() -> impl Strategy<Value = Vec<Problem>> {
    prop::collection::vec((0..3u8, 1..3u64), 0..3).prop_map(|list| {
        let problem = |(path, count): (u8, u64)| Problem {
            path: Arc::from(format!("/{path}.jsonl")),
            kind: ProblemKind::MalformedLine,
            count,
            detail: Arc::from("lines were skipped"),
        };
        list.into_iter().map(problem).collect()
    })
}

#[derive(Debug, Clone)]
struct Step {
    rows: Vec<Row>,
    removed: Vec<u8>,
    problems: Option<Vec<Problem>>,
    reading: bool,
    left_behind: bool,
}

fn any_step() -> impl Strategy<Value = Step> {
    (
        prop::collection::vec(any_row(), 0..5),
        prop::collection::vec(0..8u8, 0..3),
        prop::option::of(any_problems()),
        any::<bool>(),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(rows, removed, problems, reading, left_behind)| Step {
            rows,
            removed,
            problems,
            reading,
            left_behind,
        })
}

/// The event as a reader of the lines gets it back from JSON.
fn read_back(event: &StoreEvent) -> StoreEvent {
    let line = serde_json::to_string(event).expect("an event is JSON");
    assert!(!line.contains('\n'), "one object a line");
    serde_json::from_str(&line).expect("and can be read back")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn replayed_events_give_the_roster(first in prop::collection::vec(any_row(), 0..6), steps in prop::collection::vec(any_step(), 1..8)) {
        let mut roster = Roster::new();
        roster.update(first);
        let mut problems: Vec<Problem> = Vec::new();
        let snapshot_of = |revision, roster: &Roster, problems: &[Problem], reading| {
            RosterSnapshot::new(revision, at(0), roster.rows().iter().map(|row| &**row), problems, reading)
        };
        let snapshot = snapshot_of(1, &roster, &problems, false);
        let (mut events, begin) = StoreEvents::new(&snapshot);
        let mut reader = RosterSnapshot::new(0, at(0), [], &[], false);
        replay(&mut reader, &read_back(&begin));
        prop_assert_eq!(&reader, &snapshot);

        let mut revision = 1;
        for step in steps {
            let removed = step.removed.iter().map(|id| SessionId::new(&format!("s{id}"))).collect();
            let delta = roster.apply(step.rows, removed).unwrap_or_default();
            if let Some(new) = &step.problems {
                problems.clone_from(new);
            }
            let next = snapshot_of(revision + 1, &roster, &problems, step.reading);
            let told = if step.left_behind {
                events.catch_up(&next)
            } else {
                events.delta(&RosterDelta::new(
                    revision, revision + 1, at(0), &delta, step.problems.as_deref(), step.reading,
                ))
            };
            for event in &told {
                let before = reader.clone();
                replay(&mut reader, &read_back(event));
                reader.revision = before.revision;
                prop_assert_ne!(&reader, &before, "{:?} changes nothing", event);
                reader.revision = revision + 1;
            }
            revision += 1;
            if told.is_empty() {
                // Nothing changed, so no event came, and the reader did not get the revision.
                reader.revision = revision;
            }
            prop_assert_eq!(&reader, &next);
        }
    }
}

#[test]
fn an_update_holds_changed_fields_and_null_for_removed_ones() {
    let mut before = bare("a");
    before.title = Some(Arc::from("Failing tests"));
    let mut after = before.clone();
    after.title = None;
    after.compaction_count = 1;
    let (mut events, _) = StoreEvents::new(&RosterSnapshot::new(1, at(0), &[before], &[], false));
    let told = events.catch_up(&RosterSnapshot::new(2, at(0), &[after], &[], false));
    let [StoreEvent::Updated { revision: 2, session_id, updates }] = told.as_slice() else {
        panic!("one update, not {told:?}");
    };
    assert_eq!(session_id, "a");
    assert_eq!(
        serde_json::to_value(updates).expect("a map"),
        serde_json::json!({ "compactionCount": 1, "title": null })
    );
}

#[test]
fn an_event_that_does_not_fit_leaves_the_roster_as_it_is() {
    let mut roster = RosterSnapshot::new(1, at(0), &[bare("a")], &[], false);
    let sessions = roster.sessions.clone();
    let stray = StoreEvent::Removed { revision: 2, session_id: "never".into() };
    replay(&mut roster, &stray);
    let wrong = serde_json::json!({ "segmentCount": "many" });
    let updates = wrong.as_object().cloned().expect("an object");
    replay(&mut roster, &StoreEvent::Updated { revision: 3, session_id: "a".into(), updates });
    assert_eq!((roster.sessions, roster.revision), (sessions, 3));
}
