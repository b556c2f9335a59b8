//! Turns, sessions and calls without an end are repaired in the store, and the log says so.

use std::collections::BTreeSet;

use watchbill_core::history::{Activity, Batch, BatchStatus, CallOutcome, Ended, RecoverySettings};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_history::worker::Recoverer;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{OpenMode, Store};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + secs * 1_000)
}

fn active(id: &str, secs: i64) -> Batch {
    Batch {
        started_at: Some(at(secs)),
        last_activity_at: Some(at(secs)),
        ended: Some(Ended { status: BatchStatus::Active, at: at(secs), error: None }),
        ..Batch::new(id.into())
    }
}

/// Corrects all that is due, in steps of a few sessions, as the history's thread does it.
fn correct(
    store: &mut Store,
    recoverer: &mut Recoverer,
    living: &[&str],
    now: Timestamp,
) -> Option<Timestamp> {
    let living = living.iter().map(|id| SessionId::new(id)).collect();
    loop {
        let next = recoverer.correct_some(store, RecoverySettings::default(), &living, now).unwrap();
        if next != Some(now) {
            return next;
        }
    }
}

#[test]
fn turns_sessions_and_calls_are_repaired_and_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    // Only hooks reported this session.
    let killed = step.session_key(&SessionId::new("killed")).unwrap();
    step.merge_batch(killed, None, &active("b", 0)).unwrap();
    let orphan = Activity {
        at: Some(at(5)),
        tool: Some("Bash".into()),
        outcome: Some(CallOutcome::Pending),
        ..Activity::new("t".into())
    };
    step.merge_activity(killed, None, &orphan).unwrap();
    // A process runs this session, and the engine reports it as running.
    let running = step
        .put_session(&SessionRow {
            session_id: "running".to_owned(),
            state: Some("working".to_owned()),
            ..SessionRow::default()
        })
        .unwrap();
    step.merge_batch(running, None, &active("r", 0)).unwrap();
    step.commit().unwrap();

    let mut recoverer = Recoverer::default();
    let mut put_right = |store: &mut Store, now| correct(store, &mut recoverer, &["running"], now);
    assert_eq!(put_right(&mut store, at(10)), Some(at(70)), "the running one is asked in a minute");
    let status =
        |store: &Store, key| store.batches(key).unwrap()[0].batch.ended.as_ref().map(|ended| ended.status);
    assert_eq!(status(&store, killed), Some(BatchStatus::Active));
    assert_eq!(store.activities(killed).unwrap()[0].activity.batch.as_deref(), Some("b"));

    put_right(&mut store, at(310));
    assert_eq!(status(&store, killed), Some(BatchStatus::Completed));
    assert_eq!(store.activities(killed).unwrap()[0].activity.outcome, Some(CallOutcome::Lost));
    assert_eq!(status(&store, running), Some(BatchStatus::Active));
    put_right(&mut store, at(4_000));
    put_right(&mut store, at(4_100));
    let log: Vec<_> = store.recoveries(10).unwrap().into_iter().rev().map(|row| row.what).collect();
    assert_eq!(log, ["orphaned_activity", "stuck_batch", "stale_session"], "each once");
    let of_document = |id| store.document_session(id).unwrap().unwrap().status;
    assert_eq!((&*of_document("killed"), &*of_document("running")), ("completed", "active"));
}

