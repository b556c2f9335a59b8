//! The fold of an own session's events.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use watchbill_core::ids::SessionId;
use watchbill_core::own::{OwnReading, OwnWay, OwnWitness, split_context};
use watchbill_core::roster::reason::PendingTool;
use watchbill_core::session::facts::one_line;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_protocol::own::event::{NO_REACTION, OwnTokens, OwnWhat, PromptPlace};
use watchbill_protocol::request::Request;

use crate::turn::{Beside, End, GOES_ON, STARTS, Turn, filled, pending, sum};

/// Calls and requests that are kept at most. An agent with more of them open has gone wrong.
const MAX_OPEN: usize = 256;

/// Whether the host of an own session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostState {
    /// It runs.
    Runs,
    /// It is gone.
    Gone,
    /// It is gone since the machine ended: the machine has started again since the newest event.
    GoneWithMachine,
}

/// An open request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Ask {
    id: Arc<str>,
    kind: StateKind,
    call: PendingTool,
}

/// The state of one own session, folded from its events. That of an ended one is kept in a file: another form of it needs
/// another [`VERSION`](watchbill_core::session::snapshot::VERSION).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFold {
    way: OwnWay,
    host: HostState,
    /// The agent's id of the session.
    pub session: Option<SessionId>,
    /// The model.
    pub model: Option<Arc<str>>,
    /// The permission mode.
    pub mode: Option<Arc<str>>,
    /// The agent's version.
    pub version: Option<Arc<str>>,
    /// The first prompt in one line.
    pub goal: Option<Arc<str>>,
    /// Why queued prompts wait for the user.
    pub held: Option<Arc<str>>,
    /// When they go on by themselves, as the user said.
    until: Option<Arc<str>>,
    /// The context: tokens in it, and how many fit.
    pub context: Option<(u64, Option<u64>)>,
    /// Tokens of all turns.
    pub tokens: Option<Usage>,
    /// Tool calls without a result, oldest first.
    pub calls: Vec<PendingTool>,
    pid: Option<u32>,
    queue: BTreeSet<Arc<str>>,
    asks: Vec<Ask>,
    turn: Turn,
    /// When the last turn began or ended.
    pub since: Timestamp,
    last_at: Timestamp,
    failed: Option<Arc<str>>,
    /// The agent's process was started, and is not ready yet.
    starting: bool,
    ending: bool,
    end: Option<End>,
    /// Another host runs since that end.
    again: bool,
}

impl OwnFold {
    /// A session that was announced at `at` and has said nothing yet.
    pub fn new(way: OwnWay, at: Timestamp) -> Self {
        Self {
            way,
            host: HostState::Runs,
            session: None,
            model: None,
            mode: None,
            version: None,
            goal: None,
            held: None,
            until: None,
            context: None,
            tokens: None,
            calls: Vec::new(),
            pid: None,
            queue: BTreeSet::new(),
            asks: Vec::new(),
            turn: Turn::None,
            since: at,
            last_at: at,
            failed: None,
            starting: false,
            ending: false,
            end: None,
            again: false,
        }
    }

    /// The host runs, or is gone. A host that runs after the end was reported is another one: the user has resumed the
    /// session.
    pub fn set_host(&mut self, host: HostState) {
        self.host = host;
        self.again = host == HostState::Runs && self.end.is_some();
    }

    /// Moves times that are later than `now` to `now`: the clock was changed since they were written.
    pub fn not_after(&mut self, now: Timestamp) {
        let calls = self.calls.iter_mut().map(|call| &mut call.since);
        let asks = self.asks.iter_mut().map(|ask| &mut ask.call.since);
        let end = self.end.iter_mut().map(|end| &mut end.at);
        for at in calls.chain(asks).chain(end).chain([&mut self.since, &mut self.last_at]) {
            *at = (*at).min(now);
        }
    }

    /// Whether its host runs, and the session has not ended since.
    pub fn is_live(&self) -> bool {
        self.host == HostState::Runs && (self.end.is_none() || self.again)
    }

    /// Whether the session is being ended, or has ended.
    pub fn is_ending(&self) -> bool {
        self.ending || !self.is_live()
    }

    /// Whether this request is open.
    pub fn asks(&self, id: &str) -> bool {
        self.asks.iter().any(|ask| &*ask.id == id)
    }

    /// The open requests, oldest first.
    pub fn ask_ids(&self) -> impl Iterator<Item = &Arc<str>> {
        self.asks.iter().map(|ask| &ask.id)
    }

    /// Prompts in the host's queue, while it runs.
    pub fn queued(&self) -> u32 {
        if self.is_live() { u32::try_from(self.queue.len()).unwrap_or(u32::MAX) } else { 0 }
    }

