//! Order, visibility, changes and deadlines of the roster.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::attention::{Need, Sighting, need};
use watchbill_core::deadlines::Deadlines;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::{PendingTool, Reason, Row, Source, Supersession};
use watchbill_core::roster::{Delta, Filter, Group, OrderKey, Roster, group, group_of, pending};
use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::time::{Millis, Timestamp};

use crate::row::bare;

fn row(id: &str, state: State, kind: Option<StateKind>, activity: i64) -> Row {
    let at = Timestamp::from_millis(activity);
    let (source, detail, confidence) = (Source::Transcript, Arc::from("turn ended"), Confidence::Observed);
    let state_reason = Reason { source, detail, confidence };
    Row { state, state_kind: kind, state_since: at, last_activity_at: at, state_reason, ..bare(id) }
}

fn ids(roster: &Roster) -> Vec<&str> {
    roster.rows().iter().map(|row| row.session_id.as_str()).collect()
}

#[test]
fn each_state_has_its_group_and_needs_come_first() {
    let cases = [
        (State::WaitingForApproval, Some(StateKind::Permission), Group::NeedsYou),
        (State::WaitingForApproval, Some(StateKind::Question), Group::NeedsYou),
        (State::WaitingForInput, Some(StateKind::Error), Group::NeedsYou),
        (State::WaitingForInput, Some(StateKind::Limit), Group::NeedsYou),
        (State::Working, None, Group::Working),
        (State::Working, Some(StateKind::Retrying), Group::Working),
        (State::WaitingForInput, Some(StateKind::TurnEnded), Group::YourTurn),
        (State::WaitingForInput, Some(StateKind::Dialog), Group::YourTurn),
        (State::WaitingForInput, None, Group::YourTurn),
        (State::Idle, None, Group::Idle),
        (State::Idle, Some(StateKind::Error), Group::Idle),
        (State::Ended, Some(StateKind::Crashed), Group::Idle),
    ];
    for (state, kind, expected) in cases {
        assert_eq!(group(state, kind), expected, "{state:?} {kind:?}");
    }
    assert!(Group::NeedsYou < Group::Working && Group::Working < Group::YourTurn);
    assert!(Group::YourTurn < Group::Idle);
}

#[test]
fn a_need_moves_the_row_when_it_counts_and_not_before() {
    let approval = row("a", State::WaitingForApproval, Some(StateKind::Permission), 1);
    let error = row("e", State::WaitingForInput, Some(StateKind::Error), 1);
    for (mut row, before) in [(approval, Group::Working), (error, Group::YourTurn)] {
        assert_eq!(group_of(&row), before);
        row.needs = Some(Need::Approval);
        assert_eq!((group_of(&row), OrderKey::of(&row).group), (Group::NeedsYou, Group::NeedsYou));
    }
}

#[test]
fn put_away_and_superseded_rows_are_in_the_idle_group() {
    for (state, kind) in [
        (State::WaitingForApproval, StateKind::Permission),
        (State::WaitingForInput, StateKind::Error),
        (State::WaitingForInput, StateKind::TurnEnded),
    ] {
        let waits = row("a", state, Some(kind), 1);
        let by = Supersession { by: SessionId::new("b"), at: None };
        assert_ne!(group_of(&waits), Group::Idle);
        assert_eq!(group_of(&Row { put_away: true, ..waits.clone() }), Group::Idle);
        assert_eq!(group_of(&Row { superseded: Some(by), ..waits }), Group::Idle);
    }
}

#[test]
fn rows_are_sorted_by_group_then_by_shown_age_then_by_id() {
    let mut roster = Roster::new();
    let asks = |id, since| Row {
        needs: Some(Need::Approval),
        ..row(id, State::WaitingForApproval, Some(StateKind::Permission), since)
    };
    // Activity within a state moves no row.
    let busy = |row: Row| Row { last_activity_at: Timestamp::from_millis(5_000), ..row };
    roster.update(vec![
        row("idle", State::Idle, None, 900),
        busy(row("old-work", State::Working, None, 100)),
        row("b", State::Working, None, 200),
        row("a", State::Working, None, 200),
        busy(asks("asked-late", 700)),
        asks("asked-first", 300),
        row("yours", State::WaitingForInput, Some(StateKind::TurnEnded), 800),
        busy(row("yours-before", State::WaitingForInput, Some(StateKind::TurnEnded), 400)),
    ]);
    assert_eq!(
        ids(&roster),
        ["asked-first", "asked-late", "a", "b", "old-work", "yours", "yours-before", "idle"],
        "the longest wait first; in other groups the newest state first",
    );
}

