//! Why a request to an engine fails, and the ids of commands.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use watchbill_core::ids::stable_hash;
use watchbill_core::user::SessionCommand;
use watchbill_protocol::error::{ApiError, ErrorCode};

/// The reason of a failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The engine has refused it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The engine is gone or does not answer. The request may or may not have been carried out. The text says what
    /// happened.
    #[error("{0}")]
    Broken(String),
}

impl AccessError {
    /// The error as the user gets it.
    pub fn into_api(self) -> ApiError {
        match self {
            Self::Refused(error) => error,
            Self::Broken(what) => ApiError::new(ErrorCode::NotReady, what),
        }
    }
}

impl From<AccessError> for ApiError {
    fn from(error: AccessError) -> Self {
        error.into_api()
    }
}

/// The id of a command. No other command of this user has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(String);

impl CommandId {
    /// The longest id, in bytes.
    const MAX_BYTES: usize = 64;

    /// A new one.
    pub fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // The system seeds this anew for each process. A process id alone is not unique across containers.
        let random = RandomState::new().hash_one((std::process::id(), number));
        Self(format!("{:x}-{number:x}-{random:016x}", std::process::id()))
    }

    /// The id that a socket client has chosen; `None` if it is empty or too long.
    pub fn of_client(id: &str) -> Option<Self> {
        (1..=Self::MAX_BYTES).contains(&id.len()).then(|| Self(id.to_owned()))
    }

    /// A hash of the id and the command. It tells two commands with one id apart.
    pub(crate) fn hash_with(&self, command: &SessionCommand) -> u64 {
        stable_hash(format!("{} {command:?}", self.0).as_bytes())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for CommandId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
