//! Why a request could not be fulfilled, for programs and for the user.

use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An answer to a request that could not be fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    /// For programs.
    pub code: ErrorCode,
    /// For the user: what happened, to what, and what to do.
    pub message: String,
}

/// Kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// No session or chain has this id.
    NotFound,
    /// Several sessions begin with this prefix.
    Ambiguous,
    /// The request itself is wrong.
    Invalid,
    /// Transcripts are still being read for the first time.
    NotReady,
    /// A file or folder could not be read.
    Unreadable,
    /// The target of a change was changed meanwhile.
    Conflict,
    /// The folder of the session has another branch by now.
    OtherBranch,
    /// This system cannot do it.
    Unsupported,
    /// The caller may not do it: an agent does not answer requests.
    Refused,
    /// A fault of this program.
    Internal,
}

impl ApiError {
    /// An error with a message for the user.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
