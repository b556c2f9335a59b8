//! Requests to forget, and their outcome.

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::socket::Request;
use watchbill_protocol::store::ForgetReport;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetWhat {
    /// One session, or all of a work chain: by the id of either, or the unique beginning of one.
    Session(String),
    /// Every session that has been silent since before this moment.
    Before(Timestamp),
}

/// A request to the program that writes the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// This session is removed for good.
    Forget(SessionId),
    /// These sessions are, which are all of a work chain.
    ForgetAll(Vec<SessionId>),
    /// Every session that has been silent since before this moment is.
    ForgetBefore(Timestamp),
    /// A session that was removed may be stored again.
    RememberAgain(SessionId),
}

impl Removal {
    /// The same as a request to the program that holds the store.
    pub fn request(&self) -> Request {
        let text = |session: &SessionId| session.to_string();
        match self {
            Self::Forget(session) => Request::Forget { sessions: vec![text(session)] },
            Self::ForgetAll(sessions) => Request::Forget { sessions: sessions.iter().map(text).collect() },
            Self::ForgetBefore(at) => Request::ForgetBefore { before: at.to_string() },
            Self::RememberAgain(session) => Request::RememberAgain { session: text(session) },
        }
    }
}

/// What came of it: what was removed, if that was asked for.
pub type Outcome = Result<Option<ForgetReport>, ApiError>;
