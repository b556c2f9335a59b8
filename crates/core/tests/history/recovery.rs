//! Recovery: the limits of the source document, as values and laws.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::history::{
    Activity, Batch, BatchStatus, Correction, Ended, RecoverySettings, SessionView, recover,
};
use watchbill_core::time::{Millis, Timestamp};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_000_000 + secs * 1_000)
}

fn batch(id: &str, started: i64, last: i64, status: BatchStatus) -> Batch {
    Batch {
        started_at: Some(at(started)),
        last_activity_at: Some(at(last)),
        ended: Some(Ended { status, at: at(last), error: None }),
        ..Batch::new(id.into())
    }
}

fn session(batches: Vec<Batch>) -> SessionView {
    SessionView { id: "s".into(), open: false, batches, ..SessionView::default() }
}

#[test]
fn a_turn_without_a_sign_is_over_after_five_minutes() {
    let settings = RecoverySettings::default();
    let view = session(vec![batch("b", 0, 10, BatchStatus::Active), batch("c", 0, 0, BatchStatus::Failed)]);
    let early = recover(std::slice::from_ref(&view), settings, at(309));
    assert_eq!((early.corrections.len(), early.next), (0, Some(at(369))), "no sooner than a minute from now");
    assert_eq!(recover(std::slice::from_ref(&view), settings, at(11)).next, Some(at(310)));
    let late = recover(std::slice::from_ref(&view), settings, at(310));
    assert_eq!(late.next, None, "nothing is left that could get stuck");
    let [Correction::StuckBatch { batch: told, .. }] = &late.corrections[..] else { panic!("{late:?}") };
    let mut stored = view.batches[0].clone();
    stored.merge(told);
    assert_eq!(stored.ended.map(|e| (e.status, e.at)), Some((BatchStatus::Completed, at(10))));
    // Its next record undoes all of that.
    let mut again = view.batches[0].clone();
    again.merge(told);
    again.merge(&batch("b", 0, 400, BatchStatus::Active));
    assert_eq!(again.ended.map(|e| e.status), Some(BatchStatus::Active));
}

#[test]
fn silence_means_nothing_while_another_witness_reports_a_running_turn() {
    let mut view = session(vec![batch("b", 0, 10, BatchStatus::Active)]);
    (view.lives, view.turn_runs) = (true, true);
    (view.open, view.last_activity_at) = (true, Some(at(10)));
    let recovery = recover(&[view], RecoverySettings::default(), at(9_999));
    assert_eq!((recovery.corrections.len(), recovery.next), (0, Some(at(10_059))));
}

#[test]
fn a_session_without_a_sign_is_over_after_an_hour() {
    let mut view = session(Vec::new());
    (view.open, view.last_activity_at) = (true, Some(at(0)));
    let settings = RecoverySettings::default();
    assert_eq!(recover(std::slice::from_ref(&view), settings, at(3_000)).next, Some(at(3_600)));
    let recovery = recover(std::slice::from_ref(&view), settings, at(3_600));
    assert!(
        matches!(&recovery.corrections[..], [Correction::StaleSession { last_activity_at, .. }] if *last_activity_at == at(0))
    );
    view.open = false;
    assert_eq!(recover(&[view], settings, at(3_600)).corrections, []);
}

#[test]
fn orphans_go_to_the_turn_of_their_time() {
    let mut view = session(vec![
        batch("late", 100, 200, BatchStatus::Completed),
        batch("early", 10, 20, BatchStatus::Completed),
    ]);
    let orphan = |id: &str, secs: Option<i64>| Activity { at: secs.map(at), ..Activity::new(id.into()) };
    view.orphans = vec![
        orphan("before", Some(0)),
        orphan("in", Some(50)),
        orphan("after", Some(500)),
        orphan("timeless", None),
    ];
    let settings = RecoverySettings::default();
    let adopted = |view: &SessionView| -> Vec<(String, String)> {
        let recovery = recover(std::slice::from_ref(view), settings, at(9_999));
        recovery
            .corrections
            .iter()
            .filter_map(|one| match one {
                Correction::OrphanedActivity { call, batch, .. } => {
                    Some((call.to_string(), batch.to_string()))
                }
                _ => None,
            })
            .collect()
    };
    let pairs = |list: [(&str, &str); 4]| list.map(|(a, b)| (a.to_owned(), b.to_owned())).to_vec();
    assert_eq!(
        adopted(&view),
        pairs([("before", "early"), ("in", "early"), ("after", "late"), ("timeless", "late")])
    );
    view.batches.clear();
    let recovery = recover(&[view], settings, at(9_999));
    let Correction::RecoveredBatch { batch, .. } = &recovery.corrections[0] else { panic!("{recovery:?}") };
    assert_eq!((batch.started_at, batch.last_activity_at), (Some(at(0)), Some(at(500))));
    assert_eq!(recovery.corrections.len(), 5);
}

proptest! {
    #[test]
    fn a_second_recovery_finds_nothing_before_next(
        open in proptest::collection::vec((0i64..500, 0i64..500, any::<bool>()), 0..6),
        now in 0i64..2_000,
    ) {
        let settings = RecoverySettings { every: Millis::from_secs(60), ..RecoverySettings::default() };
        let mut view = session(open.iter().enumerate().map(|(n, (started, more, active))| {
            let status = if *active { BatchStatus::Active } else { BatchStatus::Completed };
            batch(&format!("b{n}"), *started, started + more, status)
        }).collect());
        let first = recover(std::slice::from_ref(&view), settings, at(now));
        for one in &first.corrections {
            let Correction::StuckBatch { batch: told, .. } = one else { continue };
            let stored = view.batches.iter_mut().find(|batch| batch.id == told.id);
            if let Some(stored) = stored { stored.merge(told) }
        }
        let again = recover(std::slice::from_ref(&view), settings, at(now));
        prop_assert!(again.corrections.is_empty(), "{again:?}");
        prop_assert_eq!(again.next, first.next);
        if let Some(next) = first.next {
            prop_assert!(next >= at(now) + settings.every);
        } else {
            let later = recover(std::slice::from_ref(&view), settings, at(1_000_000));
            prop_assert!(later.corrections.is_empty());
        }
    }
}

#[test]
fn every_correction_has_a_log_sentence() {
    let mut view = session(vec![batch("b", 0, 10, BatchStatus::Active)]);
    view.orphans = vec![Activity { at: Some(at(5)), ..Activity::new(Arc::from("t")) }];
    (view.open, view.last_activity_at) = (true, Some(at(10)));
    let recovery = recover(&[view], RecoverySettings::default(), at(9_999));
    let log: Vec<_> = recovery
        .corrections
        .iter()
        .map(|one| format!("{} {}: {}", one.session(), <&str>::from(one), one.detail()))
        .collect();
    assert_eq!(
        log,
        [
            "s stuck_batch: the turn of prompt b gave no sign since 1970-01-01T00:16:50.000Z and counts as completed",
            "s stale_session: the session gave no sign since 1970-01-01T00:16:50.000Z and counts as completed",
            "s orphaned_activity: the call t belonged to no prompt and was given to b",
        ]
    );
}
