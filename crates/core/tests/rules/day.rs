//! The day: stretches, lanes, figures.

use proptest::prelude::*;
use watchbill_core::day::{Change, Count, Doing, Stretch, Turn, counts, figures, lane, session_stretches};
use watchbill_core::history::rows::BatchStatus;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(secs * 1_000)
}

fn change(secs: i64, state: State, kind: Option<StateKind>) -> Change {
    Change { at: at(secs), state, kind, inferred: false }
}

const WORKING: (State, Option<StateKind>) = (State::Working, None);
const ASKS: (State, Option<StateKind>) = (State::WaitingForApproval, Some(StateKind::Permission));
const DONE: (State, Option<StateKind>) = (State::WaitingForInput, Some(StateKind::TurnEnded));

fn seen(changes: &[(i64, (State, Option<StateKind>))]) -> Vec<Change> {
    changes.iter().map(|(secs, (state, kind))| change(*secs, *state, *kind)).collect()
}

fn turn(began: i64, ended: Option<(i64, BatchStatus)>) -> Turn {
    let last = ended.map_or(began, |(end, _)| end);
    Turn { began: at(began), last: at(last), ended: ended.map(|(end, status)| (at(end), status)) }
}

/// What is done, and from when to when, in seconds.
fn shown(stretches: &[Stretch]) -> Vec<(&'static str, i64, i64)> {
    let secs = |at: Timestamp| at.as_millis() / 1_000;
    stretches.iter().map(|it| (it.doing.as_str(), secs(it.from), secs(it.to))).collect()
}

fn of(changes: &[Change], turns: &[Turn]) -> Vec<(&'static str, i64, i64)> {
    shown(&session_stretches(changes, turns, true, &(at(0)..at(10_000))))
}

#[test]
fn a_wait_is_what_the_changes_say() {
    let day = seen(&[(-50, WORKING), (100, ASKS), (160, WORKING), (200, DONE), (500, (State::Ended, None))]);
    let expected =
        [("working", 0, 100), ("waiting", 100, 160), ("working", 160, 200), ("your_turn", 200, 500)];
    assert_eq!(of(&day, &[]), expected);
    assert_eq!(of(&day, &[turn(-50, Some((200, BatchStatus::Completed)))]), expected, "the turn was seen");
}

#[test]
fn a_request_that_is_answered_within_a_second_belongs_to_the_turn() {
    let mut day = seen(&[(0, WORKING), (100, ASKS), (101, WORKING)]);
    assert_eq!(of(&day, &[]).len(), 3, "a second counts");
    day[2].at = at(101) - Millis(1);
    assert_eq!(of(&day, &[]), [("working", 0, 10_000)]);
}

#[test]
fn a_turn_that_no_process_saw_is_told_by_its_transcript() {
    use BatchStatus::{Active, Completed, Failed};
    let turns = [turn(100, Some((200, Completed))), turn(300, Some((400, Failed))), turn(2_000, None)];
    let expected = [
        ("working", 100, 200),
        ("your_turn", 200, 300),
        ("working", 300, 400),
        ("failed", 400, 1_000),
        ("idle", 1_000, 2_000),
        ("working", 2_000, 10_000),
    ];
    assert_eq!(of(&[], &turns), expected);
    // It was seen to begin, and to end the turn after the next.
    let day = seen(&[(100, WORKING), (2_500, DONE)]);
    assert_eq!(
        of(&day, &turns[..2]),
        expected[..4]
            .iter()
            .copied()
            .chain([("idle", 1_000, 2_500), ("your_turn", 2_500, 10_000)])
            .collect::<Vec<_>>()
    );
    // The last turn goes on by its transcript, and was seen to end.
    let mut last = turn(2_000, Some((2_100, Active)));
    last.last = at(2_490);
    assert_eq!(
        of(&seen(&[(2_500, DONE)]), &[last]),
        [("working", 2_000, 2_500), ("your_turn", 2_500, 10_000)]
    );
}

#[test]
fn a_session_of_a_program_waits_for_no_person() {
    let day = seen(&[(0, WORKING), (100, ASKS), (200, DONE)]);
    let stretches = session_stretches(&day, &[], false, &(at(0)..at(300)));
    assert_eq!(shown(&stretches), [("working", 0, 100), ("working", 100, 200), ("idle", 200, 300)]);
}

#[test]
fn a_lane_shows_the_session_that_says_most() {
    let within = at(0)..at(1_000);
    let before = session_stretches(&seen(&[(0, WORKING), (100, DONE)]), &[], true, &within);
    let after = session_stretches(&seen(&[(150, WORKING), (200, ASKS), (300, DONE)]), &[], true, &within);
    let lane = lane(&[before, after]);
    let expected = [
        ("working", 0, 100),
        ("your_turn", 100, 150),
        ("working", 150, 200),
        ("waiting", 200, 300),
        ("your_turn", 300, 1_000),
    ];
    assert_eq!(shown(&lane), expected);
    assert_eq!(lane.iter().map(|it| it.session).collect::<Vec<_>>(), [0, 0, 1, 1, 1]);
}

