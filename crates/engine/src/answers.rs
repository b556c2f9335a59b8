//! The answers that were given, as the store has them.

use watchbill_core::time::Timestamp;
use watchbill_history::errors::store_api_error;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::AnswerRecord;
use watchbill_settings::Settings;
use watchbill_store::tables::answers::AnswerRow;
use watchbill_store::{OpenMode, Store, StoreError};

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
