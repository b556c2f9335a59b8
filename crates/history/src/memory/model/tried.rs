//! A trial: the model looks at turns of earlier sessions, and nothing is stored.

use std::path::Path;
use std::rc::Rc;

use watchbill_core::memory::model::queue::turns_to_ask;
use watchbill_core::memory::model::{Checked, Job, check, job};
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::model::{ModelFinding, ModelTrial, ReplyForm, TriedTurn};
use watchbill_store::SessionKey;
use watchbill_watch::clock::{Clock as _, SystemClock};

use super::turns::{SessionTurns, turns_of};
use super::{Spent, child, ledger, question};
use crate::errors::{data_dir, store_api_error};
use crate::memory::change::no_model;
use crate::memory::project::project_of;
use crate::memory::query::Reader;

/// The most turns of one session: the newest.
const TURNS: usize = 3;

impl Reader<'_> {
    /// Asks the model about turns of the newest sessions of a project. `each` hears of a turn as soon as it is answered.
    ///
    /// # Errors
    /// When no model is chosen, or the store cannot be read.
    pub fn try_model(
        &self,
        cwd: &str,
        sessions: usize,
        program: &Path,
        each: &mut dyn FnMut(&TriedTurn),
    ) -> Result<ModelTrial, ApiError> {
        let settings = &self.settings.memory.model;
        if !settings.is_chosen() {
            return Err(no_model());
        }
        if !settings.base_url.is_empty() && settings.name.is_empty() {
            let message = "the model has no name: set `name` under [model] in the configuration file";
            return Err(ApiError::new(ErrorCode::Invalid, message));
        }
        let folder = data_dir(self.settings)?;
        let project = project_of(self.fs, cwd).project;
        let found = self.store.newest_memory_sessions(project, sessions);
        let (mut trial, mut spent, mut form) = (ModelTrial::default(), Spent::default(), ReplyForm::Schema);
        'all: for session in found.map_err(|error| store_api_error(&error))? {
            let turns = self.questions(session, &mut trial)?;
            for (id, turns, job) in turns {
                let booked = Spent::at_most(settings, &job);
                let at = SystemClock.now();
                if let Some(limit) = ledger::book(folder, at, settings, booked).map_err(unwritten)? {
                    trial.stopped_by = Some(limit.to_owned());
                    break 'all;
                }
                let asked = question(settings, folder, &job, form);
                let result = child::ask(program, &asked);
                form = result.form;
                let took = Spent::of(&result, booked);
                ledger::correct(folder, at, booked, took).map_err(unwritten)?;
                spent = spent.plus(took);
                let SessionTurns { rows, told, place } = &*turns;
                let checked =
                    result.reply.as_deref().map(|reply| check(place.project, rows, &job, reply, told));
                let turn =
                    tried(id, &job.batch, took, result.millis, result.error, checked.unwrap_or_default());
                each(&turn);
                trial.turns.push(turn);
            }
        }
        (trial.tokens_in, trial.tokens_out) = (spent.tokens_in, spent.tokens_out);
        trial.micro_usd = spent.micro_usd;
        let today = ledger::spent_on(folder, SystemClock.now()).map_err(unwritten)?;
        trial.tokens_today = today.tokens_in + today.tokens_out;
        trial.micro_usd_today = today.micro_usd;
        Ok(trial)
    }

    /// The questions about the newest turns of a session.
    fn questions(&self, session: SessionKey, trial: &mut ModelTrial) -> Result<Vec<Question>, ApiError> {
        let read = || -> Result<_, watchbill_store::StoreError> {
            let turns = turns_of(&self.store, &self.settings.history.exclude, session, None)?;
            let id = self.store.session_of(session)?.map(|row| row.session_id.to_string());
            Ok(turns.map(|turns| (id.unwrap_or_default(), turns)))
        };
        let Some((id, turns)) = read().map_err(|error| store_api_error(&error))? else {
            return Ok(Vec::new());
        };
        let rows = &turns.rows;
        // A question reads all calls, so only those that are asked are made.
        let asked = turns_to_ask(rows, Timestamp::from_millis(i64::MIN));
        let jobs: Vec<_> = asked.iter().rev().filter_map(|(batch, _)| job(rows, batch)).take(TURNS).collect();
        trial.left_out += asked.len().saturating_sub(TURNS) as u64;
        let turns = Rc::new(turns);
        Ok(jobs.into_iter().map(|job| (id.clone(), Rc::clone(&turns), job)).collect())
    }
}

fn unwritten(error: std::io::Error) -> ApiError {
    ApiError::new(
        ErrorCode::Unreadable,
        format!("what the model took cannot be noted, so it is not asked: {error}"),
    )
}

/// A session's id, its turns, and the question.
type Question = (String, Rc<SessionTurns>, Job);

fn tried(
    session_id: String,
    batch: &str,
    took: Spent,
    millis: u64,
    error: Option<String>,
    checked: Checked,
) -> TriedTurn {
    let found = checked.found.into_iter().map(|signal| ModelFinding {
        kind: signal.kind.as_str().to_owned(),
        text: signal.text,
        path: signal.path,
        importance: signal.importance.as_str().to_owned(),
        suspect: signal.suspect,
        byte: signal.byte,
    });
    TriedTurn {
        session_id,
        batch: batch.to_owned(),
        found: found.collect(),
        refused: checked.refused.iter().map(|refused| refused.words().to_owned()).collect(),
        tokens_in: took.tokens_in,
        tokens_out: took.tokens_out,
        micro_usd: took.micro_usd,
        millis,
        error,
    }
}
