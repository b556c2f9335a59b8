//! The answers that were given, as the store has them, and answers to own sessions while no Watchbill runs.

use watchbill_core::ids::SessionId;
use watchbill_core::requests::request::RequestId;
use watchbill_core::time::Timestamp;
use watchbill_drive::client::{HostError, send};
use watchbill_drive::folder::Folder;
use watchbill_history::errors::store_api_error;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::facts::split_request_id;
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord, seen};
use watchbill_settings::Settings;
use watchbill_store::tables::answers::AnswerRow;
use watchbill_store::{OpenMode, Store, StoreError};

use crate::alone::single_look::{WantedRows, look_with};
use crate::clock::{Clock, SystemClock};
use crate::persist::Persist;
use crate::step::requests::{RefusedCaller, UserAnswer};
use crate::world::environment::{Outlook, Sources};

/// The answers since a time, oldest first. None where nothing is stored yet.
///
/// # Errors
/// When the store cannot be read.
pub fn list(settings: &Settings, since: Option<Timestamp>) -> Result<Vec<AnswerRecord>, ApiError> {
    let folder = settings.data_dir.as_deref().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })?;
    let since = since.unwrap_or(Timestamp::from_millis(0));
    match Store::open(folder, OpenMode::Read).and_then(|store| store.answers(since)) {
        Ok(rows) => Ok(rows.into_iter().map(record).collect()),
        Err(StoreError::Absent { .. }) => Ok(Vec::new()),
        Err(error) => Err(store_api_error(&error)),
    }
}

/// Answers a request of an own session while no Watchbill runs: stores the answer, then gives it to the host of the session. The
/// host checks who asks.
///
/// # Errors
/// When the request is no longer open, when the answer does not fit or cannot be stored, or when the host refuses.
pub fn answer_by_host(
    settings: Settings,
    world: Sources,
    call: &AnswerCall,
) -> Result<AnswerGiven, ApiError> {
    let none = |code, message: &str| ApiError::new(code, format!("nothing was answered: {message}"));
    let folder = settings.data_dir.clone();
    let parts = split_request_id(&call.request_id);
    let (Some(data_dir), Some((own, id))) = (folder, parts) else {
        return Err(none(ErrorCode::NotFound, "the request is of no session of your own"));
    };
    let host = Folder::of(&data_dir, own).map_err(|error| none(ErrorCode::Invalid, &error.to_string()))?;
    let answer = UserAnswer {
        session: SessionId::new(&call.session),
        request: RequestId::new(&call.request_id),
        seen: seen(&call.seen)?,
        decision: call.decision.clone().into(),
        surface: "command",
    };
    let mut persist = Persist::open(&data_dir, OpenMode::WriteOrRead);
    if !persist.writes() {
        return Err(none(
            ErrorCode::NotReady,
            "another program holds the store; try again when it has ended",
        ));
    }
    let look =
        |persist| look_with(settings, world, Outlook::LIVE, &SystemClock, Some(persist), WantedRows::None);
    let mut engine = look(&mut persist);
    let now = SystemClock.now();
    let fitting = engine.requests().answer(&answer);
    let fitting = fitting.map_err(|refusal| none(ErrorCode::Invalid, &refusal.to_string()))?;
    persist.save(&mut engine, now);
    if persist.has_unstored() {
        return Err(none(ErrorCode::Unreadable, "it cannot be stored"));
    }
    let command = OwnCommand::Answer { request: id.to_owned(), decision: call.decision.clone() };
    if let Err(error) = send(&host, &format!("answer-{}-{}", call.request_id, now.as_millis()), &command) {
        let (session, why) = (answer.session.clone(), error.to_string());
        match &error {
            HostError::Broken(_) => engine.requests().lose_answer(&answer.request),
            _ => engine.requests().drop_answer(&answer.request),
        }
        // Other errors of the host say that the request is over, or that it cannot take the answer now.
        if matches!(&error, HostError::Refused(told) if told.code == ErrorCode::Refused) {
            let what = "answer";
            engine.requests().note_refused(&RefusedCaller { session, what, surface: answer.surface, why });
        }
        persist.save(&mut engine, SystemClock.now());
        return Err(match &error {
            HostError::Refused(told) => none(told.code, &error.to_string()),
            // It is unknown whether the host took it.
            HostError::Broken(_) => ApiError::new(ErrorCode::NotReady, error.to_string()),
            _ => none(ErrorCode::NotReady, &error.to_string()),
        });
    }
    let (request_id, decision) = (call.request_id.clone(), fitting.decision);
    Ok(AnswerGiven { request_id, decision, delivered: true, at: now.to_string() })
}

fn record(row: AnswerRow) -> AnswerRecord {
    AnswerRecord {
        request_id: row.request_id,
        session_id: row.session_id,
        tool: row.tool,
        shown: row.shown,
        decision: row.decision,
        surface: row.surface,
        at: row.at.to_string(),
        outcome: row.outcome,
        outcome_at: row.outcome_at.map(|at| at.to_string()),
    }
}
