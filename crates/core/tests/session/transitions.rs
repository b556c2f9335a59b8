//! The source document's table of transitions and its timeouts, one test for each row.

use watchbill_core::ids::SessionId;
use watchbill_core::session::Effect;
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::{Confidence, State, Timeouts};
use watchbill_core::time::Millis;

use crate::script::*;

#[test]
fn a_session_starts_idle_without_a_deadline() {
    let play = Play::new();
    assert_eq!(play.now(), IDLE);
    assert_eq!(play.fold.deadline(), None);
    assert!(!play.reading().by_timeout);
    assert!(play.out.is_empty());
}

#[test]
fn idle_to_working_on_a_prompt() {
    let play = Play::of([prompt(0.0, "go")]);
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.reading().since, at(0.0));
    let [Effect::Transition { from, to, at: when, .. }] = &play.out[..] else { panic!("{:?}", play.out) };
    assert_eq!((*from, *to, *when), (State::Idle, State::Working, at(0.0)));
}

#[test]
fn working_to_approval_when_a_call_is_pending_for_five_seconds() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash")]);
    assert_eq!(play.fold.deadline(), Some(at(6.0)));
    assert_eq!(play.advance(5.999).now(), WORKING);
    assert_eq!(play.advance(6.0).now(), PERMISSION);
    let reading = play.reading();
    assert_eq!(reading.since, at(6.0));
    assert!(reading.by_timeout, "silence decided");
    assert_eq!(reading.confidence, Confidence::Inferred);
    assert!(reading.detail.contains("Bash") && reading.detail.contains("5 s"), "{}", reading.detail);
}

#[test]
fn approval_to_working_on_the_tools_result() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash")]);
    play.advance(8.0);
    play.apply(&returns(9.0, "a"));
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.path(), [WORKING, PERMISSION, WORKING]);
    assert!(play.fold.pending_tools().is_empty());
}

#[test]
fn working_to_input_when_the_turn_ends() {
    let play = Play::of([prompt(0.0, "go"), answer_ends(3.0, "done")]);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.reading().confidence, Confidence::Observed);
    let play = Play::of([prompt(0.0, "go"), answer_goes_on(3.0, "done"), turn_over(40.0)]);
    assert_eq!(play.now(), ENDED, "turn_duration says so as well");
}

#[test]
fn working_to_input_when_silent_for_sixty_seconds() {
    let mut play = Play::of([prompt(0.0, "go"), answer_goes_on(3.0, "well")]);
    assert_eq!(play.fold.deadline(), Some(at(63.0)));
    assert_eq!(play.advance(62.9).now(), WORKING);
    assert_eq!(play.advance(63.0).now(), ENDED);
    let reading = play.reading();
    assert!(reading.by_timeout);
    assert_eq!(reading.confidence, Confidence::Inferred);
    assert_eq!(reading.detail, "silent for 1 min: the turn may have ended");
    // Either the turn had not ended, or it had and the agent reports it now.
    let mut later = Play { fold: play.fold.clone(), out: Vec::new() };
    assert_eq!(later.apply(&answer_goes_on(64.0, "and")).now(), WORKING);
    play.apply(&turn_over(64.0));
    assert_eq!(play.now(), ENDED);
    assert!(!play.reading().by_timeout, "the inferred end is confirmed");
}

#[test]
fn input_to_working_on_a_prompt() {
    let play = Play::of([prompt(0.0, "go"), answer_ends(3.0, "done"), prompt(20.0, "more")]);
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.path(), [WORKING, ENDED, WORKING]);
}

#[test]
fn any_state_to_idle_after_ten_minutes_without_activity() {
    let stories: [(&str, Vec<_>); 3] = [
        ("working", vec![prompt(0.0, "go"), calls(1.0, "a", "Agent")]),
        ("permission", vec![prompt(0.0, "go"), calls(1.0, "a", "Bash")]),
        ("ended", vec![prompt(0.0, "go"), answer_ends(1.0, "done")]),
    ];
    for (story, records) in stories {
        let mut play = Play::of(records);
        assert_ne!(play.advance(600.9).now(), IDLE, "{story}");
        assert_eq!(play.advance(601.0).now(), IDLE, "{story}");
        assert_eq!(play.reading().detail, "no activity for 10 min", "{story}");
        assert!(play.reading().by_timeout, "{story}");
        assert_eq!(play.reading().since, at(601.0), "{story}");
        assert_eq!(play.fold.deadline(), None, "an idle session costs no wake-up: {story}");
    }
}

