//! The attached readers of a session, each with its mailbox.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use watchbill_protocol::own::event::OwnEvent;
use watchbill_protocol::own::host::HostMessage;

use crate::mailbox::Mailbox;

/// The most bytes that wait for all readers together. Beyond that, those furthest behind are disconnected.
const MAX_WAITING_BYTES: usize = 3 << 20;

/// The attached readers.
#[derive(Default)]
pub struct Readers(Vec<Arc<Mailbox>>);

impl Readers {
    /// Adds one. From now on it is told everything.
    pub fn add(&mut self, mailbox: Arc<Mailbox>) {
        self.0.push(mailbox);
        self.stay_small();
    }

    /// Disconnects the readers that are furthest behind, until what waits is small enough. The last one has its own limit.
    pub fn stay_small(&mut self) {
        while self.0.len() > 1
            && self.0.iter().map(|mailbox| mailbox.waiting()).sum::<usize>() > MAX_WAITING_BYTES
        {
            let furthest = (0..self.0.len()).max_by_key(|at| self.0[*at].waiting()).unwrap_or(0);
            self.0.swap_remove(furthest).abandon();
        }
    }

    /// Tells events. A reader that is gone, or too far behind, is forgotten.
    pub fn tell(&mut self, events: Vec<OwnEvent>) {
        if self.0.is_empty() {
            return;
        }
        if let Some(message) = message(&HostMessage::Events { events }) {
            self.0.retain(|mailbox| mailbox.send(&message));
        }
        self.stay_small();
    }

    /// Shows output of the terminal.
    pub fn show(&self, output: &[u8]) {
        if output.is_empty() || self.0.is_empty() {
            return;
        }
        if let Some(message) = message(&HostMessage::Output { bytes: STANDARD.encode(output) }) {
            for mailbox in &self.0 {
                mailbox.send_output(&message);
            }
        }
    }

    /// Drops waiting output: all of them get the screen instead.
    pub fn drop_output(&self) {
        for mailbox in &self.0 {
            mailbox.drop_output();
        }
    }

    /// Says that nothing more comes.
    pub fn close(&self) {
        for mailbox in &self.0 {
            mailbox.close();
        }
    }
}

/// A message as text, once for all readers.
pub fn message(message: &HostMessage) -> Option<Arc<RawValue>> {
    match serde_json::value::to_raw_value(message) {
        Ok(text) => Some(Arc::from(text)),
        Err(error) => {
            tracing::error!(%error, "a message has no form");
            None
        }
    }
}
