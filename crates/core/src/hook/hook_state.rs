//! The reading of one process's hook events, in order: the turn, open requests, and running calls and subagents.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::calls::{EndedCall, OPEN_CALL_LIMIT, OpenCall, OpenRequest, asks_by_itself, remember};
use super::event::{HookEvent, HookToolCall, NotificationKind, StartSource};
use super::payload::HookPayload;
use super::witness::{HookCall, HookRequest, HookTurn, HookWitness};
use crate::session::answer::{is_usage_limit, with_reset_time};
use crate::session::state::StateKind;
use crate::time::{Millis, Timestamp};

/// If the call of a request ended this shortly before, the request was not answered by the user: senders start in any
/// order.
const SWAPPED: Millis = Millis(2_000);

/// The part of a payload that decides the state, without its paths and texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TurnEvent {
    pub event: HookEvent,
    pub agent: Option<Arc<str>>,
    /// The event is of a compaction's worker.
    pub of_compaction: bool,
    pub prompt: Option<Arc<str>>,
}

impl TurnEvent {
    pub fn of(payload: &HookPayload) -> Self {
        let ends = matches!(payload.event, HookEvent::SubagentStart | HookEvent::SubagentStop);
        Self {
            event: payload.event.clone(),
            agent: payload.agent_id.clone(),
            of_compaction: ends && payload.agent_type.as_deref() == Some(""),
            prompt: payload.prompt_id.clone(),
        }
    }
}

/// The state that a sequence of events leads to.
#[derive(Debug, Clone, Default)]
pub(super) struct HookReading {
    turn: HookTurn,
    since: Timestamp,
    prompt_at: Option<Timestamp>,
    compacting: Option<Timestamp>,
    calls: Vec<OpenCall>,
    asks: Vec<OpenRequest>,
    agents: BTreeSet<Arc<str>>,
    agents_ended: Option<Timestamp>,
    shells: u32,
    edge_at: Timestamp,
    answered_at: Option<Timestamp>,
    heard_at: Timestamp,
    /// The newest prompt that any event named, and those before it.
    prompt: Option<Arc<str>>,
    prompts_before: VecDeque<Arc<str>>,
    done: VecDeque<EndedCall>,
}

impl HookReading {
    /// Applies the next event.
    pub fn apply(&mut self, turn_event: &TurnEvent, at: Timestamp) {
        self.heard_at = self.heard_at.max(at);
        let TurnEvent { event, agent, of_compaction, prompt } = turn_event;
        let (agent, of_turn) = (agent.as_ref(), agent.is_none());
        let late = of_turn && self.is_of_an_earlier_prompt(prompt.as_ref());
        match event {
            HookEvent::SessionStart { source, .. } => self.start(*source, at),
            HookEvent::SessionEnd { .. } if matches!(self.turn, HookTurn::Closed(_)) => {} // Some agents repeat it.
            HookEvent::SessionEnd { reason } => {
                let heard_at = self.heard_at;
                *self = Self { heard_at, ..Self::default() };
                self.set_turn(HookTurn::Closed(*reason), at);
            }
            HookEvent::UserPromptSubmit { .. } if !late => self.prompt(at),
            HookEvent::PreToolUse(call) if !late => self.call(call, agent, at),
            HookEvent::PermissionRequest(call) => self.ask(call, agent, at),
            HookEvent::PostToolUseFailure { call, interrupted: true } => self.on_result(call, agent, at),
            HookEvent::PostToolUse(call)
            | HookEvent::PermissionDenied(call)
            | HookEvent::PostToolUseFailure { call, .. } => {
                self.on_result(call, agent, at);
                if of_turn && !late {
                    self.goes_on(at);
                }
            }
            HookEvent::PostToolBatch => {
                self.drop_calls_of(agent);
                if of_turn && !late {
                    self.goes_on(at);
                }
            }
            HookEvent::Notification { kind } => self.on_notification(*kind, at),
            HookEvent::Stop { last_message, background } if of_turn && !late => {
                self.ended(HookTurn::Ended { message: Arc::clone(last_message) }, at);
                self.agents = background.agents.iter().cloned().collect();
                self.shells = background.shells;
            }
            HookEvent::StopFailure { error, message } if of_turn && !late => {
                let limit = is_usage_limit(Some(error), message);
                let message = Arc::from(with_reset_time(message));
                let failed = HookTurn::Failed { error: Arc::clone(error), message, limit };
                self.ended(failed, at);
            }
            HookEvent::Interrupted if of_turn => self.ended(HookTurn::Interrupted, at),
            HookEvent::SubagentStart if !of_compaction => self.agents.extend(agent.cloned()),
            HookEvent::SubagentStop if !of_compaction => {
                self.drop_calls_of(agent);
                let ran = agent.is_some_and(|agent| self.agents.remove(agent));
                if ran && self.agents.is_empty() {
                    self.agents_ended = Some(at);
                }
            }
            HookEvent::PreCompact => {
                self.compacting = Some(at);
                self.edge_at = at;
            }
            HookEvent::PostCompact => self.compacted(at),
            HookEvent::Elicitation { message } => self.elicit(message, agent, at, None),
            HookEvent::ElicitationResult => {
                self.asks.retain(|ask| ask.shown.kind != StateKind::Dialog);
                self.goes_on(at);
            }
            HookEvent::PermissionReplied(call) => {
                self.asks.retain(|ask| !ask.is_answered_by(call, agent));
                self.goes_on(at);
            }
            _ => {}
        }
    }

