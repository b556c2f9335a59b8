//! Ids of memories as the user writes them.

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_store::Store;

use crate::errors::store_api_error;

/// The id as text: 16 hexadecimal digits.
pub(super) fn id_text(id: u64) -> String {
    format!("{id:016x}")
}

/// The memory and the project that an id or a unique beginning of one names.
///
/// # Errors
/// When no memory fits, or several do.
pub(super) fn find(store: &Store, asked: &str) -> Result<(u64, u64), ApiError> {
    let begin = asked.trim().to_ascii_lowercase();
    let is_hex = !begin.is_empty() && begin.chars().all(|c| c.is_ascii_hexdigit());
    let known = if is_hex {
        store.memory_ids(&begin, 3).map_err(|error| store_api_error(&error))?
    } else {
        Default::default()
    };
    let mut known = known.into_iter();
    match (known.next(), known.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => {
            let message = format!("no memory begins with `{asked}`; `watchbill memory list` shows the ids");
            Err(ApiError::new(ErrorCode::NotFound, message))
        }
        (Some((one, _)), Some((other, _))) => {
            let message = format!("`{asked}` begins several memories: {}, {}", id_text(one), id_text(other));
            Err(ApiError::new(ErrorCode::Ambiguous, message))
        }
    }
}
