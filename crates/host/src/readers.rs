//! The attached readers of a session, each with its mailbox.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use watchbill_protocol::own::event::OwnEvent;
use watchbill_protocol::own::host::HostMessage;

use crate::limits;
use crate::mailbox::Mailbox;

/// The attached readers.
#[derive(Default)]
pub struct Readers(Vec<Arc<Mailbox>>);

impl Readers {
    /// Adds one. From now on it is told everything.
    pub fn add(&mut self, mailbox: Arc<Mailbox>) {
        self.0.push(mailbox);
        self.stay_small();
    }

    /// Disconnects readers, first those that have read nothing for the longest time, until what waits is small enough. One that has
    /// everything stays.
    pub fn stay_small(&mut self) {
        let mut behind: Vec<_> = self.0.iter().map(|reader| (reader.waiting(), Arc::clone(reader))).collect();
        behind.retain(|((bytes, _), _)| *bytes > 0);
        behind.sort_by_key(|((_, since), _)| std::cmp::Reverse(*since));
        let mut sum: usize = behind.iter().map(|((bytes, _), _)| bytes).sum();
        while sum > limits::MAILBOXES
            && behind.len() > 1
            && let Some(((bytes, _), reader)) = behind.pop()
        {
            sum -= bytes;
            reader.abandon();
            self.0.retain(|other| !Arc::ptr_eq(other, &reader));
        }
    }

    /// Tells events. A reader that is gone, or too far behind, is forgotten.
    pub fn tell(&mut self, events: Vec<OwnEvent>) {
        if self.0.is_empty() {
            return;
        }
        if let Some(message) = message(HostMessage::Events { events }) {
            self.0.retain(|mailbox| mailbox.send(&message));
        }
        self.stay_small();
    }

    /// Shows output of the terminal.
    pub fn show(&self, output: &[u8]) {
        if output.is_empty() || self.0.is_empty() {
            return;
        }
        if let Some(message) = message(HostMessage::Output { bytes: STANDARD.encode(output) }) {
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

/// A message as text, once for all readers. A screen is large, so the message goes before the text is copied.
pub fn message(message: HostMessage) -> Option<Arc<RawValue>> {
    let text = serde_json::value::to_raw_value(&message);
    drop(message);
    match text {
        Ok(text) => Some(Arc::from(text)),
        Err(error) => {
            tracing::error!(%error, "a message has no form");
            None
        }
    }
}
