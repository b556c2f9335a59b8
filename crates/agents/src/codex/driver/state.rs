//! The driver's state: open calls, the thread, and facts that the agent reported.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use watchbill_protocol::own::event::{OwnTokens, OwnWhat};
use watchbill_protocol::own::spec::{OwnResume, OwnSpec};

use super::super::launch::CLIENT_NAME;
use super::mode::{APPROVALS, Mode};
use super::requests::AnswerForm;
use crate::fold::blocks::Blocks;
use crate::fold::calls::Calls;
use crate::fold::facts::Facts;
use crate::fold::prompts::Prompts;
use crate::fold::requests::Requests;
use crate::fold::rpc::Writer;

/// Codex leaves the member `jsonrpc` out.
pub(super) const WRITER: Writer = Writer { names_version: false };

/// A call of ours that the agent has not answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Call {
    Initialize,
    Thread,
    Interrupt,
    Prompt,
    #[default]
    Other,
}

/// The state of the driver.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) cwd: String,
    resume: Option<OwnResume>,
    /// The agent's id of the session.
    pub(super) thread: Option<String>,
    pub(super) facts: Facts,
    /// What goes with the next prompt.
    pub(super) next_model: Option<String>,
    pub(super) next_mode: Option<Mode>,
    pub(super) is_ready: bool,
    pub(super) is_running: bool,
    pub(super) turn: Option<String>,
    pub(super) prompts: Prompts,
    pub(super) requests: Requests<AnswerForm>,
    pub(super) blocks: Blocks,
    /// The items of the running turn, for the requests about them.
    pub(super) items: BTreeMap<String, Value>,
    /// All tokens until now, and until the turn began.
    pub(super) total: OwnTokens,
    pub(super) before_turn: OwnTokens,
    pub(super) calls: Calls<Call>,
}

impl State {
    pub(super) fn new(spec: &OwnSpec) -> Self {
        let mut state = Self {
            cwd: spec.cwd.clone(),
            resume: spec.resume.clone(),
            facts: Facts {
                model: spec.model.clone(),
                mode: spec.mode.clone(),
                modes: APPROVALS.map(str::to_owned).to_vec(),
                ..Facts::default()
            },
            calls: Calls::new(WRITER),
            ..Self::default()
        };
        let version = env!("CARGO_PKG_VERSION");
        let info = json!({ "name": CLIENT_NAME, "title": "Watchbill", "version": version });
        let greeting = state.calls.call("initialize", &json!({ "clientInfo": info }));
        state.calls.owe(greeting);
        state
    }

    /// The call that opens the thread, with the permissions of the specification, even if an old thread had more.
    pub(super) fn open_thread(&mut self) -> String {
        let mut params = Map::new();
        params.insert("cwd".to_owned(), self.cwd.as_str().into());
        if let Some(model) = &self.facts.model {
            params.insert("model".to_owned(), model.as_str().into());
        }
        if let Some(Ok(mode)) = self.facts.mode.as_deref().map(Mode::parse) {
            mode.at_start(&mut params);
        }
        let method = match self.resume.clone() {
            None => "thread/start",
            Some(OwnResume { session, fork }) => {
                params.insert("threadId".to_owned(), session.into());
                if fork { "thread/fork" } else { "thread/resume" }
            }
        };
        if method != "thread/start" {
            params.insert("excludeTurns".to_owned(), true.into());
        }
        self.calls.call(method, &Value::Object(params))
    }

    /// A turn runs.
    pub(super) fn runs(&mut self, turn: Option<&str>, events: &mut Vec<OwnWhat>) {
        if let Some(turn) = turn {
            self.turn = Some(turn.to_owned());
        }
        if !std::mem::replace(&mut self.is_running, true) {
            self.before_turn = self.total;
            events.push(OwnWhat::TurnStart);
        }
    }

    /// The tokens of the turn.
    pub(super) fn spent(&self) -> Option<OwnTokens> {
        let (now, before) = (self.total, self.before_turn);
        let spent = OwnTokens {
            input: now.input.saturating_sub(before.input),
            output: now.output.saturating_sub(before.output),
            cache_read: now.cache_read.saturating_sub(before.cache_read),
            cache_write: now.cache_write.saturating_sub(before.cache_write),
        };
        (spent != OwnTokens::default()).then_some(spent)
    }
}
