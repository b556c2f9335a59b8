//! Work that takes seconds: removals with their bytes, and the rebuild of a damaged index. It uses a second
//! connection, so that the engine does not wait for the store.

use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::refusal::{Refusal, writer};
use super::task::HistorianParts;
use crate::errors::refusal;
use crate::removal::forget;
use crate::removal::left_out;
use crate::removal::request::{Outcome, Removal};

/// Known damage of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Damage {
    /// A search has met it.
    Suspected,
    /// This thread has met it.
    Met,
}

/// Rebuilds a damaged index from the stored texts, and returns whether it was damaged. `damage` is updated even when
/// the store refuses. `is_first`: the previous try did not fail.
pub(super) fn mend(
    parts: &HistorianParts,
    damage: &mut Option<Damage>,
    is_first: bool,
) -> Result<bool, Refusal> {
    let Some(mut store) = parts.shelf.apart("history: mend")? else { return Err(Refusal::NotOurs) };
    if *damage == Some(Damage::Suspected) {
        if store.index_is_sound()? {
            *damage = None;
            return Ok(false);
        }
        // If the rebuild fails now, the next try need not check again.
        *damage = Some(Damage::Met);
    }
    if is_first {
        tracing::warn!("the search index is damaged; rebuilding it");
    }
    store.rebuild_index()?;
    drop(store);
    tracing::info!("the search index was rebuilt");
    *damage = None;
    Ok(true)
}

/// Removes data that the user excluded after it was stored, and the bytes that an earlier removal left. Returns
/// whether anything was due.
pub(super) fn leave_out(parts: &HistorianParts, now: Timestamp) -> Result<bool, Refusal> {
    let due = {
        let mut shelf = parts.shelf.in_turn("history: whether to leave out");
        let store = writer(&mut shelf)?;
        left_out::is_due(store, &parts.settings)? || store.is_to_be_wiped()?
    };
    if due && let Some(mut store) = parts.shelf.apart("history: leave out")? {
        left_out::carry_out(&mut store, &*parts.fs, &*parts.live, &parts.settings, &parts.roots, now)?;
        store.finish_wiping()?;
    }
    Ok(due)
}

/// Forgets sessions, or allows one to be stored again, and returns the outcome.
///
/// # Errors
/// When the store cannot be opened, so that the removal did not begin.
pub(super) fn remove(parts: &HistorianParts, removal: &Removal, now: Timestamp) -> Result<Outcome, ApiError> {
    let mut store = match parts.shelf.apart("history: forget") {
        Ok(Some(store)) => store,
        Ok(None) => return Err(ApiError::new(ErrorCode::Unreadable, "the store cannot be opened")),
        Err(error) => return Err(refusal(&error)),
    };
    let outcome = forget::carry_out(&mut store, &parts.data_dir, &*parts.live, removal, now, &mut |_| ());
    // Also after an interrupted removal: some sessions may be gone.
    store.note_removal();
    Ok(outcome)
}
