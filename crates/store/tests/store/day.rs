//! The day, compared with plain SQL.

use std::ops::Range;

use proptest::prelude::*;
use rusqlite::Connection;
use watchbill_core::day::{Figures, figures, session_stretches};
use watchbill_core::history::rows::{Batch, BatchStatus, Ended};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::day::DaySession;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::tables::transitions::TransitionRow;

use crate::rig::{Rig, session};

const DAY: i64 = 86_400_000;

/// What the waits and the work of a day are, without a line of this program. Waits that touch are one.
const PLAIN: &str = "WITH spans AS (
        SELECT session, state, max(at, :begin) AS at, lead(at, 1, :end) OVER (PARTITION BY session ORDER BY at, rowid) AS until, at AS began
        FROM transitions WHERE at < :end
    ), clipped AS (
        SELECT iif(state = 'waiting_for_approval' AND until - began >= 1000, 'waited', iif(state = 'waiting_for_approval', 'working', state)) AS what,
            session, at, until
        FROM spans WHERE until > at
    ), begun AS (
        SELECT *, at IS NOT lag(until) OVER (PARTITION BY session ORDER BY at) AS begins FROM clipped WHERE what = 'waited'
    ), numbered AS (
        SELECT *, sum(begins) OVER (PARTITION BY session ORDER BY at) AS number FROM begun
    ), waits AS (
        SELECT max(until) - min(at) AS span FROM numbered GROUP BY session, number
    )
    SELECT (SELECT coalesce(sum(span), 0) FROM waits), (SELECT count(*) FROM waits), (SELECT coalesce(max(span), 0) FROM waits),
        (SELECT coalesce(sum(until - at), 0) FROM clipped WHERE what = 'working')";

fn of_store(rig: &Rig, day: &Range<Timestamp>) -> Figures {
    let store = rig.beside();
    let lane = |session: &DaySession| {
        let changes = store.day_changes(session.key, day).unwrap();
        session_stretches(&changes, &[], true, day)
    };
    figures(&store.day_sessions(day).unwrap().iter().map(lane).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn waits_and_work_are_what_plain_sql_says(
        sessions in prop::collection::vec(prop::collection::vec((0..3 * DAY, 0..5_usize), 1..20), 1..6),
    ) {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        for (number, changes) in sessions.iter().enumerate() {
            let session_id = format!("s{number}");
            let newest = changes.iter().map(|(at, _)| *at).max().map(Timestamp::from_millis);
            step.put_session(&SessionRow { session_id: session_id.clone(), active_at: newest, ..SessionRow::default() }).unwrap();
            let key = step.session_key(&watchbill_core::ids::SessionId::new(&session_id)).unwrap();
            let mut changes = changes.clone();
            changes.sort_unstable();
            changes.dedup_by_key(|(at, _)| *at);
            // The engine stores a state once.
            changes.dedup_by_key(|(_, state)| *state);
            for (at, state) in changes {
                let (state, kind) = [
                    ("working", None),
                    ("waiting_for_approval", Some("permission")),
                    ("waiting_for_approval", Some("question")),
                    ("waiting_for_input", Some("turn_ended")),
                    ("ended", None),
                ][state];
                let row = TransitionRow {
                    at: Timestamp::from_millis(at),
                    state: state.to_owned(),
                    kind: kind.map(str::to_owned),
                    source: "hook".to_owned(),
                    detail: String::new(),
                    confidence: "observed".to_owned(),
                };
                step.add_transition(key, &row, row.at).unwrap();
            }
        }
        step.commit().unwrap();
        let sql = Connection::open(rig.folder.path().join(watchbill_store::DATABASE)).unwrap();
        for begin in [0, DAY, 2 * DAY] {
            let end = begin + DAY;
            let (waited, waits, longest, worked): (i64, i64, i64, i64) = sql
                .query_row(PLAIN, &[(":begin", &begin), (":end", &end)], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .unwrap();
            let told = of_store(&rig, &(Timestamp::from_millis(begin)..Timestamp::from_millis(end)));
            prop_assert_eq!((told.waited, told.worked), (Millis(waited), Millis(worked)));
            prop_assert_eq!(told.longest.map_or(0, |(_, it)| it.span().0), longest);
            prop_assert_eq!(told.waits as i64, waits);
        }
    }
}

fn change(at: i64, state: &str, source: &str) -> TransitionRow {
    TransitionRow {
        at: Timestamp::from_millis(at),
        state: state.to_owned(),
        kind: None,
        source: source.to_owned(),
        detail: String::new(),
        confidence: "observed".to_owned(),
    }
}

#[test]
fn copies_vanished_sessions_and_own_ones_are_told() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let turn = Batch {
        id: "p1".into(),
        started_at: Some(Timestamp::from_millis(5)),
        ended: Some(Ended { status: BatchStatus::Completed, at: Timestamp::from_millis(50), error: None }),
        ..Batch::default()
    };
    for name in ["origin", "fork", "vanished", "own"] {
        let row = SessionRow {
            session_id: name.into(),
            state: Some("working".into()),
            active_at: Some(Timestamp::from_millis(60)),
            ..SessionRow::default()
        };
        step.put_session(&row).unwrap();
        let (key, file) = session(&mut step, name);
        match name {
            "vanished" => {
                step.add_transition(key, &change(20, "working", "registry"), Timestamp::from_millis(20))
                    .unwrap();
                step.end_shown_state(&watchbill_core::ids::SessionId::new(name)).unwrap();
            }
            "own" => {
                step.add_transition(key, &change(20, "idle", "stream"), Timestamp::from_millis(20)).unwrap()
            }
            _ => step.merge_batch(key, Some(file), &turn).unwrap(),
        }
    }
    step.commit().unwrap();
    let day = |number: i64| Timestamp::from_millis(number * DAY)..Timestamp::from_millis((number + 1) * DAY);
    let names = |sessions: Vec<DaySession>| sessions.into_iter().map(|it| it.session_id).collect::<Vec<_>>();
    let all = store.day_sessions(&day(0)).unwrap();
    let turns: Vec<usize> = all.iter().map(|it| store.day_turns(it.key, &day(0)).unwrap().len()).collect();
    assert_eq!(turns, [1, 0, 0, 0], "the copy of the fork does not count");
    assert_eq!(all.iter().map(|it| it.is_own).collect::<Vec<_>>(), [false, false, false, true]);
    assert_eq!(all[2].over_at, Some(Timestamp::from_millis(60)), "it works no longer than it was seen");
    assert_eq!(names(store.day_sessions(&day(1)).unwrap()), Vec::<String>::new());
    assert_eq!(store.last_active_before(day(1).start).unwrap(), Some(Timestamp::from_millis(50)));
}
