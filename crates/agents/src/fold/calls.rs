//! Our calls to an agent over JSON-RPC, and lines that are due without a command.

use std::collections::BTreeMap;

use serde_json::Value;

use super::rpc::Writer;

/// How the ids of the driver's own calls begin. A prompt keeps the host's id.
pub(crate) const OWN: &str = "wb-";

/// `K`: what a call is about.
#[derive(Debug, Default)]
pub(crate) struct Calls<K> {
    writer: Writer,
    /// Calls that were written and have no answer yet, by id.
    waiting: BTreeMap<String, K>,
    due: Vec<String>,
    /// The number of the last call.
    last: u64,
}

impl<K: Default> Calls<K> {
    pub(crate) fn new(writer: Writer) -> Self {
        Self { writer, ..Self::default() }
    }

    /// The line of a call with an id of its own.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> String {
        self.last = self.last.saturating_add(1);
        self.writer.call(&format!("{OWN}{}", self.last), method, params)
    }

    /// A call was written, by this process or by one before it.
    pub(crate) fn written(&mut self, id: &str, about: K) {
        if let Some(number) = id.strip_prefix(OWN).and_then(|number| number.parse::<u64>().ok()) {
            self.last = self.last.max(number);
        }
        self.waiting.insert(id.to_owned(), about);
    }

    /// The agent answered a call. `None`: it was none of ours, or was answered before.
    pub(crate) fn answered(&mut self, id: &str) -> Option<K> {
        self.waiting.remove(id)
    }

    /// The line has to be written.
    pub(crate) fn owe(&mut self, line: String) {
        self.due.push(line);
    }

    /// The line was written. In a replay, what was due and was written is not taken.
    pub(crate) fn paid(&mut self, line: &str) {
        self.due.retain(|due| due != line);
    }

    /// The lines to write now.
    pub(crate) fn take_due(&mut self) -> Vec<String> {
        std::mem::take(&mut self.due)
    }
}