#[test]
fn the_limits_count_from_the_last_sign_whatever_the_roster_shows() {
    for state in ["working", "waiting_for_approval", "waiting_for_input", "idle"] {
        for lives in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
            let row = SessionRow {
                session_id: "s".to_owned(),
                cwd: Some("/srv/app".to_owned()),
                created_at: Some(at(0)),
                active_at: Some(at(0)),
                state: Some(state.to_owned()),
                ..SessionRow::default()
            };
            let mut step = store.step().unwrap();
            let key = step.put_session(&row).unwrap();
            let file = step.file_key("/projects/-srv-app/s.jsonl", key, None).unwrap();
            step.merge_batch(key, Some(file), &active("b", 0)).unwrap();
            step.commit().unwrap();
            let living: &[&str] = if lives { &["s"] } else { &[] };
            let mut recoverer = Recoverer::default();
            let case = format!("{state}, lives: {lives}");
            let status = |store: &Store| store.batches(key).unwrap()[0].batch.ended.as_ref().unwrap().status;
            let completed = |store: &Store| store.document_session("s").unwrap().unwrap().completed_at;
            let goes_on = lives && ["working", "waiting_for_approval"].contains(&state);

            correct(&mut store, &mut recoverer, living, at(299));
            assert_eq!(status(&store), BatchStatus::Active, "{case}");
            correct(&mut store, &mut recoverer, living, at(300));
            assert_eq!(status(&store) == BatchStatus::Active, goes_on, "{case}");
            correct(&mut store, &mut recoverer, living, at(3_599));
            assert_eq!(completed(&store), None, "{case}");
            correct(&mut store, &mut recoverer, living, at(3_600));
            assert_eq!(completed(&store).is_none(), lives, "{case}");
            let log = store.recoveries(10).unwrap();
            assert_eq!(log.iter().any(|row| row.what == "stale_session"), !lives, "{case}: {log:?}");

            // A later sign: it goes on, and the next silence counts anew.
            let mut step = store.step().unwrap();
            step.put_session(&SessionRow { active_at: Some(at(5_000)), ..row.clone() }).unwrap();
            step.commit().unwrap();
            assert_eq!(completed(&store), None, "{case}");
            correct(&mut store, &mut recoverer, &[], at(8_600));
            assert!(completed(&store).is_some(), "{case}");
        }
    }
}

#[test]
fn many_orphaned_calls_are_repaired_in_several_steps() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    let mut calls = Vec::new();
    // Some sessions have a turn for their calls and some have none. One has more calls than one step repairs.
    for session in 0..70 {
        let id = format!("s{session}");
        let key = step.session_key(&SessionId::new(&id)).unwrap();
        if session % 2 == 0 {
            step.merge_batch(key, None, &active("b", 0)).unwrap();
        }
        for call in 0..if session == 40 { 1_200 } else { 20 } {
            let orphan = Activity { at: Some(at(call)), ..Activity::new(format!("{id}:{call}").into()) };
            step.merge_activity(key, None, &orphan).unwrap();
            calls.push((key, if session % 2 == 0 { "b" } else { "recovered" }));
        }
    }
    step.commit().unwrap();
    let (settings, now, mut recoverer) = (RecoverySettings::default(), at(10_000), Recoverer::default());
    let (mut logged, mut steps) = (0, 0);
    while recoverer.correct_some(&mut store, settings, &BTreeSet::new(), now).unwrap() == Some(now) {
        let log = store.recoveries(10_000).unwrap().len();
        assert!(log - logged <= 100, "{log} after {logged}");
        (logged, steps) = (log, steps + 1);
    }
    assert!(steps >= 5, "{steps}");
    calls.dedup();
    for (key, batch) in calls {
        assert_eq!(
            (store.orphaned_activities(key).unwrap(), store.batches_to_recover(key, true).unwrap()),
            (vec![], vec![])
        );
        let activities = store.activities(key).unwrap();
        assert!(activities.iter().all(|stored| stored.activity.batch.as_deref() == Some(batch)), "{batch}");
        let batches = store.batches(key).unwrap();
        assert_eq!(batches.len(), 1);
        let last = batches[0].batch.last_activity_at;
        let ended = batches[0].batch.ended.as_ref().map(|ended| ended.status);
        assert_eq!(ended, Some(BatchStatus::Completed));
        assert!(batch == "b" || last == Some(at(activities.len() as i64 - 1)), "{last:?}");
    }
}
