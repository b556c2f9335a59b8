//! Sessions that the user snoozed or put away: they stop needing the user, and none of them is ever lost.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::attention::{Attention, AttentionEvent, Need, Sighting, needs_person};
use watchbill_core::chain::Chains;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::{Reason, Row, Source};
use watchbill_core::roster::{Filter, Group, OrderKey, group_of};
use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::user::{
    CommandFacts, CommandRefusal, Deferral, EditChange, SeenActivity, SessionCommand, UserEdits,
    changes_of_command,
};

use crate::row::bare;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_768_154_400_000 + secs * 1000)
}

/// A live session in this state since `since`, whose newest record is of `active`.
fn row(state: State, kind: Option<StateKind>, since: i64, active: i64) -> Row {
    let (source, detail) = (Source::Registry, Arc::from("the registry says so"));
    let state_reason = Reason { source, detail, confidence: Confidence::Observed };
    let (state_since, last_activity_at) = (at(since), at(active));
    Row { state, state_kind: kind, state_since, last_activity_at, state_reason, live: true, ..bare("s") }
}

fn asks(since: i64) -> Row {
    row(State::WaitingForApproval, Some(StateKind::Permission), since, since)
}

/// The changes of one command, given at `now` for this row.
fn changes_of(word: &SessionCommand, now: i64, row: Option<&Row>) -> Result<Vec<EditChange>, CommandRefusal> {
    let known = CommandFacts {
        now: at(now),
        user_edits: &UserEdits::default(),
        chains: &Chains::default(),
        began: &|_| None,
        row,
    };
    changes_of_command(&known, word)
}

fn marked(aside: Deferral, mut row: Row, now: i64) -> Row {
    aside.apply_to_row(&mut row, at(now));
    row
}

#[test]
fn a_snoozed_session_rests_and_does_not_need_the_user_until_its_time() {
    let aside = Deferral { snoozed_until: Some(at(900)), away: None };
    let mut asking = asks(10);
    assert_eq!(aside.apply_to_row(&mut asking, at(20)), Some(at(900)), "its end is a deadline");
    assert_eq!((asking.snoozed_until, group_of(&asking)), (Some(at(900)), Group::Idle));
    assert_eq!(OrderKey::of(&asking).group, Group::Idle);
    assert_eq!((needs_person(&asking), Sighting::of(&asking).need), (None, None));
    assert!(Filter::default().shows(&asking, at(20)), "it is still to be seen");

    assert_eq!(aside.apply_to_row(&mut asking, at(900)), None);
    assert_eq!((asking.snoozed_until, group_of(&asking)), (None, Group::Working), "it counts anew");
    asking.needs = Some(Need::Approval);
    assert_eq!(group_of(&asking), Group::NeedsYou);
    assert_eq!(needs_person(&asking), Some(Need::Approval));
    let mut attention = Attention::default();
    attention.apply_sighting(at(900), Sighting::of(&asking));
    assert_eq!(attention.counts(at(900)).total(), 0, "it counts anew, so its dwell begins anew");
    assert_eq!(attention.counts(at(901)).total(), 1);
}

#[test]
fn a_need_that_outlasts_a_snooze_alerts_anew() {
    let mut attention = Attention::default();
    attention.begin(at(0));
    let raised = |attention: &mut Attention, row: &Row, now: i64| {
        attention.apply_sighting(at(now), Sighting::of(row));
        let outcomes = attention.advance(at(now));
        outcomes.iter().filter(|outcomes| matches!(outcomes, AttentionEvent::Raised { .. })).count()
    };
    let aside = Deferral { snoozed_until: Some(at(900)), away: None };
    assert_eq!(raised(&mut attention, &asks(10), 13), 1);
    assert_eq!(raised(&mut attention, &marked(aside, asks(10), 20), 20), 0);
    assert_eq!(raised(&mut attention, &marked(aside, asks(10), 899), 899), 0);
    assert_eq!(raised(&mut attention, &marked(aside, asks(10), 900), 900), 0, "after the dwell");
    assert_eq!(raised(&mut attention, &marked(aside, asks(10), 902), 902), 1);
    assert_eq!(raised(&mut attention, &marked(aside, asks(10), 960), 960), 0, "once");
}

#[test]
fn the_end_of_a_snoozed_turn_raises_no_alert() {
    let aside = Deferral { snoozed_until: Some(at(900)), away: None };
    let ended = row(State::WaitingForInput, Some(StateKind::TurnEnded), 10, 10);
    assert_eq!(Sighting::of(&ended).need, Some(Need::Finished));
    assert_eq!(Sighting::of(&marked(aside, ended, 20)).need, None);
}

