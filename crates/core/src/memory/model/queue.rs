//! Which ended turn or session the model is asked about next, and when. Pure: the caller knows the time, the jobs and what holds them up.

use crate::history::rows::{Activity, Batch, BatchId, BatchOrigin, CallOutcome};
use crate::memory::signals::{SessionRows, Turns, is_edit};
use crate::time::{Millis, Timestamp};

/// The most turns of a day, and so many of the newest turns are asked about. Older ones wait until the user wants them.
pub const NEWEST: u64 = 50;
/// After so many failed tries a job is given up.
pub const MOST_TRIES: u64 = 3;
/// The rest after a failure. It doubles with each further one.
const FIRST_REST: Millis = Millis::from_secs(60);
/// The longest rest.
const LONGEST_REST: Millis = Millis::from_secs(30 * 60);

as_str!(JobState);

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum JobState {
    /// It waits.
    Queued,
    /// The model is asked.
    Running,
    /// The model has answered.
    Done,
    /// It failed too often.
    Failed,
    /// There is nothing to ask any more.
    Skipped,
}

impl JobState {
    /// The state after so many failed tries. A try that no model answered is not counted.
    pub const fn after_failure(tries: u64) -> Self {
        if tries >= MOST_TRIES { Self::Failed } else { Self::Queued }
    }
}

/// The ended turns with edits or errors, each with the time of its end.
pub fn turns_to_ask(rows: &SessionRows, since: Timestamp) -> Vec<(BatchId, Timestamp)> {
    let is_of_interest = |call: &Activity| match call.outcome {
        Some(CallOutcome::Error) => true,
        Some(CallOutcome::Ok) => is_edit(call),
        _ => false,
    };
    let turns = Turns::of(rows);
    let asked = turns.ended().filter_map(|turn| {
        let ended = turn.batch.ended.as_ref().filter(|ended| ended.at >= since && !turn.batch.private)?;
        turn.own_calls().any(is_of_interest).then(|| (BatchId::clone(&turn.batch.id), ended.at))
    });
    asked.collect()
}

/// When the newest request among these rows ended. At the session's next end, the model is asked for its title and summary.
pub fn session_to_ask(rows: &SessionRows, since: Timestamp) -> Option<Timestamp> {
    let counts = |batch: &&Batch| {
        batch.is_over() && !batch.private && batch.origin.is_none_or(BatchOrigin::is_request)
    };
    let ends = rows.batches.iter().filter(counts).filter_map(|batch| Some(batch.ended.as_ref()?.at));
    ends.filter(|at| *at >= since).max()
}

/// A job as the choice sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobFacts {
    /// Where it stands.
    pub state: JobState,
    /// The user wants it, however old it is.
    pub is_wanted: bool,
    /// When its turn ended.
    pub ended_at: Timestamp,
    /// From when on the model may be asked: of a session, when it ended or was quiet for long. `None` while a turn runs.
    pub due_at: Option<Timestamp>,
}

/// What holds questions up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueFacts {
    /// A session works.
    pub is_busy: bool,
    /// The end of the user's pause.
    pub paused_until: Option<Timestamp>,
    /// The end of a rest after failures.
    pub resting_until: Option<Timestamp>,
    /// A limit of the day holds until then.
    pub capped_until: Option<Timestamp>,
    /// Turns that were asked about on this day by themselves.
    pub asked_today: u64,
    /// The end of this day, in the person's time zone.
    pub day_ends: Timestamp,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextQuestion {
    /// Ask about the job with this index.
    Ask(usize),
    /// Look again at this time.
    WaitUntil(Timestamp),
    /// Look again when something has changed.
    WaitForEvent,
}

/// The next question. `jobs` are the [`NEWEST`] jobs of any state, and the newest one that the user wants.
pub fn next_question(facts: &QueueFacts, jobs: &[JobFacts], now: Timestamp) -> NextQuestion {
    let queued = || jobs.iter().enumerate().filter(|(_, job)| job.state == JobState::Queued);
    let newest = |wanted_only: bool| {
        let due = queued().filter(|(_, job)| job.due_at.is_some_and(|due| due <= now));
        due.filter(|(_, job)| job.is_wanted || !wanted_only).max_by_key(|(at, job)| (job.ended_at, *at))
    };
    let Some(due) = queued().filter_map(|(_, job)| job.due_at).min().filter(|_| !facts.is_busy) else {
        return NextQuestion::WaitForEvent;
    };
    let held = [Some(due), facts.paused_until, facts.resting_until, facts.capped_until];
    if let Some(until) = held.into_iter().flatten().filter(|until| *until > now).max() {
        return NextQuestion::WaitUntil(until);
    }
    match newest(facts.asked_today >= NEWEST) {
        Some((at, _)) => NextQuestion::Ask(at),
        None => NextQuestion::WaitUntil(facts.day_ends),
    }
}

/// The rest after failures. An endpoint that is away for a week is asked every half hour, however many turns wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rest {
    failures: u32,
    until: Option<Timestamp>,
}

impl Rest {
    /// A question failed.
    pub fn failed(&mut self, now: Timestamp) {
        let span = Millis(FIRST_REST.0 << self.failures.min(10)).min(LONGEST_REST);
        self.failures += 1;
        self.until = Some(now + span);
    }

    /// A question was answered, or the user changed the settings.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// The end of the rest. A clock that went back ends it.
    pub fn until(&self, now: Timestamp) -> Option<Timestamp> {
        self.until.filter(|until| until.since(now) <= LONGEST_REST)
    }
}
