//! Turns, sessions and calls without an end are repaired in the store, and the log says so.

use watchbill_core::history::{Activity, Batch, BatchStatus, Ended, RecoverySettings};
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

#[test]
fn turns_sessions_and_calls_are_repaired_and_logged_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    // Only hooks reported this session.
    let killed = step.session_key(&SessionId::new("killed")).unwrap();
    step.merge_batch(killed, None, &active("b", 0)).unwrap();
    let orphan = Activity { at: Some(at(5)), tool: Some("Bash".into()), ..Activity::new("t".into()) };
    step.merge_activity(killed, None, &orphan).unwrap();
    // The engine reports this session as running.
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
    // In steps of a few sessions, as the history's thread does it.
    let mut put_right = |store: &mut Store, now| loop {
        let next = recoverer.correct_some(store, RecoverySettings::default(), now).unwrap();
        if next != Some(now) {
            return next;
        }
    };
    assert_eq!(put_right(&mut store, at(10)), Some(at(70)), "the running one is asked in a minute");
    let status =
        |store: &Store, key| store.batches(key).unwrap()[0].batch.ended.as_ref().map(|ended| ended.status);
    assert_eq!(status(&store, killed), Some(BatchStatus::Active));
    assert_eq!(store.activities(killed).unwrap()[0].activity.batch.as_deref(), Some("b"));

    put_right(&mut store, at(310));
    assert_eq!(status(&store, killed), Some(BatchStatus::Completed));
    assert_eq!(status(&store, running), Some(BatchStatus::Active));
    put_right(&mut store, at(4_000));
    put_right(&mut store, at(4_100));
    let log: Vec<_> = store.recoveries(10).unwrap().into_iter().rev().map(|row| row.what).collect();
    assert_eq!(log, ["orphaned_activity", "stuck_batch", "stale_session"], "each once");
    let row = store.session(&SessionId::new("killed")).unwrap().unwrap();
    assert_eq!(row.state.as_deref(), Some("ended"));
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
    while recoverer.correct_some(&mut store, settings, now).unwrap() == Some(now) {
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