    /// The clock was set back to `now`: what was heard before counts as heard by then.
    pub fn turn_back(&mut self, now: Timestamp) {
        let times = [&mut self.since, &mut self.edge_at, &mut self.heard_at].into_iter();
        let maybe =
            [&mut self.prompt_at, &mut self.compacting, &mut self.agents_ended, &mut self.answered_at];
        let calls = self.calls.iter_mut().map(|call| &mut call.shown.at);
        let done = self.done.iter_mut().map(|done| &mut done.at);
        let asks = self
            .asks
            .iter_mut()
            .flat_map(|ask| [Some(&mut ask.shown.at), ask.shown.confirmed.as_mut()].into_iter().flatten());
        let all = times.chain(maybe.into_iter().flatten()).chain(calls).chain(done).chain(asks);
        all.for_each(|at| *at = (*at).min(now));
    }

    /// The reading as a witness. `None` when no event said anything about a state.
    pub fn witness(&self) -> Option<HookWitness> {
        let says = self.turn != HookTurn::Unreported
            || !self.asks.is_empty()
            || !self.agents.is_empty()
            || self.compacting.is_some();
        says.then(|| HookWitness {
            agent: None,
            turn: self.turn.clone(),
            since: self.since,
            prompt_at: self.prompt_at,
            compacting: self.compacting,
            asks: self.asks.iter().map(|ask| ask.shown.clone()).collect(),
            calls: self
                .calls
                .iter()
                .filter(|call| call.agent.is_none())
                .map(|call| call.shown.clone())
                .collect(),
            agents_running: u32::try_from(self.agents.len()).unwrap_or(u32::MAX),
            agents_ended: self.agents_ended,
            shells_running: self.shells,
            turn_event_at: self.edge_at,
            answered_at: self.answered_at,
            newest_event_at: self.heard_at,
        })
    }

    /// Whether the event belongs to a prompt before the newest one. Each hook is a process of its own, and two of
    /// them may start in another order than the agent fired them. Records a prompt that is new.
    fn is_of_an_earlier_prompt(&mut self, prompt: Option<&Arc<str>>) -> bool {
        let Some(prompt) = prompt.filter(|prompt| self.prompt.as_ref() != Some(prompt)) else { return false };
        if self.prompts_before.contains(prompt) {
            return true;
        }
        if let Some(before) = self.prompt.replace(Arc::clone(prompt)) {
            remember(&mut self.prompts_before, before);
        }
        false
    }

    fn set_turn(&mut self, turn: HookTurn, at: Timestamp) {
        self.turn = turn;
        self.since = at;
        self.edge_at = at;
    }

