//! Asks the model about ended turns and sessions, on a thread of its own: one question at a time, while no session works.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::tz::TimeZone;
use watchbill_core::memory::model::queue::{
    JobFacts, JobState, NextQuestion, QueueFacts, Rest, next_question,
};
use watchbill_core::memory::model::{Job, check, check_summary, job};
use watchbill_core::memory::{MemorySettings, ModelSettings};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::model::{ModelJob, ModelResult, ReplyForm};
use watchbill_store::tables::model_jobs::{JobEnd, ModelJobRow};
use watchbill_store::{Store, StoreError};
use watchbill_watch::clock::Clock;

use super::model_queue::{Look, ModelQueue};
use super::refusal::{SliceError, require_writer};
use crate::memory::change::paused_until;
use crate::memory::model::turns::turns_of;
use crate::memory::model::{Spent, child, ledger, question};
use crate::removal::exclude_later::exclude_is_due;
use crate::shared_store::SharedStore;

/// Pause after the store has refused. An answer is kept meanwhile.
const RETRY: Millis = Millis::from_secs(10);

/// The thread.
pub(super) struct ModelAsker {
    queue: Arc<ModelQueue>,
    shared_store: Arc<SharedStore>,
    data_dir: PathBuf,
    clock: Arc<dyn Clock>,
    /// The program that asks; `None`: the one beside this program.
    program: Option<PathBuf>,
    /// Wakes the engine, which shows titles.
    wake_engine: Arc<dyn Fn() + Send + Sync>,
    rest: Rest,
    capped_until: Option<Timestamp>,
    /// What the endpoint is known to accept.
    form: ReplyForm,
    /// An answer that is not stored yet.
    unstored: Option<Answered>,
    /// Jobs that an earlier program left running are queued again.
    is_recovered: bool,
}

/// A try and its result.
struct Answered {
    row: ModelJobRow,
    job: Job,
    result: ModelResult,
    took: Spent,
    is_cancelled: bool,
}

/// Until when the thread sleeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sleep {
    Not,
    Until(Timestamp),
    UntilWoken,
}

impl ModelAsker {
    pub fn new(
        queue: Arc<ModelQueue>,
        shared_store: Arc<SharedStore>,
        data_dir: PathBuf,
        clock: Arc<dyn Clock>,
        program: Option<PathBuf>,
        wake_engine: Arc<dyn Fn() + Send + Sync>,
    ) -> Self {
        Self {
            queue,
            shared_store,
            data_dir,
            clock,
            program,
            wake_engine,
            rest: Rest::default(),
            capped_until: None,
            form: ReplyForm::default(),
            unstored: None,
            is_recovered: false,
        }
    }

    pub fn run(mut self) {
        let mut sleep = Sleep::UntilWoken;
        loop {
            let span = match sleep {
                Sleep::Not => Some(std::time::Duration::ZERO),
                Sleep::Until(at) => Some(self.clock.until(at)),
                Sleep::UntilWoken => None,
            };
            let look = self.queue.wait(span);
            if look.has_ended {
                // The job of a question that was ended waits for the next start.
                let _ = self.store_answer(&look);
                return;
            }
            sleep = self.turn(&look);
        }
    }

    /// One question at most. Returns until when there is nothing to do.
    pub(super) fn turn(&mut self, look: &Look) -> Sleep {
        if look.settings_changed {
            self.rest.end();
            (self.capped_until, self.form) = (None, ReplyForm::default());
        }
        if !is_asked(&look.memory) && self.unstored.is_none() {
            return Sleep::UntilWoken;
        }
        match self.step(look) {
            Ok(sleep) => sleep,
            Err(SliceError::NotOurs) => {
                self.is_recovered = false;
                Sleep::UntilWoken
            }
            Err(SliceError::Store(error)) => {
                tracing::warn!(%error, "the questions to the model wait for the store");
                Sleep::Until(self.clock.now() + RETRY)
            }
        }
    }

    /// Stores the answer that waits, then asks the next question.
    fn step(&mut self, look: &Look) -> Result<Sleep, SliceError> {
        if self.must_wait(look)? {
            return Ok(Sleep::Until(self.clock.now() + RETRY));
        }
        self.store_answer(look)?;
        if is_asked(&look.memory) { self.ask_next(look) } else { Ok(Sleep::UntilWoken) }
    }

