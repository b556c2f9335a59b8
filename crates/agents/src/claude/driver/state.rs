//! The driver's state: open calls, the session, and facts that the agent reported.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::OwnSpec;

use super::lines;
use super::requests::AnswerForm;
use crate::driver::Conversation;
use crate::fold::blocks::Blocks;
use crate::fold::facts::Facts;
use crate::fold::prompts::Prompts;
use crate::fold::requests::Requests;

/// The permission modes of client 2.1.329. `bypassPermissions` is none of them: it has to be asked for at the start.
const MODES: [&str; 5] = ["default", "acceptEdits", "plan", "auto", "dontAsk"];

/// A call of ours that the agent has not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    Initialize,
    Interrupt,
    SetModel(String),
    SetMode(String),
    ContextUsage,
    TakeBack(String),
    Other,
}

/// The message that streams.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) id: String,
    /// The block that streams.
    pub(super) index: Option<u64>,
    /// Whole blocks of a message that did not stream.
    pub(super) whole: u64,
}

/// The state of the driver.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) cwd: String,
    pub(super) facts: Facts,
    pub(super) is_ready: bool,
    pub(super) is_running: bool,
    /// What it said of its conversation before it was ready.
    pub(super) start_refusal: Option<Conversation>,
    pub(super) prompts: Prompts,
    pub(super) requests: Requests<AnswerForm>,
    pub(super) blocks: Blocks,
    pub(super) message: Message,
    /// The word of the last error in place of an answer, and the id of its record.
    pub(super) api_error: Option<(String, Option<String>)>,
    /// The types of subagents, by their ids.
    pub(super) subagents: BTreeMap<String, String>,
    pub(super) calls: BTreeMap<String, Call>,
    pub(super) due: Vec<String>,
    next_call: u64,
}

impl State {
    pub(super) fn new(spec: &OwnSpec) -> Self {
        let goes_on = spec.resume.as_ref().filter(|resume| !resume.fork);
        let session = goes_on.map_or(&spec.session, |resume| &resume.session).clone();
        let extra = spec.mode.iter().filter(|mode| !MODES.contains(&mode.as_str()));
        let modes = MODES.iter().map(|mode| (*mode).to_owned()).chain(extra.cloned()).collect();
        let facts = Facts { session, modes, mode: spec.mode.clone(), ..Facts::default() };
        let mut state = Self { cwd: spec.cwd.clone(), facts, next_call: 1, ..Self::default() };
        let greeting = state.call(&json!({ "subtype": "initialize" }));
        state.due.push(greeting);
        state
    }

    /// A call with an id of its own.
    pub(super) fn call(&mut self, request: &Value) -> String {
        let id = format!("wb-{}", self.next_call);
        self.next_call += 1;
        lines::call(&id, request)
    }

    /// A call was written.
    pub(super) fn called(&mut self, id: &str, call: Call) {
        // A replay made no ids itself.
        if let Some(number) = id.strip_prefix("wb-").and_then(|number| number.parse::<u64>().ok()) {
            self.next_call = self.next_call.max(number.saturating_add(1));
        }
        self.calls.insert(id.to_owned(), call);
    }

    /// A turn runs.
    pub(super) fn runs(&mut self, events: &mut Vec<OwnWhat>) {
        if !std::mem::replace(&mut self.is_running, true) {
            self.api_error = None;
            events.push(OwnWhat::TurnStart);
        }
    }

    /// A prompt reached a place.
    pub(super) fn reached(&mut self, id: &str, place: PromptPlace, events: &mut Vec<OwnWhat>) {
        events.extend(self.prompts.reached(id, place));
    }
}