#[test]
fn errors_limits_and_retries_are_no_waits() {
    let kinds = [
        (State::WaitingForInput, StateKind::Error),
        (State::WaitingForInput, StateKind::Limit),
        (State::Working, StateKind::Retrying),
    ];
    for (state, kind) in kinds {
        assert_eq!(Doing::of(state, Some(kind)), Some(Doing::Failed), "{kind:?}");
    }
    assert_eq!(Doing::of(State::WaitingForApproval, Some(StateKind::Plan)), Some(Doing::Waiting));
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let states = prop::sample::select(vec![
        WORKING,
        ASKS,
        DONE,
        (State::Idle, None),
        (State::Ended, None),
        (State::WaitingForInput, Some(StateKind::Error)),
    ]);
    prop::collection::vec((-100..1_100_i64, states), 0..12).prop_map(|mut changes| {
        changes.sort_by_key(|(secs, _)| *secs);
        seen(&changes)
    })
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let status = prop::sample::select(vec![BatchStatus::Completed, BatchStatus::Active, BatchStatus::Failed]);
    prop::collection::vec((-100..1_100_i64, 0..200_i64, prop::option::of(status)), 0..4).prop_map(
        |mut turns| {
            turns.sort_by_key(|(began, ..)| *began);
            let one = |(began, took, status): (i64, i64, Option<BatchStatus>)| {
                turn(began, status.map(|it| (began + took, it)))
            };
            turns.into_iter().map(one).collect()
        },
    )
}

fn lanes() -> impl Strategy<Value = Vec<Vec<Stretch>>> {
    let session = (changes(), turns(), any::<bool>());
    let chain = prop::collection::vec(session, 1..4).prop_map(|sessions| {
        let of = |(changes, turns, attended): &(Vec<Change>, Vec<Turn>, bool)| {
            session_stretches(changes, turns, *attended, &(at(0)..at(1_000)))
        };
        lane(&sessions.iter().map(of).collect::<Vec<_>>())
    });
    prop::collection::vec(chain, 0..5)
}

/// What a lane does in a second.
fn doing(lane: &[Stretch], secs: i64) -> Option<Doing> {
    let mut there = lane.iter().filter(|it| it.from <= at(secs) && at(secs) < it.to);
    let first = there.next().map(|it| it.doing);
    assert!(there.next().is_none(), "one stretch at a time");
    first
}

proptest! {
    #[test]
    fn stretches_are_in_order_and_within_the_day(lanes in lanes()) {
        for lane in &lanes {
            for stretch in lane {
                prop_assert!(at(0) <= stretch.from && stretch.from < stretch.to && stretch.to <= at(1_000));
            }
            for pair in lane.windows(2) {
                prop_assert!(pair[0].to <= pair[1].from);
                let moved = Stretch { from: pair[0].from, to: pair[0].to, ..pair[1] };
                prop_assert!(pair[0].to < pair[1].from || pair[0] != moved, "it would be one");
            }
        }
    }

    #[test]
    fn the_figures_are_what_counting_each_second_gives(lanes in lanes()) {
        let figures = figures(&lanes);
        let counts = counts(&lanes);
        let (mut waited, mut worked, mut two, mut one) = (0, 0, 0, 0);
        for secs in 0..1_000 {
            let count = |what| lanes.iter().filter(|lane| doing(lane, secs) == Some(what)).count();
            let (working, waiting) = (count(Doing::Working), count(Doing::Waiting));
            let told = counts.iter().rfind(|count| count.at <= at(secs)).copied().unwrap_or_default();
            prop_assert_eq!(told, Count { at: told.at, working, waiting });
            (waited, worked) = (waited + waiting as i64, worked + working as i64);
            (two, one) = (two + i64::from(waiting > 1), one + i64::from(working > 0));
        }
        let secs = |span: Millis| span.0 / 1_000;
        prop_assert_eq!((secs(figures.waited), secs(figures.worked)), (waited, worked));
        prop_assert_eq!((secs(figures.two_or_more), secs(figures.one_or_more)), (two, one));
        let longest = figures.longest.map_or(Millis(0), |(_, it)| it.span());
        prop_assert!(figures.median <= longest && longest <= figures.waited);
        prop_assert_eq!(figures.waits == 0, longest == Millis(0));
    }

    #[test]
    fn a_lane_of_sessions_says_at_each_time_what_one_of_them_says(sessions in prop::collection::vec(changes(), 1..4)) {
        let each: Vec<_> =
            sessions.iter().map(|changes| session_stretches(changes, &[], true, &(at(0)..at(1_000)))).collect();
        let lane = lane(&each);
        for secs in 0..1_000 {
            prop_assert_eq!(doing(&lane, secs), each.iter().filter_map(|one| doing(one, secs)).max());
        }
    }
}
