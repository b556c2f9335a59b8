//! Work that takes seconds: removals with their bytes, and the rebuild of a damaged index. It uses a second
//! connection, so that the engine does not wait for the store.

use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::refusal::{SliceError, require_writer};
use super::task::HistoryParts;
use crate::errors::store_api_error;
use crate::removal::exclude_later;
use crate::removal::forget;
use crate::removal::request::{Removal, RemovalResult};

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
pub(super) fn rebuild_if_damaged(
    parts: &HistoryParts,
    damage: &mut Option<Damage>,
    is_first: bool,
) -> Result<bool, SliceError> {
    let Some(mut store) = parts.shared_store.second_connection("history: mend")? else {
        return Err(SliceError::NotOurs);
    };
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
pub(super) fn leave_out(parts: &HistoryParts, now: Timestamp) -> Result<bool, SliceError> {
    let due = {
        let mut shared_store = parts.shared_store.in_turn("history: whether to leave out");
        let store = require_writer(&mut shared_store)?;
        exclude_later::exclude_is_due(store, &parts.settings)? || store.is_wiping_due()?
    };
    if due && let Some(mut store) = parts.shared_store.second_connection("history: leave out")? {
        let unread = exclude_later::remove_excluded(
            &mut store,
            &*parts.fs,
            &*parts.live,
            &parts.settings,
            &parts.roots,
            now,
        )?;
        parts.note_unkept(unread);
        store.finish_wiping()?;
        // A title by the model may be gone.
        store.note_removal();
        (parts.wake_engine)();
    }
    Ok(due)
}

/// Forgets sessions, or allows one to be stored again, and returns the outcome.
///
/// # Errors
/// When the store cannot be opened, so that the removal did not begin.
pub(super) fn remove(
    parts: &HistoryParts,
    removal: &Removal,
    now: Timestamp,
) -> Result<RemovalResult, ApiError> {
    let mut store = match parts.shared_store.second_connection("history: forget") {
        Ok(Some(store)) => store,
        Ok(None) => return Err(ApiError::new(ErrorCode::Unreadable, "the store cannot be opened")),
        Err(error) => return Err(store_api_error(&error)),
    };
    let outcome =
        forget::carry_out_removal(&mut store, &parts.data_dir, &*parts.live, removal, now, &mut |_| ());
    // Also after an interrupted removal: some sessions may be gone.
    store.note_removal();
    Ok(outcome)
}
