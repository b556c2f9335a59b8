//! Errors of the store as API errors.

use std::path::Path;

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::StoreError;

/// The data folder, which holds everything that is stored.
///
/// # Errors
/// When no folder is known.
pub fn data_dir(settings: &Settings) -> Result<&Path, ApiError> {
    settings.data_dir.as_deref().ok_or_else(|| {
        ApiError::new(ErrorCode::Unsupported, "no data folder is known; name one with --data-dir")
    })
}

/// The API error for an error of the store.
pub fn store_api_error(error: &StoreError) -> ApiError {
    let code = match error {
        StoreError::Absent { .. } => ErrorCode::NotReady,
        StoreError::Newer { .. } | StoreError::NotWriter { .. } => ErrorCode::Unsupported,
        StoreError::Sql { .. } => ErrorCode::Internal,
        _ => ErrorCode::Unreadable,
    };
    ApiError::new(code, error.to_string())
}
