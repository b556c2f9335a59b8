//! Calls that this version cannot read.

use watchbill_protocol::error::{ApiError, ErrorCode};

/// The error for a request that this version does not know. The client may be newer.
pub(super) fn unknown_request(error: &serde_json::Error) -> ApiError {
    ApiError::new(
        ErrorCode::Invalid,
        format!("the request makes no sense to this version of Watchbill: {error}"),
    )
}

/// The id of a call that cannot be parsed otherwise.
pub(super) fn id_of(line: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Id {
        id: String,
    }
    serde_json::from_slice(line).map_or_else(|_| String::new(), |Id { id }| id)
}
