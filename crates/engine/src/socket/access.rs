//! What every face of the program asks of an engine, wherever that runs: in this process, or behind a socket.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use watchbill_core::ids::stable_hash;
use watchbill_core::person::Word;
use watchbill_core::time::Timestamp;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_protocol::why::Why;

use watchbill_history::removal::Removal;

/// Why a request was not fulfilled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// The engine has refused it.
    #[error(transparent)]
    Refused(#[from] ApiError),
    /// The engine is gone, or gives no answer: the request may or may not have been carried out. The text says what
    /// happened.
    #[error("{0}")]
    Broken(String),
}

impl AccessError {
    /// The same for a person.
    pub fn into_api(self) -> ApiError {
        match self {
            Self::Refused(error) => error,
            Self::Broken(what) => ApiError::new(ErrorCode::NotReady, what),
        }
    }
}

/// An engine. The methods wait for their answers.
pub trait Access {
    /// The roster now.
    ///
    /// # Errors
    /// As long as the engine reads transcripts for the first time.
    fn roster(&mut self, all: bool) -> Result<RosterSnapshot, AccessError>;

    /// Why a session is in its state.
    ///
    /// # Errors
    /// When no session, or more than one, is meant.
    fn why(&mut self, session: &str) -> Result<Why, AccessError>;

    /// The work chain of a session.
    ///
    /// # Errors
    /// When no session, or more than one, is meant.
    fn chain(&mut self, session: &str) -> Result<WorkChain, AccessError>;

    /// Looks for words in all that is stored.
    ///
    /// # Errors
    /// When a filter makes no sense, or the store cannot be read.
    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, AccessError>;

    /// Gives the roster, and then each change of it, to `sink`, until that returns `false` or the engine ends.
    ///
    /// # Errors
    /// When the engine has ended. That it has been told to end is no error.
    fn subscribe(
        &mut self,
        all: bool,
        sink: &mut dyn FnMut(RosterMessage) -> bool,
    ) -> Result<(), AccessError>;

    /// Carries out a command of the person, and stores it. Gives the whole id of its session. A command that is sent again
    /// with its id is carried out once.
    ///
    /// # Errors
    /// When no session is meant, the command makes no sense as things are, or it cannot be stored.
    fn command(&mut self, id: &CommandId, command: &Word) -> Result<String, AccessError>;

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

    /// Removes from the stored history for good. Gives what was removed, if that was asked for.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn forget(&mut self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError>;

    /// Waits until everything is stored that the transcripts hold now. `progress` ends the waiting with `false`.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn index(&mut self, progress: &mut dyn FnMut(IndexProgress) -> bool) -> Result<IndexReport, AccessError>;
}

/// The id of a command: unlike that of any other command of this person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(String);

impl CommandId {
    /// The longest id, in bytes.
    const LONGEST: usize = 64;

    /// A new one.
    pub fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Seeded anew by the system for each process: a process id says little across containers.
        let random = RandomState::new().hash_one((std::process::id(), number));
        Self(format!("{:x}-{number:x}-{random:016x}", std::process::id()))
    }

    /// One that a client has chosen; `None` when it is empty or too long.
    pub fn of_client(id: &str) -> Option<Self> {
        (1..=Self::LONGEST).contains(&id.len()).then(|| Self(id.to_owned()))
    }

    /// Tells a command with this id from another one with it.
    pub(crate) fn mark_of(&self, command: &Word) -> u64 {
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