#[test]
fn the_error_text_leaves_out_the_witness() {
    let says = |kind, detail: &str| {
        let mut row = row("a", State::WaitingForInput, kind, 1);
        row.state_reason.detail = Arc::from(detail);
        row.error().map(str::to_owned)
    };
    let cause = Some("API Error: `529`; overloaded".to_owned());
    let error = Some(StateKind::Error);
    assert_eq!(says(error, "registry says `idle`; API Error: `529`; overloaded"), cause);
    assert_eq!(says(error, "API Error: `529`; overloaded"), cause, "another witness says it alone");
    let from_afar =
        "registry says `idle`; API Error: `529`; overloaded; the process cannot be seen from here";
    assert_eq!(says(error, from_afar), cause);
    assert_eq!(
        says(Some(StateKind::Limit), "registry says `idle`; resets 15:40"),
        Some("resets 15:40".to_owned())
    );
    assert_eq!(says(Some(StateKind::Retrying), "retrying, 429"), Some("retrying, 429".to_owned()));
    assert_eq!(says(error, "registry says `idle`"), None, "the cause is not known");
    assert_eq!(says(Some(StateKind::TurnEnded), "turn ended"), None, "nothing went wrong");
}

#[test]
fn an_alert_gives_the_cause_without_the_witness() {
    let mut row = row("a", State::WaitingForInput, Some(StateKind::Error), 1);
    row.state_reason.detail = Arc::from("registry says `idle`; API Error: 529");
    assert_eq!(&*Sighting::of(&row).wants, "stopped at an error: API Error: 529");
    row.state_reason.detail = Arc::from("registry says `idle`");
    assert_eq!(&*Sighting::of(&row).wants, "stopped at an error");
}

#[test]
fn a_change_that_moves_nothing_is_one_upsert_in_its_place() {
    let mut roster = Roster::new();
    roster.update(vec![row("a", State::Working, None, 300), row("b", State::Working, None, 200)]);
    let mut changed = row("b", State::Working, None, 200);
    changed.title = Some(Arc::from("Fix the tests"));
    let delta = roster.apply(vec![changed.clone()], Vec::new()).unwrap();
    assert_eq!(delta.upserts, [(1, Arc::new(changed.clone()))]);
    assert_eq!(delta.removals, []);
    assert_eq!(roster.apply(vec![changed], Vec::new()), None, "the same row again is no change");
    assert_eq!(roster.get(&SessionId::new("b")).unwrap().title.as_deref(), Some("Fix the tests"));
}

#[test]
fn a_row_that_needs_the_user_moves_to_the_top() {
    let mut roster = Roster::new();
    roster.update(vec![row("a", State::Working, None, 300), row("b", State::Working, None, 200)]);
    let asks = row("b", State::WaitingForApproval, Some(StateKind::Permission), 200);
    let asks = Row { needs: Some(Need::Approval), ..asks };
    let delta = roster.apply(vec![asks.clone()], Vec::new()).unwrap();
    assert_eq!(delta.upserts, [(0, Arc::new(asks))]);
    assert_eq!(ids(&roster), ["b", "a"]);
}

#[test]
fn removals_name_only_rows_that_were_there() {
    let mut roster = Roster::new();
    roster.update(vec![row("a", State::Working, None, 300), row("b", State::Working, None, 200)]);
    let (a, never) = (SessionId::new("a"), SessionId::new("never"));
    let delta = roster.apply(Vec::new(), vec![a.clone(), never.clone(), a.clone()]).unwrap();
    assert_eq!(delta, Delta { upserts: Vec::new(), removals: vec![a.clone()] });
    assert_eq!(roster.apply(Vec::new(), vec![never, a]), None);
    assert_eq!(ids(&roster), ["b"]);
}

