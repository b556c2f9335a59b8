//! Requests to forget, and their outcome.

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::store::ForgetReport;

/// What to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetWhat {
    /// Sessions, or all sessions of work chains: by their ids, or unique beginnings of them.
    Sessions(Vec<String>),
    /// Every session that has been silent since before this time.
    Before(Timestamp),
}

/// A request to the program that writes the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// Removes this session for good.
    Forget(SessionId),
    /// Removes these sessions for good. They are all sessions of one work chain.
    ForgetAll(Vec<SessionId>),
    /// Removes every session that has been silent since before this time.
    ForgetBefore(Timestamp),
    /// Allows a removed session to be stored again.
    RememberAgain(SessionId),
}

impl Removal {
    /// The sessions that it names.
    pub fn sessions(&self) -> &[SessionId] {
        match self {
            Self::Forget(session) | Self::RememberAgain(session) => std::slice::from_ref(session),
            Self::ForgetAll(sessions) => sessions,
            Self::ForgetBefore(_) => &[],
        }
    }

    /// The same as a request to the holder of the store.
    pub fn request(&self) -> ApiRequest {
        let text = |session: &SessionId| session.to_string();
        match self {
            Self::Forget(session) => ApiRequest::Forget { sessions: vec![text(session)] },
            Self::ForgetAll(sessions) => ApiRequest::Forget { sessions: sessions.iter().map(text).collect() },
            Self::ForgetBefore(at) => ApiRequest::ForgetBefore { before: at.to_string() },
            Self::RememberAgain(session) => ApiRequest::RememberAgain { session: text(session) },
        }
    }
}

/// The outcome of a removal: its report, if it was one that removes.
pub type RemovalResult = Result<Option<ForgetReport>, ApiError>;
