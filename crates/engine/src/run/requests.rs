//! The user's answers on their way to waiting hook processes.

use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::AnswerGiven;

use super::Loop;
use crate::handle::pressed::{self, Pressed};
use crate::step::requests::UserAnswer;

impl Loop {
    /// Answers a request: stores the answer, then sends it to the hook process. An answer that cannot be stored is not sent, and
    /// neither is one that comes too late.
    /// `None`: another program holds the store, and the request.
    pub(super) fn answer(
        &mut self,
        answer: &UserAnswer,
        pressed: Pressed,
    ) -> Result<Option<AnswerGiven>, ApiError> {
        if pressed.is_late() {
            return Err(pressed::too_late());
        }
        if self.stored.persist.as_ref().is_some_and(|persist| !persist.writes()) {
            return Ok(None);
        }
        let now = self.clock.now();
        let fitting = self.engine.requests().answer(answer).map_err(|refusal| {
            ApiError::new(ErrorCode::Invalid, format!("nothing was answered: {refusal}"))
        })?;
        self.save(now);
        if !self.is_stored() {
            self.engine.requests().drop_answer(&answer.request);
            let ApiError { code, message } = self.unstored();
            return Err(ApiError::new(
                code,
                format!("the answer was not sent, because it cannot be stored: {message}"),
            ));
        }
        // A slow disk may have taken its time.
        if pressed.is_late() {
            self.engine.requests().drop_answer(&answer.request);
            return Err(pressed::too_late());
        }
        if !self.engine.requests().send(&answer.session, &answer.request) {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "nothing was answered: the request has just ended",
            ));
        }
        match fitting.output {
            Some(output) => self.faces.waiting_hooks.tell(&answer.request, Some(output)),
            None => self.faces.own.deliver(answer, self.engine.settings().data_dir.as_deref()),
        }
        Ok(Some(AnswerGiven {
            request_id: answer.request.to_string(),
            decision: fitting.decision,
            delivered: true,
            at: now.to_string(),
        }))
    }
}
