//! The driver's state: open calls, the session, and facts that the agent reported.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::OwnSpec;

use super::lines;
use super::requests::AnswerForm;
use crate::driver::Conversation;
use crate::fold::blocks::Blocks;
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

/// Facts about the agent, for `OwnWhat::Init`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InitFacts {
    pub(super) session: String,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) version: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) models: Vec<String>,
    pub(super) modes: Vec<String>,
    pub(super) commands: Vec<String>,
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
#[derive(Debug)]
pub(super) struct State {
    pub(super) cwd: String,
    pub(super) facts: InitFacts,
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
        let facts = InitFacts { session, modes, mode: spec.mode.clone(), ..InitFacts::default() };
        let mut state = Self {
            cwd: spec.cwd.clone(),
            facts,
            is_ready: false,
            is_running: false,
            start_refusal: None,
            prompts: Prompts::default(),
            requests: Requests::default(),
            blocks: Blocks::default(),
            message: Message::default(),
            api_error: None,
            subagents: BTreeMap::new(),
            calls: BTreeMap::new(),
            due: Vec::new(),
            next_call: 1,
        };
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

    /// The facts that the agent reports about itself.
    pub(super) fn init(&self) -> OwnWhat {
        let InitFacts { session, model, mode, version, pid, models, modes, commands } = self.facts.clone();
        OwnWhat::Init { session, model, mode, version, pid, models, modes, commands }
    }

    /// The model or the mode is another one now.
    pub(super) fn changed(&mut self, model: Option<String>, mode: Option<String>, events: &mut Vec<OwnWhat>) {
        let model = model.filter(|model| self.facts.model.as_ref() != Some(model));
        let mode = mode.filter(|mode| self.facts.mode.as_ref() != Some(mode));
        if model.is_none() && mode.is_none() {
            return;
        }
        self.facts.model = model.clone().or(self.facts.model.take());
        self.facts.mode = mode.clone().or(self.facts.mode.take());
        events.push(OwnWhat::Changed { model, mode });
    }
}
