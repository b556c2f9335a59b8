//! Sessions that need the user: rows, counts and the policy's outcomes always agree.

use serde_json::json;
use watchbill_core::attention::{AttentionEvent, AttentionSettings, Need, Silence};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::input::{AttentionInput, Input};
use watchbill_protocol::roster::Group;

use super::records::{A, B, answer, bash, prompt, result, turn_over};
use crate::house::House;

/// All outcomes of the policy while time passed until `secs`.
fn outcomes_after(house: &mut House, secs: f64) -> Vec<AttentionEvent> {
    house.out.clear();
    house.at(secs);
    house.outcomes()
}

/// The engine's total, and the number of rows with a need: tray, window and status bars count these.
fn counted(house: &House) -> (u32, usize) {
    let rows = house.engine.current(false).rows.iter().filter(|row| row.session().needs.is_some()).count();
    (house.engine.needs().total(), rows)
}

#[test]
fn edge_02_an_automatic_answer_never_counts() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "ls")]);
    for answered in [0.09, 0.9] {
        let from = house.now.since(house.begin).0 as f64 / 1000.0 + 10.0;
        house.at(from).registry(7, A, "waiting:permission prompt");
        assert_eq!(
            (house.row(A).needs, house.row(A).group),
            (None, Group::Working),
            "its row stays where it is"
        );
        house.at(from + answered).registry(7, A, "busy");
        assert_eq!(outcomes_after(&mut house, from + 9.0), [], "answered after {answered} s");
        assert_eq!(counted(&house), (0, 0));
    }
}

#[test]
fn a_need_counts_after_a_second_and_is_alerted_once_after_two() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "rm -r build")]);
    house.at(10.0).registry(7, A, "waiting:permission prompt");
    // Row, chip and tray change at the same moment: until then an automatic reviewer may answer.
    assert_eq!((counted(&house), house.row(A).group), ((0, 0), Group::Working));
    outcomes_after(&mut house, 10.99);
    assert_eq!((counted(&house), house.row(A).group), ((0, 0), Group::Working));
    let outcomes = outcomes_after(&mut house, 11.5);
    assert!(
        matches!(&*outcomes, [AttentionEvent::Counted(counts)] if counts.of(Need::Approval) == 1),
        "{outcomes:?}"
    );
    assert_eq!((counted(&house), house.row(A).needs.as_deref()), ((1, 1), Some("approval")));
    assert_eq!(house.row(A).group, Group::NeedsYou);
    let outcomes = outcomes_after(&mut house, 60.0);
    let [AttentionEvent::Raised { episode, silence: None }] = &*outcomes else { panic!("{outcomes:?}") };
    assert_eq!(
        (episode.session.as_str(), &*episode.name, &*episode.wants),
        (A, "work", "wants to run `rm -r build`")
    );
    house.out.clear();
    house.registry(7, A, "busy").write(A, result("t1"));
    let outcomes = house.outcomes();
    assert!(
        matches!(&*outcomes, [AttentionEvent::Cleared { .. }, AttentionEvent::Counted(_)]),
        "{outcomes:?}"
    );
    assert_eq!((counted(&house), house.row(A).needs), ((0, 0), None));
}

#[test]
fn edge_30_needs_from_before_the_start_are_counted_and_not_alerted() {
    let mut house = House::before_first_scan();
    house.registry(7, A, "waiting:permission prompt").write_all(A, [prompt("go"), bash("t1", "ls")]);
    house.registry(8, B, "waiting:input needed").write(B, prompt("go"));
    house.stage.hints.take();
    house.at(60.0);
    let mut out = Vec::new();
    house.engine.read_registries(&mut out);
    house.step(Input::ScanEnded(Vec::new()));
    house.step(Input::Hints([watchbill_watch::hints::Hint::Everything].into()));
    let outcomes = house.outcomes();
    assert!(!outcomes.iter().any(|outcome| matches!(outcome, AttentionEvent::Raised { .. })), "{outcomes:?}");
    assert_eq!(counted(&house), (2, 2), "but it counts");
    assert!(
        !outcomes_after(&mut house, 600.0)
            .iter()
            .any(|outcome| matches!(outcome, AttentionEvent::Raised { .. }))
    );
}