    fn start(&mut self, source: StartSource, at: Timestamp) {
        match source {
            StartSource::Unknown => {}
            StartSource::Compact => self.compacted(at),
            StartSource::Startup | StartSource::Resume | StartSource::Clear | StartSource::Fork => {
                let heard_at = self.heard_at;
                *self = Self { heard_at, ..Self::default() };
                self.set_turn(HookTurn::NoPrompt, at);
            }
        }
    }

    fn prompt(&mut self, at: Timestamp) {
        self.drop_calls_of(None);
        self.compacting = None;
        self.prompt_at = Some(at);
        self.answered_at = Some(at);
        self.set_turn(HookTurn::Running, at);
    }

    /// The turn runs, or goes on after a hook kept it from ending.
    fn mark_running(&mut self, at: Timestamp) {
        // No hook tells that a dialog of the agent itself was closed.
        self.asks.retain(|ask| !(ask.shown.implied && ask.shown.kind == StateKind::Dialog));
        if self.turn != HookTurn::Running {
            self.set_turn(HookTurn::Running, at);
        }
        self.edge_at = at;
    }

    /// A part of a running turn has ended. After the end of the turn the event is late and changes nothing.
    fn goes_on(&mut self, at: Timestamp) {
        let over = matches!(
            self.turn,
            HookTurn::Ended { .. } | HookTurn::Failed { .. } | HookTurn::Interrupted | HookTurn::Closed(_)
        );
        if !over {
            self.mark_running(at);
            self.answered_at = Some(at);
        }
    }

    fn ended(&mut self, how: HookTurn, at: Timestamp) {
        self.drop_calls_of(None);
        self.compacting = None;
        self.answered_at = Some(at);
        self.set_turn(how, at);
    }

    fn compacted(&mut self, at: Timestamp) {
        if self.compacting.take().is_some() {
            self.edge_at = at;
        }
    }

    fn call(&mut self, call: &HookToolCall, agent: Option<&Arc<str>>, at: Timestamp) {
        // The event is late, perhaps after the end of the turn, so it changes nothing. A process that comes back to a
        // closed session fires another event first.
        let is_done = call.id.is_some() && self.done.iter().any(|done| done.call.id == call.id);
        if is_done || matches!(self.turn, HookTurn::Closed(_)) {
            return;
        }
        if agent.is_none() {
            self.mark_running(at);
        }
        if self.calls.len() == OPEN_CALL_LIMIT {
            self.calls.remove(0);
        }
        let shown = HookCall {
            id: call.id.clone(),
            tool: Arc::clone(&call.tool),
            target: Arc::clone(&call.target),
            at,
        };
        self.calls.push(OpenCall { shown, input: call.input, agent: agent.cloned() });
        if asks_by_itself(&call.tool).is_some() {
            self.push_ask(call, call.id.clone(), agent, at, true);
        }
    }

    fn ask(&mut self, call: &HookToolCall, agent: Option<&Arc<str>>, at: Timestamp) {
        let same = |tool: &str, input: u64, of: Option<&Arc<str>>| {
            tool == &*call.tool && input == call.input && of == agent
        };
        let open = self.calls.iter().rev().find(|c| same(&c.shown.tool, c.input, c.agent.as_ref()));
        let id = open.and_then(|open| open.shown.id.clone());
        let answered = |done: &EndedCall| {
            same(&done.call.tool, done.call.input, done.agent.as_ref()) && at.since(done.at) <= SWAPPED
        };
        if open.is_none() && self.done.iter().any(answered) {
            return;
        }
        if agent.is_none() {
            self.mark_running(at);
        }
        self.push_ask(call, call.id.clone().or(id), agent, at, false);
    }

    /// Adds a request. The calls of the turn, or of a subagent, ask one after another (measured with 2.1.329). So a new
    /// request means that the earlier one is answered, unless requests name their calls.
    fn push_ask(
        &mut self,
        call: &HookToolCall,
        id: Option<Arc<str>>,
        agent: Option<&Arc<str>>,
        at: Timestamp,
        implied: bool,
    ) {
        let named = !implied && call.id.is_some();
        self.asks.retain(|ask| ask.shown.agent.as_ref() != agent || (named && ask.shown.call != id));
        let shown = HookRequest {
            kind: asks_by_itself(&call.tool).unwrap_or(StateKind::Permission),
            tool: Arc::clone(&call.tool),
            target: Arc::clone(&call.target),
            call: id,
            agent: agent.cloned(),
            at,
            confirmed: None,
            implied,
        };
        self.asks.push(OpenRequest { shown, input: call.input });
    }

