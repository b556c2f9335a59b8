//! The requests to an engine, in this process or behind a socket.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{MemoryChange, MemoryChanged};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_protocol::why::Why;

use watchbill_history::removal::Removal;

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

/// Access to an engine. Each method waits for its answer.
pub trait EngineAccess {
    /// The present roster.
    ///
    /// # Errors
    /// While the engine reads transcripts for the first time.
    fn roster(&mut self, all: bool) -> Result<RosterSnapshot, AccessError>;

    /// Why a session is in its state.
    ///
    /// # Errors
    /// When no session matches, or more than one does.
    fn why(&mut self, session: &str) -> Result<Why, AccessError>;

    /// The work chain of a session.
    ///
    /// # Errors
    /// When no session matches, or more than one does.
    fn chain(&mut self, session: &str) -> Result<WorkChain, AccessError>;

    /// Searches the stored texts for words.
    ///
    /// # Errors
    /// When a filter makes no sense, or the store cannot be read.
    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, AccessError>;

    /// Passes the roster, and then each change, to `sink`, until `sink` returns `false` or the engine ends.
    ///
    /// # Errors
    /// When the engine has ended. An end by `sink` is no error.
    fn subscribe(
        &mut self,
        all: bool,
        sink: &mut dyn FnMut(RosterMessage) -> bool,
    ) -> Result<(), AccessError>;

    /// Carries out and stores a user command. Gives the whole id of its session. A command that is sent again with its
    /// id runs once.
    ///
    /// # Errors
    /// When no session matches, the command does not fit the current state, or it cannot be stored.
    fn command(&mut self, id: &CommandId, command: &SessionCommand) -> Result<String, AccessError>;

    /// Answers a request that was shown.
    ///
    /// # Errors
    /// When it is not open any more, the answer does not fit or cannot be stored, or this program may not answer.
    fn answer(&mut self, call: &AnswerCall) -> Result<AnswerGiven, AccessError>;

    /// The answers that were given since a time, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn answers(&mut self, since: Option<Timestamp>) -> Result<Vec<AnswerRecord>, AccessError>;

    /// Sends a prompt to a session.
    ///
    /// # Errors
    /// When it was not sent, or this program may not send it. A broken connection leaves it unknown; do not send it again.
    fn prompt(&mut self, call: &PromptCall) -> Result<PromptSent, AccessError>;

    /// Changes memories.
    ///
    /// # Errors
    /// When no memory fits the id, the text cannot be kept, or the store cannot be written.
    fn memory(&mut self, change: &MemoryChange) -> Result<MemoryChanged, AccessError>;

    /// Removes data from the stored history for good. Gives the report, if the removal has one.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn forget(&mut self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError>;

    /// Waits until the present content of all transcripts is stored. `progress` returns `false` to end the wait.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn index(&mut self, progress: &mut dyn FnMut(IndexProgress) -> bool) -> Result<IndexReport, AccessError>;
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