    /// Whether rows are being removed: for good, or because `exclude` leaves them out by now.
    fn must_wait(&self, look: &Look) -> Result<bool, SliceError> {
        let mut shared_store = self.shared_store.in_turn("model: look");
        let store = require_writer(&mut shared_store)?;
        Ok(self.shared_store.is_written_apart() || exclude_is_due(store, &look.history)?)
    }

    fn ask_next(&mut self, look: &Look) -> Result<Sleep, SliceError> {
        let settings = &look.memory.model;
        let (row, job) = match self.choose(look)? {
            Ok(chosen) => chosen,
            Err(sleep) => return Ok(sleep),
        };
        let (now, booked) = (self.clock.now(), Spent::at_most(settings, &job));
        match ledger::book(&self.data_dir, now, settings, booked) {
            Ok(None) => {}
            Ok(Some(limit)) => {
                tracing::info!(limit, "the model is not asked any more on this day");
                let until = now.next_day(&TimeZone::system());
                self.capped_until = Some(until);
                return Ok(Sleep::Until(until));
            }
            Err(error) => return Ok(self.without_sums(&error, now)),
        }
        let mut is_there = false;
        let begun = self.write("model: begin", |store| {
            let mut step = store.step()?;
            is_there = step.begin_model_job(&row, now)?;
            step.commit()
        });
        if begun.is_err() || !is_there {
            let _ = ledger::correct(&self.data_dir, now, booked, Spent::default());
            return begun.map(|()| Sleep::Not);
        }
        let (result, is_cancelled) = self.ask(settings, &job);
        self.form = result.form;
        let took = Spent::of(&result, booked);
        if let Err(error) = ledger::correct(&self.data_dir, now, booked, took) {
            tracing::warn!(%error, "what the model took stays at its estimate");
        }
        self.unstored = Some(Answered { row, job, result, took, is_cancelled });
        // The store is asked again before anything else, with the settings of then.
        Ok(Sleep::Not)
    }

    /// The next job and its question, or until when there is none.
    fn choose(&mut self, look: &Look) -> Result<Result<(ModelJobRow, Job), Sleep>, SliceError> {
        let now = self.clock.now();
        let mut shared_store = self.shared_store.in_turn("model: choose");
        let store = require_writer(&mut shared_store)?;
        if self.shared_store.is_written_apart() || exclude_is_due(store, &look.history)? {
            return Ok(Err(Sleep::Until(now + RETRY)));
        }
        if !self.is_recovered {
            let mut step = store.step()?;
            step.requeue_running_jobs()?;
            step.commit()?;
            self.is_recovered = true;
        }
        let zone = TimeZone::system();
        let facts = QueueFacts {
            is_busy: look.is_busy,
            paused_until: paused_until(store, now),
            resting_until: self.rest.until(now),
            capped_until: self.capped_until.filter(|until| until.since(now) <= Millis::from_secs(86_400)),
            asked_today: store.model_jobs_ended_since(now.begin_of_day(&zone))?,
            day_ends: now.next_day(&zone),
        };
        let mut jobs = store.model_jobs_to_choose(now)?;
        let fact = |row: &ModelJobRow| JobFacts {
            state: row.state,
            is_wanted: row.is_wanted,
            ended_at: row.ended_at,
            due_at: row.due_at,
        };
        let row = match next_question(&facts, &jobs.iter().map(fact).collect::<Vec<_>>(), now) {
            NextQuestion::Ask(at) => jobs.swap_remove(at),
            NextQuestion::WaitUntil(at) => return Ok(Err(Sleep::Until(at))),
            NextQuestion::WaitForEvent => return Ok(Err(Sleep::UntilWoken)),
        };
        self.queue.prepares();
        let turns = turns_of(store, &look.history.exclude, row.session, Some(&row.batch))?;
        if let Some(job) = turns.and_then(|turns| job(&turns.rows, &row.batch)) {
            return Ok(Ok((row, job)));
        }
        let mut step = store.step()?;
        step.begin_model_job(&row, now)?;
        step.end_model_job(
            &row,
            &end(JobState::Skipped, row.tries, &ModelResult::default(), Spent::default(), false),
            now,
        )?;
        step.commit()?;
        Ok(Err(Sleep::Not))
    }