#[test]
fn a_row_removed_and_changed_at_once_stays_with_its_last_value() {
    let mut roster = Roster::new();
    roster.update(vec![row("a", State::Working, None, 300)]);
    let last = row("a", State::Idle, None, 300);
    let rows = vec![row("a", State::WaitingForInput, None, 300), last.clone()];
    let delta = roster.apply(rows, vec![SessionId::new("a")]).unwrap();
    assert_eq!(delta, Delta { upserts: vec![(0, Arc::new(last))], removals: Vec::new() });
}

#[test]
fn the_default_filter_shows_heads_that_are_live_or_recently_active() {
    let day = Millis::from_secs(86_400);
    let now = Timestamp::from_millis(10 * day.0);
    let recent = row("a", State::Ended, None, now.as_millis() - day.0);
    let old = row("b", State::Idle, None, now.as_millis() - day.0 - 1);
    let mut live = old.clone();
    live.live = true;
    let mut superseded = recent.clone();
    superseded.superseded = Some(Supersession { by: SessionId::new("c"), at: None });
    let usual = Filter::default();
    let shown = [&recent, &old, &live, &superseded].map(|row| usual.shows(row, now));
    assert_eq!(shown, [true, false, true, false]);
    let all = Filter { all: true, ..usual };
    assert!([&recent, &old, &live, &superseded].iter().all(|row| all.shows(row, now)));

    let hides = usual.hidden_at(&recent, now).unwrap();
    assert!(usual.shows(&recent, hides - Millis(1)) && !usual.shows(&recent, hides));
    assert_eq!([&old, &live, &superseded].map(|row| usual.hidden_at(row, now)), [None; 3]);
    assert_eq!(all.hidden_at(&recent, now), None);
}

#[test]
fn the_principal_call_is_a_question_then_a_plan_then_a_call_that_may_ask() {
    let calls = |tools: &[&str]| -> Vec<PendingTool> {
        let call = |tool: &&str| PendingTool {
            id: Arc::from(*tool),
            tool: Arc::from(*tool),
            target: Arc::from(""),
            since: Timestamp::default(),
        };
        tools.iter().map(call).collect()
    };
    for (tools, expected) in [
        (vec!["Read", "Bash", "ExitPlanMode", "AskUserQuestion"], Some("AskUserQuestion")),
        (vec!["Read", "Bash", "ExitPlanMode"], Some("ExitPlanMode")),
        (vec!["Read", "Bash", "Edit"], Some("Bash")),
        (vec!["Task", "mcp__tracker__create"], Some("mcp__tracker__create")),
        (vec!["Grep", "Read"], Some("Grep")),
        (vec!["Monitor", "LSP", "SendMessage", "KillShell", "CronList", "Bash"], Some("Bash")),
        (vec!["Bash", "exit_plan_mode"], Some("exit_plan_mode")),
        (vec![], None),
    ] {
        let calls = calls(&tools);
        assert_eq!(pending::principal(&calls).map(|call| &*call.tool), expected, "{tools:?}");
    }
}

#[test]
fn deadlines_come_out_in_the_order_of_their_times() {
    let at = Timestamp::from_millis;
    let mut deadlines = Deadlines::default();
    assert!(deadlines.next().is_none());
    deadlines.set("b", Some(at(20)));
    deadlines.set("a", Some(at(20)));
    deadlines.set("c", Some(at(10)));
    deadlines.set("d", Some(at(30)));
    deadlines.set("d", Some(at(5)));
    deadlines.set("c", None);
    deadlines.set("never", None);
    assert_eq!(deadlines.next(), Some(at(5)));
    assert_eq!(deadlines.pop_due(at(4)), [""; 0]);
    assert_eq!(deadlines.pop_due(at(20)), ["d", "a", "b"]);
    assert!(deadlines.next().is_none());
}

// ---------------------------------------------------------------------------------------------
// Laws

