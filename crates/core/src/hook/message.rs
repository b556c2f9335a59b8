//! One hook event on its way from the receiver to its consumers; its payload is parsed once for all of them.

use std::sync::{Arc, OnceLock};

use super::origin::HookOrigin;
use super::payload::{HookError, HookPayload};
use crate::ids::Agent;

/// One hook event. Clones share the payload and its parsed form.
#[derive(Debug, Clone)]
pub struct HookMessage {
    /// The sender's own data about the event.
    pub origin: HookOrigin,
    /// The agent that the hook was installed for.
    pub agent: Agent,
    /// The payload as the agent wrote it, byte for byte; normally JSON.
    pub payload: Arc<[u8]>,
    /// The event comes from the journal or the spool, from before its consumer listened: it raises no alert.
    pub replayed: bool,
    /// The payload is shorter than the agent's.
    pub cut: bool,
    /// A program sent it over HTTP. It enters the history, and is evidence of no state.
    pub over_http: bool,
    parsed: Arc<OnceLock<Result<HookPayload, HookError>>>,
}

impl HookMessage {
    /// A whole event of the default agent that has just happened.
    pub fn new(origin: HookOrigin, payload: impl Into<Arc<[u8]>>) -> Self {
        Self {
            origin,
            agent: Agent::default(),
            payload: payload.into(),
            replayed: false,
            cut: false,
            over_http: false,
            parsed: Arc::default(),
        }
    }

    /// The parsed payload. The first call parses it with `read`, which is the same for all callers.
    ///
    /// # Errors
    /// As `read`.
    pub fn parsed(
        &self,
        read: fn(&[u8]) -> Result<HookPayload, HookError>,
    ) -> Result<&HookPayload, HookError> {
        self.parsed.get_or_init(|| read(&self.payload)).as_ref().map_err(|error| *error)
    }
}
