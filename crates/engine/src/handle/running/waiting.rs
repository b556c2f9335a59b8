//! Sends a message to the loop and waits for its answer.

use std::sync::mpsc;
use std::time::Duration;

use watchbill_protocol::error::ApiError;

use super::{Handle, TIMEOUT, stopped};
use crate::engine::Engine;
use crate::run::message::Message;
use crate::world::source::HintSource;

impl Handle {
    pub(super) fn ask_loop<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Engine, &dyn HintSource) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.ask_loop_at_most(TIMEOUT, question)?.ok_or_else(stopped)
    }

    /// The same with a limit of its own. `None`: no answer came in time.
    pub(super) fn ask_loop_at_most<T: Send + 'static>(
        &self,
        at_most: Duration,
        question: impl FnOnce(&Engine, &dyn HintSource) -> T + Send + 'static,
    ) -> Result<Option<T>, ApiError> {
        self.wait_at_most(at_most, |reply| {
            Message::Ask(Box::new(move |engine: &Engine, source: &dyn HintSource| {
                reply(question(engine, source))
            }))
        })
    }

    /// Sends a message that carries the callback `reply`, and waits until the engine calls it with the answer.
    pub(super) fn wait_for<T: Send + 'static>(
        &self,
        message: impl FnOnce(Box<dyn FnOnce(T) + Send>) -> Message,
    ) -> Result<T, ApiError> {
        self.wait_at_most(TIMEOUT, message)?.ok_or_else(stopped)
    }

    /// The same with a limit of its own. `None`: no answer came in time.
    pub(super) fn wait_at_most<T: Send + 'static>(
        &self,
        at_most: Duration,
        message: impl FnOnce(Box<dyn FnOnce(T) + Send>) -> Message,
    ) -> Result<Option<T>, ApiError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        // The caller may have given up waiting.
        let reply = Box::new(move |answer| drop(sender.send(answer)));
        self.inbox.send(message(reply)).map_err(|_| stopped())?;
        match receiver.recv_timeout(at_most) {
            Ok(answer) => Ok(Some(answer)),
            Err(mpsc::RecvTimeoutError::Timeout) => Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(stopped()),
        }
    }
}
