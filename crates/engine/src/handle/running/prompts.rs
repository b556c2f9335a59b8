//! Prompts of the user, through the handle of a running engine.

use std::sync::PoisonError;

use watchbill_core::ids::SessionId;
use watchbill_core::prompt::PromptText;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_terminal::RealWorld;

use super::Handle;
use crate::handle::prompt;

impl Handle {
    /// Sends a prompt of the user to a session: types it into its terminal and waits until the agent's files show the
    /// prompt. Blocks the caller's thread for some seconds. A prompt is never sent twice.
    ///
    /// # Errors
    /// When the text cannot be typed, or the session takes no prompt now, or its terminal takes no keys. The message says
    /// whether something was typed; the caller keeps the text.
    pub fn prompt(&self, call: &PromptCall) -> Result<PromptSent, ApiError> {
        let text = PromptText::new(&call.text)
            .map_err(|error| ApiError::new(ErrorCode::Invalid, format!("nothing was typed: {error}")))?;
        let asked = call.session.clone();
        let target = self.ask_loop(move |engine, _| engine.prompt_target(&asked))??;
        let session = SessionId::new(&target.session_location.session);
        let _turn = Turn::take(self, &session)?;
        let sent = prompt::send(&text, &target, &*self.fs, &RealWorld, &|| {
            let session = session.clone();
            self.ask_loop(move |engine, _| engine.objection_to_prompt(&session))
        });
        match &sent {
            Ok(sent) => tracing::info!(%session, outcome = ?sent.outcome, "a prompt was sent"),
            Err(error) => tracing::info!(%session, %error, "a prompt was not sent"),
        }
        sent
    }
}

/// The right to type into a session: one prompt at a time, until its outcome is known.
struct Turn<'h> {
    handle: &'h Handle,
    session: SessionId,
}

impl<'h> Turn<'h> {
    fn take(handle: &'h Handle, session: &SessionId) -> Result<Self, ApiError> {
        let mut under_way = handle.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        if !under_way.insert(session.clone()) {
            let message = "nothing was typed: another prompt is on its way to this session";
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
        Ok(Self { handle, session: session.clone() })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.handle.prompts.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
    }
}
