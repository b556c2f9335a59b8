//! Where a request stands, how it ends, and what comes of its answer.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::SessionId;
use crate::time::Timestamp;

use crate::requests::decision::Mismatch;
use crate::requests::request::{Request, RequestId};

/// Where a request stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It can be answered.
    Open,
    /// An answer is on its way to the hook process.
    Sending(Timestamp),
    /// The hook process has printed the answer and ended.
    Taken(Timestamp),
    /// The session asks on, although it was answered.
    Failed(Timestamp),
}

/// A witness that tells which calls of a session's own turn have no result yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallWitness {
    /// Hook events: the calls that ask.
    Hooks,
    /// The transcript: all calls.
    Transcript,
}

/// What ends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// The turn goes on: its session no longer waits, its call has a result, its next request is asked, or its host says so. An
    /// answer that was on its way has taken effect.
    TurnGoesOn,
    /// The session or this program ends. Whether an answer has taken effect is not known.
    End,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closing {
    /// The answer was sent, and nothing says that it had no effect.
    Answered,
    /// The session went on without an answer from here: the user decided in the terminal, or the turn or client ended.
    Elsewhere,
    /// The hook process ended without an answer. The terminal may ask on.
    Withdrawn,
}

/// Why an answer was refused. The request is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefusal {
    /// Decided, withdrawn, or never there.
    #[error("nothing of that kind is asked any more; the session shows what it asks now")]
    NotOpen,
    /// Another answer was first.
    #[error("it was answered already")]
    Answered,
    /// The card that was answered showed something else.
    #[error("the request is not the one that was shown; look at it again")]
    Changed,
    /// The decision does not fit.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

/// A task for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestEffect {
    /// Lets the hook process end with nothing: the dialog in the terminal stays. There is none for an own session.
    Release(RequestId),
    /// The request left the list.
    Closed(SessionId, RequestId, Closing),
    /// The outcome of an answer, to be stored with it.
    Outcome(RequestId, AnswerOutcome),
    /// It got no answer and can get none any more. The caller stores it as expired.
    Expired(Arc<Request>),
}

as_str!(AnswerOutcome);

/// The outcome of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AnswerOutcome {
    /// The hook process has printed it.
    Taken,
    /// The turn went on after it.
    Effect,
    /// The session asked on for five seconds.
    NoEffect,
    /// It is unknown whether it arrived: the hook process ended before it said that it printed the answer, or the host did not say
    /// that it has it.
    Lost,
}

/// A request and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    /// The request.
    pub request: Arc<Request>,
    /// Where it stands.
    pub progress: Progress,
    /// The session was seen to wait since it asked.
    pub(super) has_waited: bool,
    /// The witnesses that saw the call of the request.
    pub(super) seen_by: BTreeSet<CallWitness>,
    /// How often the session has asked for the same.
    pub(super) times: u32,
    /// An answer was sent and did not arrive, as far as is known.
    pub(super) was_sent: bool,
    /// Why the newest attempt of a program to answer it was refused.
    pub(super) refused: Option<Arc<str>>,
}

impl OpenRequest {
    /// The effect of the session's end on a request without an answer: it was neither allowed nor denied.
    pub(super) fn expired(&self) -> Option<RequestEffect> {
        let is_open = self.progress == Progress::Open && !self.was_sent;
        is_open.then(|| RequestEffect::Expired(Arc::clone(&self.request)))
    }
}

/// The oldest request of a session, as its row has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The request.
    pub request: Arc<Request>,
    /// Where it stands.
    pub progress: Progress,
    /// How many more of the session wait.
    pub more: u32,
    /// How often the session has asked for the same, this time included: 1 at the first time.
    pub times: u32,
    /// A program that may not answer has tried to; why it may not.
    pub refused: Option<Arc<str>>,
}
