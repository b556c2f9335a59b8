//! Requests and answers, through the handle of a running engine.

use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::requests::caller::{Caller, check};
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_hooks::ancestors::terminal_of;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::{AnswerCall, AnswerGiven};

use super::Handle;
use crate::run::message::{AskSink, Message};
use crate::step::requests::Answer;

impl Handle {
    /// A hook process asks. `sink` gets the text that it is to print, or nothing.
    pub(crate) fn ask(&self, request: Request, message: HookMessage, sink: AskSink) {
        // Without a loop the sink is dropped: the connection ends, and the hook process with it.
        let _ = self.inbox.send(Message::HookAsks(Box::new(request), message, sink));
    }

    /// A hook process has printed its answer.
    pub(crate) fn printed(&self, request: RequestId) {
        let _ = self.inbox.send(Message::Printed(request));
    }

    /// A hook process that asked has ended.
    pub(crate) fn hook_gone(&self, request: RequestId) {
        let _ = self.inbox.send(Message::HookGone(request));
    }

    /// Answers a request that a surface of this program or the socket has shown. When this returns, the answer is stored and
    /// on its way to the hook process.
    ///
    /// # Errors
    /// When the request is not open any more, the answer does not fit or cannot be stored.
    pub fn answer(&self, call: &AnswerCall, surface: &'static str) -> Result<AnswerGiven, ApiError> {
        let answer = Answer {
            session: SessionId::new(&call.session),
            request: RequestId::new(&call.request_id),
            seen: watchbill_protocol::request::seen(&call.seen)?,
            decision: call.decision.clone().into(),
            surface,
        };
        self.wait_for(|told| Message::Answer(answer, told))?
    }

    /// What a session asks now, if it can be answered from here.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn request(&self, session: &str) -> Result<Option<watchbill_protocol::request::Request>, ApiError> {
        let session = SessionId::new(session);
        self.ask_loop(move |engine, _| engine.asked(&session).as_ref().map(Into::into))
    }

    /// Whether a program at the socket may answer requests.
    ///
    /// # Errors
    /// When it may not: an agent started it, or no person uses its terminal.
    pub(crate) fn check_caller(&self, caller: &Caller) -> Result<(), ApiError> {
        let scripts = self.settings().scripts_answer;
        let agents = self.ask_loop(|engine, _| engine.running_processes())?;
        let is_agents =
            |terminal: &str| agents.iter().any(|pid| terminal_of(*pid).as_deref() == Some(terminal));
        check(caller, &|pid| agents.contains(&pid), &is_agents, scripts).map_err(|refused| {
            tracing::warn!(%refused, "an answer was refused");
            ApiError::new(ErrorCode::Refused, refused.to_string())
        })
    }
}
