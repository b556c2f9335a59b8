//! Waiting hook processes: what each is to print, and the answers on their way to them.

use std::collections::BTreeMap;

use watchbill_core::requests::request::RequestId;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::AnswerGiven;

use super::Loop;
use crate::run::message::AskSink;
use crate::step::requests::Answer;

/// The hook processes that wait for an answer.
#[derive(Default)]
pub(crate) struct Askers(BTreeMap<RequestId, AskSink>);

impl Askers {
    /// A hook process waits.
    pub fn add(&mut self, id: RequestId, sink: AskSink) {
        self.0.insert(id, sink);
    }

    /// Lets a hook process print something, or nothing, and end.
    pub fn tell(&mut self, id: &RequestId, output: Option<String>) {
        if let Some(sink) = self.0.remove(id) {
            sink(output);
        }
    }

    /// A hook process has ended by itself.
    pub fn remove(&mut self, id: &RequestId) {
        self.0.remove(id);
    }
}

impl Loop {
    /// Answers a request: stores the answer, then sends it to the hook process. An answer that cannot be stored is not sent.
    pub(super) fn answer(&mut self, answer: &Answer) -> Result<AnswerGiven, ApiError> {
        let now = self.clock.now();
        let fitting = self.engine.answer(answer).map_err(|refusal| {
            ApiError::new(ErrorCode::Invalid, format!("nothing was answered: {refusal}"))
        })?;
        self.save(now);
        if !self.is_stored() {
            self.engine.answer_stays(&answer.request);
            let ApiError { code, message } = self.unstored();
            return Err(ApiError::new(
                code,
                format!("the answer was not sent, because it cannot be stored: {message}"),
            ));
        }
        if !self.engine.answer_goes_out(&answer.session, &answer.request) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "nothing was answered: the request has just ended",
            ));
        }
        self.askers.tell(&answer.request, Some(fitting.output));
        Ok(AnswerGiven {
            request_id: answer.request.to_string(),
            decision: fitting.decision,
            delivered: true,
            at: now.to_string(),
        })
    }
}
