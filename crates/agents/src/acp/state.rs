//! The driver's state: open calls, the session, and facts that the agent reported.

use std::collections::BTreeSet;

use serde_json::json;
use watchbill_protocol::own::spec::OwnSpec;

use super::requests::AnswerForm;
use crate::fold::blocks::Blocks;
use crate::fold::calls::Calls;
use crate::fold::facts::Facts;
use crate::fold::prompts::Prompts;
use crate::fold::requests::Requests;
use crate::fold::rpc::Writer;

/// The protocol wants the member `jsonrpc`.
pub(super) const WRITER: Writer = Writer { names_version: true };

/// A call of ours that the agent has not answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Call {
    Initialize,
    /// A new session, or one that goes on under this id.
    Session(Option<String>),
    Prompt,
    SetModel(String),
    SetMode(String),
    #[default]
    Other,
}

/// The state of the driver.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) cwd: String,
    /// The agent's id of the session that goes on.
    pub(super) resume: Option<String>,
    /// What the specification asks for.
    pub(super) wanted_model: Option<String>,
    pub(super) wanted_mode: Option<String>,
    pub(super) session: Option<String>,
    pub(super) facts: Facts,
    /// The prompt that runs.
    pub(super) running: Option<String>,
    pub(super) prompts: Prompts,
    pub(super) requests: Requests<AnswerForm>,
    pub(super) blocks: Blocks,
    /// The growing block: its number in the turn, and whether it is thinking.
    pub(super) block: (u64, Option<bool>),
    /// Tool calls of the turn that were reported, and those that ended, by the hashes of their ids.
    pub(super) told: BTreeSet<u64>,
    pub(super) ended: BTreeSet<u64>,
    pub(super) calls: Calls<Call>,
}

impl State {
    pub(super) fn new(spec: &OwnSpec) -> Self {
        let mut state = Self {
            cwd: spec.cwd.clone(),
            resume: spec.resume.as_ref().map(|resume| resume.session.clone()),
            wanted_model: spec.model.clone(),
            wanted_mode: spec.mode.clone(),
            calls: Calls::new(WRITER),
            ..Self::default()
        };
        // Without these abilities the agent reads and writes files itself, and asks for permission as ever.
        let abilities = json!({ "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false });
        let info = json!({ "name": "watchbill", "title": "Watchbill", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": 1, "clientCapabilities": abilities, "clientInfo": info });
        let greeting = state.calls.call("initialize", &params);
        state.calls.owe(greeting);
        state
    }

    /// A call about the session. `None` without one.
    pub(super) fn session_call(&mut self, method: &str, name: &str, value: &str) -> Option<String> {
        let session = self.session.clone()?;
        Some(self.calls.call(method, &json!({ "sessionId": session, name: value })))
    }
}