    /// The agent's process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.pid.filter(|_| self.is_live())
    }

    /// When a limit stopped it, while it rests since then.
    pub fn stopped_by_limit(&self) -> Option<Timestamp> {
        let by_limit = matches!(&self.turn, Turn::Over(reason, _) if **reason == *"limit");
        (by_limit && self.is_live()).then_some(self.since)
    }

    /// When the newest event came.
    pub fn last_at(&self) -> Timestamp {
        self.last_at
    }

    /// Takes one event in, in the order of the log.
    pub fn take(&mut self, at: Timestamp, what: &OwnWhat) {
        self.last_at = self.last_at.max(at);
        match what {
            OwnWhat::Init { session, model, mode, version, pid, .. } => {
                self.session = Some(SessionId::new(session));
                self.starting = false;
                self.version = filled(version).or(self.version.take());
                self.pid = pid.or(self.pid);
                self.change(model, mode);
            }
            OwnWhat::Changed { model, mode } => self.change(model, mode),
            OwnWhat::Moved { session } => self.move_on(at, session),
            OwnWhat::Prompt { id, text, place, .. } => self.prompt(at, id, text, *place),
            OwnWhat::QueueHeld { held, cause, until } => {
                self.until = filled(until);
                self.held = held.then(|| filled(cause).unwrap_or_else(|| "interrupted".into()));
            }
            OwnWhat::TurnStart => self.work(at, Beside::Nothing),
            OwnWhat::Text { .. } | OwnWhat::Thinking { .. } | OwnWhat::Block { .. } => self.goes_on(),
            OwnWhat::ToolUse { id, tool, target, .. } => self.call(at, id, tool, target),
            OwnWhat::ToolResult { id, .. } => self.calls.retain(|call| *call.id != **id),
            OwnWhat::Request { request } => self.ask(at, request),
            OwnWhat::RequestClosed { request, .. } => self.close(at, request),
            OwnWhat::Retry { attempt, of, cause, .. } => {
                let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
                self.work(at, Beside::Retries(format!("{cause}; try {attempt}{of} failed").into()));
            }
            OwnWhat::Compaction { done: false, .. } => self.work(at, Beside::Compacts),
            OwnWhat::Compaction { done: true, .. } => self.goes_on(),
            OwnWhat::Error { text, cause, .. } if cause == NO_REACTION => self.does_not_react(text),
            OwnWhat::Error { text, .. } => self.failed = Some(text.as_str().into()),
            OwnWhat::Context { used, size } => self.context = Some((*used, *size)),
            OwnWhat::TurnEnd { reason, tokens, .. } => self.end_turn(at, reason, *tokens),
            OwnWhat::Started { pid } => {
                self.pid = Some(*pid);
                self.end = None;
                self.again = false;
                // A terminal does not say when its program is ready.
                self.starting = self.way == OwnWay::Stream;
                self.break_off(at);
            }
            OwnWhat::Ending { .. } => self.ending = true,
            OwnWhat::SessionEnded { asked, code, signal, words } => {
                self.end(at, *asked, *code, *signal, filled(words));
            }
        }
    }

    /// The word of the host.
    pub fn witness(&self) -> OwnWitness {
        OwnWitness {
            way: self.way,
            live: self.is_live(),
            pid: self.pid(),
            last_at: self.last_at,
            reading: self.reading(),
        }
    }

    fn change(&mut self, model: &Option<String>, mode: &Option<String>) {
        self.model = filled(model).or(self.model.take());
        self.mode = filled(mode).or(self.mode.take());
    }

    fn prompt(&mut self, at: Timestamp, id: &str, text: &str, place: PromptPlace) {
        let is_open = matches!(place, PromptPlace::Queued | PromptPlace::Sent | PromptPlace::Started);
        if self.goal.is_none() && is_open {
            let line = one_line(split_context(text).1);
            self.goal = (!line.is_empty()).then(|| line.into());
        }
        if place == PromptPlace::Queued {
            self.queue.insert(id.into());
            return;
        }
        self.queue.remove(id);
        match place {
            PromptPlace::Sent | PromptPlace::Started if !matches!(self.turn, Turn::Runs(_)) => {
                self.work(at, Beside::Nothing);
            }
            PromptPlace::Unknown => self.break_off(at),
            _ => {}
        }
    }

    /// A turn runs. Its beginning stays what it was.
    fn work(&mut self, at: Timestamp, beside: Beside) {
        if !matches!(self.turn, Turn::Runs(_)) {
            self.since = at;
            self.failed = None;
            self.calls.clear();
        }
        self.turn = Turn::Runs(beside);
    }

    /// The turn works again after a retry or a compaction.
    fn goes_on(&mut self) {
        if let Turn::Runs(beside) = &mut self.turn {
            *beside = Beside::Nothing;
        }
    }

    fn does_not_react(&mut self, words: &str) {
        if let Turn::Runs(beside) = &mut self.turn {
            *beside = Beside::Unresponsive(words.into());
        }
    }

    fn call(&mut self, at: Timestamp, id: &str, tool: &str, target: &str) {
        self.goes_on();
        if self.calls.len() < MAX_OPEN && self.calls.iter().all(|call| &*call.id != id) {
            self.calls.push(pending(at, id, tool, target));
        }
    }

    fn ask(&mut self, at: Timestamp, request: &Request) {
        if self.asks.len() < MAX_OPEN && !self.asks(&request.id) {
            let kind = match &*request.kind {
                "question" | "elicitation" => StateKind::Question,
                "plan" => StateKind::Plan,
                _ => StateKind::Permission,
            };
            let call = pending(at, &request.id, &request.tool, &request.summary);
            self.asks.push(Ask { id: Arc::clone(&call.id), kind, call });
        }
    }

    fn close(&mut self, at: Timestamp, id: &str) {
        let before = self.asks.len();
        self.asks.retain(|ask| &*ask.id != id);
        if self.asks.is_empty() && before > 0 && matches!(self.turn, Turn::Runs(_)) {
            self.since = at;
        }
    }

    /// After a `/clear` the conversation is a new one: its first prompt is still to come.
    fn move_on(&mut self, at: Timestamp, session: &str) {
        self.session = Some(SessionId::new(session));
        self.goal = None;
        self.context = None;
        self.tokens = None;
        self.since = at;
    }

    fn end_turn(&mut self, at: Timestamp, reason: &str, tokens: Option<OwnTokens>) {
        self.turn = Turn::Over(reason.into(), self.failed.take());
        self.since = at;
        self.calls.clear();
        self.asks.clear();
        self.tokens = tokens.map(|turn| sum(self.tokens.unwrap_or_default(), turn)).or(self.tokens);
    }

    /// The agent is gone. A turn that ran did not end by itself.
    fn break_off(&mut self, at: Timestamp) {
        if matches!(self.turn, Turn::Runs(_)) {
            self.end_turn(at, "interrupted", None);
        }
        self.calls.clear();
        self.asks.clear();
    }

    fn end(
        &mut self,
        at: Timestamp,
        asked: bool,
        code: Option<i32>,
        signal: Option<i32>,
        words: Option<Arc<str>>,
    ) {
        let how = match (code, signal) {
            (Some(code), _) => format!("with exit code {code}"),
            (None, Some(signal)) => format!("by signal {signal}"),
            (None, None) => "without an exit code".to_owned(),
        };
        let crashed = Some(StateKind::Crashed);
        let (kind, mut detail) = match (asked, std::mem::take(&mut self.starting), code) {
            (true, ..) => (None, "the user ended the session".to_owned()),
            // The code says nothing: the agent has done no work.
            (false, true, _) => (crashed, format!("the agent ended before it was ready, {how}")),
            (false, false, Some(0)) => (None, "the agent ended by itself".to_owned()),
            (false, false, _) => (crashed, format!("the agent ended {how}")),
        };
        let words = words.or_else(|| self.failed.take());
        if let Some(words) = words.filter(|_| kind.is_some()) {
            detail.push_str(": ");
            detail.push_str(&one_line(&words));
        }
        self.end = Some(End { at, kind, detail: detail.into() });
        self.again = false;
        self.ending = false;
        self.break_off(at);
        self.queue.clear();
        self.pid = None;
    }

    /// What the session does, by its host alone.
    fn reading(&self) -> Option<OwnReading> {
        let say = |state, kind, since, detail: &str| {
            Some(OwnReading { state, kind, since, detail: Arc::from(detail), ask: None })
        };
        if let Some(end) = self.end.as_ref().filter(|_| !self.again) {
            return say(State::Ended, end.kind, end.at, &end.detail);
        }
        let gone = match self.host {
            HostState::Runs => None,
            HostState::Gone => Some("its host ended unexpectedly"),
            HostState::GoneWithMachine => Some("it ended with the machine"),
        };
        if let Some(how) = gone {
            return say(State::Ended, Some(StateKind::Crashed), self.last_at, how);
        }
        if self.way == OwnWay::Pty {
            return None;
        }
        if let Some(ask) = self.asks.first() {
            let detail = format!("the agent asks: {}", ask.call.target);
            let reading = say(State::WaitingForApproval, Some(ask.kind), ask.call.since, &detail);
            return reading.map(|reading| OwnReading { ask: Some(ask.call.clone()), ..reading });
        }
        let (state, kind, detail) = match self.turn {
            // The user has decided.
            Turn::Over(..) if self.until.is_some() => (State::Idle, None, GOES_ON.to_owned()),
            Turn::None if self.session.is_none() => (State::Idle, None, STARTS.to_owned()),
            Turn::Runs(_) if self.ending => (State::Working, None, "the session is being ended".to_owned()),
            _ => self.turn.in_words(),
        };
        say(state, kind, self.since, &detail)
    }
}