    fn elicit(
        &mut self,
        message: &Arc<str>,
        agent: Option<&Arc<str>>,
        at: Timestamp,
        confirmed: Option<Timestamp>,
    ) {
        self.asks.retain(|ask| ask.shown.kind != StateKind::Dialog);
        let shown = HookRequest {
            kind: StateKind::Dialog,
            tool: Arc::from(""),
            target: Arc::clone(message),
            call: None,
            agent: agent.cloned(),
            at,
            confirmed,
            implied: false,
        };
        self.asks.push(OpenRequest { shown, input: 0 });
    }

    /// A call has its result, so its request is over.
    fn on_result(&mut self, call: &HookToolCall, agent: Option<&Arc<str>>, at: Timestamp) {
        let same = |tool: &str, input: u64, of: Option<&Arc<str>>| {
            tool == &*call.tool && input == call.input && of == agent
        };
        let is_it = |c: &OpenCall| match (&c.shown.id, &call.id) {
            (Some(open), Some(id)) => open == id,
            _ => same(&c.shown.tool, c.input, c.agent.as_ref()),
        };
        if let Some(place) = self.calls.iter().position(is_it) {
            self.calls.remove(place);
        }
        self.asks.retain(|ask| match (&ask.shown.call, &call.id) {
            (Some(open), Some(id)) => open != id,
            _ => !same(&ask.shown.tool, ask.input, ask.shown.agent.as_ref()),
        });
        remember(&mut self.done, EndedCall { call: call.clone(), agent: agent.cloned(), at });
    }

    /// Drops the open calls and requests of one agent; `None` is the session's own turn.
    fn drop_calls_of(&mut self, agent: Option<&Arc<str>>) {
        self.calls.retain(|call| call.agent.as_ref() != agent);
        self.asks.retain(|ask| ask.shown.agent.as_ref() != agent);
    }

    fn on_notification(&mut self, kind: NotificationKind, at: Timestamp) {
        match kind {
            NotificationKind::PermissionPrompt if self.asks.is_empty() => {
                // The request itself was lost. Without an open call, the answer came before the notification.
                let Some(call) = self.calls.last().cloned() else { return };
                let (tool, target) = (Arc::clone(&call.shown.tool), Arc::clone(&call.shown.target));
                let named = HookToolCall { tool, target, id: call.shown.id.clone(), input: call.input };
                self.push_ask(&named, call.shown.id, call.agent.as_ref(), at, false);
                self.confirm(at);
            }
            NotificationKind::PermissionPrompt => self.confirm(at),
            NotificationKind::Elicitation if self.asks.iter().any(|a| a.shown.kind == StateKind::Dialog) => {
                self.confirm(at);
            }
            NotificationKind::Elicitation => self.elicit(&Arc::from(""), None, at, Some(at)),
            // Without a turn it is about another session.
            NotificationKind::NeedsInput if self.turn != HookTurn::Running => {}
            NotificationKind::NeedsInput if self.asks.is_empty() => {
                self.elicit(&Arc::from(""), None, at, Some(at));
                self.asks.iter_mut().for_each(|ask| ask.shown.implied = true);
            }
            NotificationKind::NeedsInput => self.confirm(at),
            NotificationKind::IdlePrompt => {
                self.drop_calls_of(None);
                if matches!(self.turn, HookTurn::Running | HookTurn::Unreported) {
                    self.set_turn(HookTurn::Quiet, at);
                }
            }
            NotificationKind::Other => {}
        }
    }

    /// Confirms every open request, because neither notification names the call or the subagent.
    fn confirm(&mut self, at: Timestamp) {
        self.asks.iter_mut().for_each(|ask| ask.shown.confirmed = Some(at));
    }
}
