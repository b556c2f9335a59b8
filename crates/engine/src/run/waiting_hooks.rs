//! The waiting hook processes, and the channel to each of them.

use std::collections::BTreeMap;

use watchbill_core::requests::request::RequestId;

use crate::run::message::AskSink;

/// The hook processes that wait for an answer.
#[derive(Default)]
pub(crate) struct WaitingHooks(BTreeMap<RequestId, AskSink>);

impl WaitingHooks {
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