#[test]
fn an_open_question_or_plan_is_shown_for_a_day() {
    for (tool, open) in [("AskUserQuestion", QUESTION), ("ExitPlanMode", PLAN)] {
        let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", tool)]);
        assert_eq!(play.fold.deadline(), Some(at(86_401.0)), "it costs no wake-up until then");
        assert_eq!(play.advance(86_400.9).now(), open, "silence is no answer");
        assert_eq!((play.reading().since, play.reading().by_timeout), (at(1.0), false));
        let mut answered = Play::of([prompt(0.0, "go"), calls(1.0, "a", tool)]);
        answered.advance(80_000.0);
        answered.apply(&returns(80_001.0, "a"));
        assert_eq!(answered.now(), WORKING);
        assert_eq!(play.advance(86_401.0).now(), IDLE, "the question is given up after a day");
        assert_eq!(play.reading().detail, "no activity for 24 h");
        assert_eq!(play.fold.deadline(), None);
    }
}

#[test]
fn idle_to_working_when_the_tool_returns_after_all() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Agent")]);
    play.advance(2_000.0);
    play.apply(&returns(2_001.0, "a"));
    assert_eq!(play.now(), WORKING);
}

#[test]
fn the_timeouts_are_settings() {
    let timeouts = Timeouts {
        approval: Millis::from_secs(30),
        stale: Millis::from_secs(40),
        idle: Millis::from_secs(50),
    };
    let mut fold = SessionFold::new(SessionId::new(SESSION), timeouts);
    let mut out = Vec::new();
    fold.apply(&prompt(0.0, "go"), &mut out);
    assert_eq!(fold.deadline(), Some(at(40.0)));
    fold.apply(&calls(1.0, "a", "Bash"), &mut out);
    assert_eq!(fold.deadline(), Some(at(31.0)));
    fold.advance(at(31.0), &mut out);
    assert_eq!(fold.deadline(), Some(at(51.0)));
}

#[test]
fn timeouts_fire_between_records_as_they_would_have_live() {
    // A day between two turns, read in one go: the history contains the idle time.
    let play = Play::of([prompt(0.0, "go"), answer_ends(3.0, "done"), prompt(86_400.0, "more")]);
    assert_eq!(play.path(), [WORKING, ENDED, IDLE, WORKING]);
    let Effect::Transition { at: when, .. } = &play.out[2];
    assert_eq!(*when, at(603.0), "at its own time, not at that of the next record");
}

#[test]
fn a_deadline_that_the_clock_fired_too_early_is_undone() {
    // The result was written at 5.9 s and was read at 6.3 s; the clock had passed 6.0 s before.
    let records = [prompt(0.0, "go"), calls(1.0, "a", "Bash"), returns(5.9, "a")];
    let mut live = Play::of(records[..2].to_vec());
    live.advance(6.2);
    assert_eq!(live.now(), PERMISSION);
    live.apply(&records[2]);
    let cold = Play::of(records);
    assert_eq!(live.reading(), cold.reading());
    assert_eq!(live.reading().since, at(0.0), "as if nothing had been guessed");
    assert_eq!(live.path(), [WORKING, PERMISSION, WORKING], "the reported transition is reported back");
}

#[test]
fn metadata_in_a_live_session_does_not_make_the_state_flap() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash")]);
    play.advance(10.0);
    let told = play.out.len();
    for record in silent_records(1.5) {
        play.apply(&record);
        assert_eq!(play.now(), PERMISSION, "{record:?}");
    }
    assert_eq!(play.out.len(), told, "nothing happened, so nothing is reported");
}
