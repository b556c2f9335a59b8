//! The rows of a session that a model may be asked about.

use watchbill_core::history::Exclude;
use watchbill_core::memory::SessionRows;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::{SessionKey, Store, StoreError};

use crate::memory::learn::{is_over_http, newest_rows, seen, session_rows, turn_rows};

/// The newest turns and calls that a question about a session is made of.
const OF_SESSION: (u32, u32) = (200, 1_000);

/// A session with all that a question and the check of its reply need.
pub struct SessionTurns {
    /// Its rows.
    pub rows: SessionRows,
    /// The lines that its agent was told.
    pub told: Vec<String>,
    /// Its project.
    pub place: ProjectPlace,
}

/// Reads a session, or one turn of it; with an empty turn, what a question about the session needs. `None` if it may not be asked about: the rules have not seen it, it is excluded, or a
/// program sent a part of it.
///
/// # Errors
/// When the store cannot be read.
pub fn turns_of(
    store: &Store,
    exclude: &Exclude,
    session: SessionKey,
    batch: Option<&str>,
) -> Result<Option<SessionTurns>, StoreError> {
    let Some(place) = store.memory_place(session)? else { return Ok(None) };
    if store.working_folder(session)?.is_some_and(|cwd| exclude.excludes(&cwd)) {
        return Ok(None);
    }
    // The rules have noted whether a program sent a part. Without their note all rows tell it.
    let seen = seen(store, session)?.map(|seen| seen.is_over_http);
    let rows = match batch.filter(|_| seen.is_some()) {
        Some("") => Some(newest_rows(store, session, &place.root, OF_SESSION)?),
        Some(batch) => turn_rows(store, session, &place.root, batch)?,
        None => Some(session_rows(store, session, &place.root)?),
    };
    let rows = rows.filter(|rows| seen != Some(true) && !is_over_http(rows));
    let Some(rows) = rows else { return Ok(None) };
    let told = store.said(session)?.into_iter().map(|row| row.line).collect();
    Ok(Some(SessionTurns { rows, told, place }))
}
