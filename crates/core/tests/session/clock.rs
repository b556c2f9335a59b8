//! The clock is set back while a session works.

use proptest::prelude::*;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::record::{Body, Record};

use crate::properties::a_transcript;
use crate::script::*;

const HOUR: f64 = 3_600.0;

fn later(records: Vec<Record<'static>>, by: f64) -> Vec<Record<'static>> {
    let by = Millis((by * 1_000.0) as i64);
    let shifted = |record| with(record, |envelope| envelope.at = envelope.at.map(|at| at + by));
    records.into_iter().map(shifted).collect()
}

#[test]
fn after_the_clock_goes_back_deadlines_count_from_the_next_prompt() {
    let mut play = Play::of([prompt(HOUR, "go"), answer_ends(HOUR + 5.0, "done"), prompt(10.0, "again")]);
    play.apply(&calls(12.0, "a", "Bash"));
    assert_eq!(play.now(), (State::Working, None));
    assert_eq!(play.advance(18.0).now(), (State::WaitingForApproval, Some(StateKind::Permission)));
    assert_eq!(play.fold.facts().last_activity_at, Some(at(12.0)), "and so do ages");
    // A heartbeat from before the change does not count now.
    let mut play =
        Play::of([prompt(HOUR, "go"), calls(HOUR, "a", "Bash"), record(HOUR + 3.0, Body::Progress)]);
    play.apply(&prompt(10.0, "again")).apply(&calls(12.0, "b", "Bash"));
    assert_eq!(play.advance(18.0).now().0, State::WaitingForApproval);
    // A record that is late by a little sets no clock back.
    let mut play =
        Play::of([prompt(HOUR, "go"), prompt(HOUR - 500.0, "typed ahead"), calls(HOUR, "a", "Bash")]);
    assert_eq!(play.fold.facts().last_activity_at, Some(at(HOUR)));
    assert_eq!(play.advance(HOUR + 6.0).now().0, State::WaitingForApproval);
}

#[test]
fn copied_history_sets_no_clock_back() {
    let copied = with(prompt(10.0, "old"), |envelope| envelope.forked_from = Some("origin".into()));
    let mut play = Play::of([prompt(HOUR, "go"), copied]);
    play.apply(&calls(HOUR + 1.0, "a", "Bash"));
    assert_eq!(play.fold.clock(), Some(at(HOUR + 1.0)));
}

/// The facts that do not depend on the time before the clock was set.
fn timeless_facts(play: &Play) -> (State, Option<StateKind>, Option<Timestamp>) {
    let (state, kind) = play.now();
    (state, kind, play.fold.deadline())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// The clock was ahead by any time. From the first prompt after it was set right, the fold is as if it had
    /// always been right.
    #[test]
    fn a_clock_that_was_ahead_is_forgotten_with_the_next_prompt(
        before in a_transcript(),
        after in a_transcript(),
        ahead in prop::sample::select(vec![HOUR, 12.0 * HOUR, 9_000.0 * HOUR]),
        looked in prop::option::of(0.0..100.0f64),
        waits in 0.0..20_000.0f64,
    ) {
        // The longest generated transcript lasts less than two days.
        let now = 200_000.0;
        let begins = with(prompt(now, "go"), |envelope| envelope.uuid = None);
        let goes = later(after, now);
        let [mut right, mut wrong] = [0.0, now + ahead].map(|by| Play::of(later(before.clone(), by)));
        if let Some(secs) = looked {
            // The clock advanced the fold while it was wrong.
            wrong.advance(now + ahead + secs);
            wrong.fold.correct_clock(at(now));
        }
        for play in [&mut right, &mut wrong] {
            play.apply(&begins);
            goes.iter().for_each(|record| { play.apply(record); });
            play.advance(now + waits);
        }
        prop_assert_eq!(timeless_facts(&wrong), timeless_facts(&right));
    }
}