#[test]
fn edge_29_a_whole_turn_in_one_read_is_alerted_once() {
    let mut house = House::files_alone();
    house.write_all(A, [prompt("one"), answer("done"), turn_over()]);
    house.at(20.0);
    house.out.clear();
    house.write_all(A, [prompt("two"), answer("done again"), turn_over()]);
    let outcomes = outcomes_after(&mut house, 60.0);
    let raised = outcomes.iter().filter(
        |outcome| matches!(outcome, AttentionEvent::Raised { episode, .. } if episode.need == Need::Finished),
    );
    assert_eq!(raised.count(), 1, "{outcomes:?}");
    assert_eq!(counted(&house), (0, 0), "no session waits");
}

#[test]
fn a_superseded_session_has_no_need() {
    let mut house = House::live();
    house.registry(7, A, "waiting:permission prompt").write_all(A, [prompt("go"), bash("t1", "ls")]);
    house.at(5.0);
    assert_eq!(counted(&house), (1, 1));
    // It continues in another session: one need, not two.
    house.registry(7, B, "waiting:permission prompt");
    house.write_all(B, [prompt("on"), bash("t2", "ls")]).at(20.0);
    assert_eq!(counted(&house), (1, 1));
    assert!(json!(house.row(A))["needs"].is_null());
    let (rows, total) = (house.cold(), house.engine.needs());
    assert_eq!(rows.needs(), total, "who looks once counts the same");
}

#[test]
fn a_mute_silences_alerts_and_its_end_is_published() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "npm publish")]);
    house.at(10.0);
    let until = house.now + Millis::from_secs(3_600);
    house.step(Input::Attention(AttentionInput::Mute(Some(until))));
    let revision = house.engine.current(false).revision;
    assert_eq!(house.engine.current(false).muted_until, Some(until));
    house.registry(7, A, "waiting:permission prompt");
    let silences: Vec<_> = outcomes_after(&mut house, 60.0).into_iter().filter_map(silence_of).collect();
    assert_eq!((silences, counted(&house)), (vec![Some(Silence::MutedForNow)], (1, 1)));

    let outcomes = outcomes_after(&mut house, 3_700.0);
    let [AttentionEvent::AlreadySo(waiting)] = &*outcomes else {
        panic!("who still waits, once: {outcomes:?}")
    };
    assert_eq!(waiting.iter().map(|one| one.session.as_str()).collect::<Vec<_>>(), [A]);
    assert_eq!(house.engine.current(false).muted_until, None, "it ends by itself");
    assert!(house.engine.current(false).revision > revision, "and every subscriber gets it");
    house.step(Input::Attention(AttentionInput::Mute(Some(house.now))));
    assert_eq!(house.engine.current(false).muted_until, None, "a time that has passed mutes nothing");
    assert_eq!(outcomes_after(&mut house, 3_800.0), []);
}

#[test]
fn changed_alert_settings_apply_to_later_needs_only() {
    let mut house = House::live();
    house.registry(7, A, "busy").write_all(A, [prompt("go"), bash("t1", "ls")]);
    house.at(10.0).registry(7, A, "waiting:permission prompt");
    assert_eq!(
        outcomes_after(&mut house, 20.0).into_iter().filter_map(silence_of).collect::<Vec<_>>(),
        [None]
    );
    let errors = AttentionSettings { kinds: [Need::Error].into(), ..AttentionSettings::default() };
    house.change_alert_settings(errors);
    house.step(Input::Attention(AttentionInput::InFront([SessionId::new(B)].into())));
    assert_eq!(outcomes_after(&mut house, 30.0), []);
    house.registry(8, B, "waiting:permission prompt").write_all(B, [prompt("go"), bash("t2", "ls")]);
    let silences: Vec<_> = outcomes_after(&mut house, 60.0).into_iter().filter_map(silence_of).collect();
    assert_eq!(silences, [Some(Silence::Kind)]);
    house.change_alert_settings(AttentionSettings::default());
    house.registry(8, B, "busy").write(B, result("t2"));
    house.registry(8, B, "waiting:permission prompt").write(B, bash("t3", "make"));
    let silences: Vec<_> = outcomes_after(&mut house, 90.0).into_iter().filter_map(silence_of).collect();
    assert_eq!(silences, [Some(Silence::InFront)]);
}

/// The silence of a raised episode.
fn silence_of(outcome: AttentionEvent) -> Option<Option<Silence>> {
    match outcome {
        AttentionEvent::Raised { silence, .. } => Some(silence),
        _ => None,
    }
}