    /// Asks, and waits for the result.
    fn ask(&self, settings: &ModelSettings, job: &Job) -> (ModelResult, bool) {
        let asked: ModelJob = question(settings, &self.data_dir, job, self.form);
        let program = self.program.clone().map_or_else(child::program, Ok);
        match program.and_then(|program| child::start(&program, &asked)) {
            Ok(asking) => {
                self.queue.asks(asking.stop());
                let result = asking.result();
                let is_cancelled = self.queue.asked() && result.reply.is_none();
                (result, is_cancelled)
            }
            Err(error) => {
                let error = format!("watchbill-model-client cannot be started: {error}");
                (ModelResult { error: Some(error), away: true, ..ModelResult::default() }, false)
            }
        }
    }

    /// Stores the answer that waits for it. What the turn's session shows by then counts: a removal may have come first.
    fn store_answer(&mut self, look: &Look) -> Result<(), SliceError> {
        let Some(answered) = &self.unstored else { return Ok(()) };
        let Answered { row, job, result, took, is_cancelled } = answered;
        let now = self.clock.now();
        // Of a question that was ended, or without a model, nothing is kept.
        let reply = result.reply.as_ref().filter(|_| !is_cancelled && is_asked(&look.memory));
        let (mut state, mut tries) = match (reply, *is_cancelled || result.away || result.reply.is_some()) {
            (Some(_), _) => (JobState::Done, row.tries + 1),
            (None, true) => (JobState::Queued, row.tries),
            (None, false) => (JobState::after_failure(row.tries + 1), row.tries + 1),
        };
        let mut is_named = false;
        self.write("model: answer", |store| {
            let mut turns = None;
            if let Some(reply) = reply
                && let Some(now) = turns_of(store, &look.history.exclude, row.session, Some(&row.batch))?
            {
                match self::job(&now.rows, &row.batch) {
                    Some(same) if same == *job => turns = Some((reply, now)),
                    // The last record or a hook came after the question, or something was removed: the turn as it is now is
                    // asked about.
                    Some(_) => (state, tries) = (JobState::Queued, row.tries),
                    None => {}
                }
            }
            let mut step = store.step()?;
            if step.end_model_job(row, &end(state, tries, result, *took, *is_cancelled), now)?
                && let Some((reply, turns)) = turns
            {
                if !job.is_summary() {
                    let found = check(turns.place.project, &turns.rows, job, reply, &turns.told).found;
                    step.add_evidence_of_model(row.session, &turns.place, &found)?;
                } else if let Ok((title, summary)) = check_summary(reply) {
                    step.put_summary(row.session, row.ended_at, &title, &summary)?;
                    is_named = true;
                }
            }
            step.commit()
        })?;
        if is_named {
            self.shared_store.note_changed_edits();
            (self.wake_engine)();
        }
        match (result.reply.is_some(), is_cancelled) {
            (true, _) => self.rest.end(),
            (false, true) => {}
            (false, false) => self.rest.failed(now),
        }
        self.unstored = None;
        Ok(())
    }

    /// Without the sums of the day nothing is asked.
    fn without_sums(&mut self, error: &io::Error, now: Timestamp) -> Sleep {
        tracing::warn!(%error, "what the model takes cannot be noted, so it is not asked");
        self.rest.failed(now);
        self.rest.until(now).map_or(Sleep::UntilWoken, Sleep::Until)
    }

    fn write(
        &self,
        what: &'static str,
        act: impl FnOnce(&mut Store) -> Result<(), StoreError>,
    ) -> Result<(), SliceError> {
        let mut shared_store = self.shared_store.in_turn(what);
        Ok(act(require_writer(&mut shared_store)?)?)
    }
}

/// The end of a try as it is stored.
fn end(state: JobState, tries: u64, result: &ModelResult, took: Spent, is_cancelled: bool) -> JobEnd {
    JobEnd {
        state,
        tries,
        millis: result.millis,
        tokens_in: took.tokens_in,
        tokens_out: took.tokens_out,
        micro_usd: took.micro_usd,
        error: result.error.clone().filter(|_| result.reply.is_none() && !is_cancelled),
    }
}

/// Whether the settings have a model that can be asked.
fn is_asked(memory: &MemorySettings) -> bool {
    let model = &memory.model;
    memory.enabled && model.is_chosen() && (model.base_url.is_empty() || !model.name.is_empty())
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