#[test]
fn a_session_put_away_leaves_the_roster_until_something_happens() {
    let seen = row(State::WaitingForInput, Some(StateKind::TurnEnded), 10, 10);
    let word = SessionCommand::PutAway { session: SessionId::new("s"), away: true };
    let changes = changes_of(&word, 20, Some(&seen)).unwrap();
    let [EditChange::SetDeferral(_, aside)] = changes[..] else { panic!("{changes:?}") };
    assert_eq!(aside.away, Some(SeenActivity { active_at: at(10), since: at(10) }));
    let shows = |row: Row| {
        let row = marked(aside, row, 5_000);
        assert!(
            Filter { all: true, ..Filter::default() }.shows(&row, at(5_000)),
            "with all it is always shown"
        );
        Filter::default().shows(&row, at(5_000))
    };
    assert!(!shows(seen));
    assert!(!shows(row(State::Idle, None, 610, 10)), "it has grown quiet");
    assert!(!shows(row(State::Ended, None, 700, 10)), "its process has ended");
    assert!(shows(row(State::WaitingForInput, Some(StateKind::TurnEnded), 10, 30)), "a new record");
    assert!(shows(row(State::Working, None, 30, 10)), "the registry says that a turn runs");
    assert!(shows(row(State::WaitingForApproval, Some(StateKind::Permission), 30, 10)), "it needs the user");
}

#[test]
fn an_inferred_end_stays_put_away_and_an_inferred_need_comes_back() {
    let aside =
        Deferral { away: Some(SeenActivity { active_at: at(10), since: at(10) }), snoozed_until: None };
    let by_silence = |mut row: Row| {
        row.state_reason.source = Source::Timeout;
        marked(aside, row, 100).put_away
    };
    assert!(by_silence(row(State::WaitingForInput, None, 70, 10)));
    assert!(!by_silence(row(State::WaitingForApproval, Some(StateKind::Permission), 15, 10)));
}

#[test]
fn impossible_commands_are_refused_with_a_message() {
    let session = SessionId::new("s");
    let past = SessionCommand::Snooze { session: session.clone(), until: Some(at(5)) };
    assert_eq!(
        changes_of(&past, 5, None).unwrap_err().to_string(),
        "2026-01-11T18:00:05.000Z has passed; name a time to come"
    );
    let unknown = SessionCommand::PutAway { session: session.clone(), away: true };
    assert_eq!(changes_of(&unknown, 5, None).unwrap_err().to_string(), "session s is not known");
    let off = changes_of(&SessionCommand::Snooze { session: session.clone(), until: None }, 5, None).unwrap();
    assert_eq!(off, [EditChange::SetDeferral(session, Deferral::default())]);
}

#[test]
fn snooze_and_put_away_are_independent() {
    let session = SessionId::new("s");
    let mut user_edits = UserEdits::default();
    let row = asks(1);
    for word in [
        SessionCommand::Snooze { session: session.clone(), until: Some(at(99)) },
        SessionCommand::PutAway { session: session.clone(), away: true },
        SessionCommand::Snooze { session: session.clone(), until: None },
    ] {
        let known = CommandFacts {
            now: at(9),
            user_edits: &user_edits,
            chains: &Chains::default(),
            began: &|_| None,
            row: Some(&row),
        };
        changes_of_command(&known, &word).unwrap().into_iter().for_each(|change| user_edits.apply(change));
    }
    assert_eq!(
        user_edits.deferral_of(&session),
        Some(&Deferral { snoozed_until: None, away: Some(SeenActivity::of(&row)) })
    );
    user_edits.apply(EditChange::SetDeferral(session.clone(), Deferral::default()));
    assert_eq!(user_edits.deferrals().count(), 0);
}

proptest! {
    #[test]
    fn new_events_end_put_away_and_time_ends_a_snooze(
        seen in (0i64..1_000, 0i64..1_000),
        (since, active) in (0i64..2_000, 0i64..2_000),
        state in 0..5usize,
    ) {
        let states = [State::Working, State::WaitingForApproval, State::WaitingForInput, State::Idle, State::Ended];
        let aside = Deferral { away: Some(SeenActivity { active_at: at(seen.0), since: at(seen.1) }), snoozed_until: Some(at(1_000)) };
        let row = marked(aside, row(states[state], None, since, active), 1_000);
        prop_assert_eq!(row.snoozed_until, None, "a snooze ends at its time");
        if active > seen.0 || state == 1 && since > seen.1 {
            prop_assert!(!row.put_away, "something new has happened");
        }
    }
}
