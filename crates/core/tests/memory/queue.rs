//! Which turn a model is asked about next: never while a session works, never beyond a limit, the newest first, and all in the end.

use jiff::tz::TimeZone;
use proptest::prelude::*;
use watchbill_core::history::rows::{BatchStatus, CallOutcome};
use watchbill_core::memory::model::queue::{
    JobFacts, JobState, MOST_TRIES, NEWEST, NextQuestion, QueueFacts, Rest, next_question, turns_to_ask,
};
use watchbill_core::time::{Millis, Timestamp};

use crate::rows::{ROOT, Writer};

const NOW: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const HOUR: i64 = 3_600_000;

fn time() -> impl Strategy<Value = Timestamp> {
    (-50 * HOUR..50 * HOUR).prop_map(|by| NOW + Millis(by))
}

fn state() -> impl Strategy<Value = JobState> {
    prop::sample::select(vec![
        JobState::Queued,
        JobState::Running,
        JobState::Done,
        JobState::Failed,
        JobState::Skipped,
    ])
}

fn jobs() -> impl Strategy<Value = Vec<JobFacts>> {
    let job = (state(), any::<bool>(), time(), prop::option::of(time()));
    prop::collection::vec(
        job.prop_map(|(state, is_wanted, ended_at, due_at)| JobFacts { state, is_wanted, ended_at, due_at }),
        0..8,
    )
}

fn facts() -> impl Strategy<Value = QueueFacts> {
    let until = || prop::option::of(time());
    (any::<bool>(), until(), until(), until(), 0..2 * NEWEST).prop_map(
        |(is_busy, paused_until, resting_until, capped_until, asked_today)| QueueFacts {
            is_busy,
            paused_until,
            resting_until,
            capped_until,
            asked_today,
            day_ends: NOW + Millis(HOUR),
        },
    )
}

proptest! {
    #[test]
    fn a_question_comes_only_when_nothing_holds_it_up(facts in facts(), jobs in jobs()) {
        let held = [facts.paused_until, facts.resting_until, facts.capped_until];
        let is_held = held.into_iter().flatten().any(|until| until > NOW);
        let queued = |job: &&JobFacts| job.state == JobState::Queued && job.due_at.is_some();
        let due = |job: &&JobFacts| job.state == JobState::Queued && job.due_at.is_some_and(|at| at <= NOW);
        match next_question(&facts, &jobs, NOW) {
            NextQuestion::Ask(at) => {
                prop_assert!(!facts.is_busy && !is_held);
                prop_assert!(due(&&jobs[at]));
                prop_assert!(jobs[at].is_wanted || facts.asked_today < NEWEST);
                let may = |job: &&JobFacts| job.is_wanted || facts.asked_today < NEWEST;
                let newest = jobs.iter().filter(due).filter(may).map(|job| job.ended_at).max();
                prop_assert_eq!(Some(jobs[at].ended_at), newest, "the newest first");
            }
            NextQuestion::WaitUntil(at) => {
                prop_assert!(at > NOW, "it never looks again at once");
                // At that time the reason is over, so it does not wake in vain twice.
                let later = QueueFacts { asked_today: 0, ..facts };
                prop_assert!(matches!(next_question(&later, &jobs, at), NextQuestion::Ask(_)));
            }
            NextQuestion::WaitForEvent => {
                prop_assert!(facts.is_busy || !jobs.iter().any(|job| queued(&job)));
            }
        }
    }

    #[test]
    fn a_rest_grows_to_half_an_hour_and_a_clock_that_went_back_ends_it(failures in 1u32..200) {
        let mut rest = Rest::default();
        let mut before = Millis(0);
        for _ in 0..failures {
            rest.failed(NOW);
            let span = rest.until(NOW).unwrap().since(NOW);
            prop_assert!(span >= before && span >= Millis::from_secs(60) && span <= Millis::from_secs(1_800));
            before = span;
        }
        prop_assert_eq!(rest.until(NOW - Millis(HOUR)), None);
        rest.end();
        prop_assert_eq!(rest, Rest::default());
    }

    #[test]
    fn days_follow_each_other(at in -100_000_000_000i64..4_000_000_000_000) {
        let at = Timestamp::from_millis(at);
        for zone in [TimeZone::UTC, TimeZone::get("Asia/Seoul").unwrap(), TimeZone::get("America/New_York").unwrap()] {
            let (begin, next) = (at.begin_of_day(&zone), at.next_day(&zone));
            prop_assert!(begin <= at && at < next);
            prop_assert_eq!(next.begin_of_day(&zone), next);
            prop_assert_eq!((at.day(&zone), begin.day(&zone)), (begin.day(&zone), (next - Millis(1)).day(&zone)));
        }
    }
}

#[test]
fn turns_with_edits_or_errors_are_asked_about_once_they_ended() {
    let mut session = Writer::new();
    let edit = format!("{ROOT}/src/log.rs");
    session.prompt("only reads").call("Read", &edit, CallOutcome::Ok, None).ends(BatchStatus::Completed);
    session.prompt("edits").call("Edit", &edit, CallOutcome::Ok, None).ends(BatchStatus::Completed);
    session
        .prompt("an edit that was refused")
        .call("Edit", &edit, CallOutcome::Denied, None)
        .ends(BatchStatus::Completed);
    session
        .prompt("fails")
        .call("Bash", "cargo test", CallOutcome::Error, Some("no"))
        .ends(BatchStatus::Interrupted);
    session
        .prompt("private")
        .call("Edit", &edit, CallOutcome::Ok, None)
        .ends(BatchStatus::Completed)
        .last()
        .private = true;
    session.prompt("goes on").call("Edit", &edit, CallOutcome::Ok, None).ends(BatchStatus::Active);
    let asked = |since| -> Vec<String> {
        turns_to_ask(&session.rows, since).into_iter().map(|(id, _)| id.to_string()).collect()
    };
    assert_eq!(asked(Timestamp::default()), ["b1", "b3"]);
    let end = session.rows.batches[1].ended.as_ref().unwrap().at;
    assert_eq!((asked(end), asked(end + Millis(1))), (vec!["b1".into(), "b3".into()], vec!["b3".to_owned()]));
}

#[test]
fn a_job_is_given_up_after_its_last_try() {
    let states: Vec<JobState> = (0..=MOST_TRIES).map(JobState::after_failure).collect();
    assert_eq!(states, [JobState::Queued, JobState::Queued, JobState::Queued, JobState::Failed]);
    for state in states {
        assert_eq!(state.as_str().parse(), Ok(state));
    }
}