/// Applies a delta as a window does, by the definition of the protocol.
fn apply(list: &mut Vec<Arc<Row>>, delta: &Delta) {
    list.retain(|row| {
        !delta.removals.contains(&row.session_id)
            && !delta.upserts.iter().any(|(_, upsert)| upsert.session_id == row.session_id)
    });
    for (index, row) in &delta.upserts {
        list.insert(*index, Arc::clone(row));
    }
}

fn any_row() -> impl Strategy<Value = Row> {
    let states = vec![
        (State::Working, None),
        (State::WaitingForApproval, Some(StateKind::Permission)),
        (State::WaitingForInput, Some(StateKind::TurnEnded)),
        (State::WaitingForInput, Some(StateKind::Error)),
        (State::Idle, None),
    ];
    (0..12u8, prop::sample::select(states), 0..4i64, 0..3u32, any::<bool>()).prop_map(
        |(id, (state, kind), since, count, needs)| {
            let mut row = row(&format!("s{id}"), state, kind, since);
            row.compaction_count = count;
            row.needs = needs.then(|| need(state, kind)).flatten();
            row
        },
    )
}

#[derive(Debug, Clone)]
enum Change {
    Some(Vec<Row>, Vec<u8>),
    All(Vec<Row>),
}

fn any_change() -> impl Strategy<Value = Change> {
    let rows = || prop::collection::vec(any_row(), 0..8);
    prop_oneof![
        3 => (rows(), prop::collection::vec(0..14u8, 0..4)).prop_map(|(rows, ids)| Change::Some(rows, ids)),
        1 => rows().prop_map(Change::All),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn applied_deltas_always_give_the_roster(changes in prop::collection::vec(any_change(), 1..12)) {
        let mut roster = Roster::new();
        let mut window: Vec<Arc<Row>> = Vec::new();
        let mut truth: BTreeMap<SessionId, Row> = BTreeMap::new();
        for change in changes {
            let before = window.clone();
            let delta = match change {
                Change::Some(rows, removed) => {
                    let removed: Vec<SessionId> =
                        removed.iter().map(|id| SessionId::new(&format!("s{id}"))).collect();
                    truth.retain(|id, _| !removed.contains(id));
                    truth.extend(rows.iter().map(|row| (row.session_id.clone(), row.clone())));
                    roster.apply(rows, removed)
                }
                Change::All(rows) => {
                    truth = rows.iter().map(|row| (row.session_id.clone(), row.clone())).collect();
                    roster.update(rows)
                }
            };
            if let Some(delta) = &delta {
                prop_assert!(delta.upserts.is_sorted_by(|a, b| a.0 < b.0));
                apply(&mut window, delta);
            }
            let mut expected: Vec<Row> = truth.values().cloned().collect();
            expected.sort_by_cached_key(OrderKey::of);
            let rows: Vec<Row> = roster.rows().iter().map(|row| (**row).clone()).collect();
            prop_assert_eq!(&rows, &expected);
            prop_assert_eq!(window.as_slice(), roster.rows());
            prop_assert_eq!(delta.is_none(), before == window, "a delta means a change");
        }
    }

    #[test]
    fn deadlines_agree_with_a_plain_map(
        steps in prop::collection::vec((0..6u8, prop::option::of(0..50i64), 0..50i64, any::<bool>()), 0..60),
    ) {
        let mut deadlines = Deadlines::default();
        let mut plain: BTreeMap<u8, i64> = BTreeMap::new();
        for (key, set_at, now, pop) in steps {
            if pop {
                let mut due: Vec<(i64, u8)> =
                    plain.iter().filter(|(_, at)| **at <= now).map(|(key, at)| (*at, *key)).collect();
                due.sort_unstable();
                plain.retain(|_, at| *at > now);
                let due: Vec<u8> = due.into_iter().map(|(_, key)| key).collect();
                prop_assert_eq!(deadlines.pop_due(Timestamp::from_millis(now)), due);
            } else {
                deadlines.set(key, set_at.map(Timestamp::from_millis));
                match set_at {
                    Some(at) => plain.insert(key, at),
                    None => plain.remove(&key),
                };
            }
            prop_assert_eq!(deadlines.next(), plain.values().min().copied().map(Timestamp::from_millis));
        }
    }
}
