//! Requests of sessions: from waiting hook processes and hosts, the answers to them, and their ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_agents::requests::hook_output;
use watchbill_core::history::private::strip_private;
use watchbill_core::hook::{HookMessage, HookRequest};
use watchbill_core::ids::SessionId;
use watchbill_core::requests::decision::Decision;
use watchbill_core::requests::open::{AnswerOutcome, AnswerRefusal, Asked, CallWitness, RequestEffect};
use watchbill_core::requests::request::{Digest, NamedFiles, Request, RequestId, Via};
use watchbill_core::roster::row::{PendingTool, Row};
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_store::tables::answers::AnswerRow;

use super::reconcile::take_hooks;
use super::rooms::Rooms;
use super::verdicts::inputs;
use crate::persist::changes::AnswerChange;
use crate::step::input::Output;

/// An answer of the user to a request that was shown.
#[derive(Debug, Clone)]
pub struct UserAnswer {
    /// The session.
    pub session: SessionId,
    /// The request.
    pub request: RequestId,
    /// The hash of the shown request.
    pub seen: Digest,
    /// The user's decision.
    pub decision: Decision,
    /// Where: `window`, `notification` or `command`.
    pub surface: &'static str,
}

/// An answer that fits its request and is noted to be stored.
#[derive(Debug, Clone)]
pub struct Fitting {
    /// What the hook process is to print. `None`: the host of an own session takes the decision itself.
    pub output: Option<String>,
    /// The decision in words.
    pub decision: String,
}

/// An attempt of a program that may not answer or send prompts, such as an agent.
#[derive(Debug, Clone)]
pub struct RefusedCaller {
    /// The session that it named.
    pub session: SessionId,
    /// `answer` or `prompt`.
    pub what: &'static str,
    /// Where: `command` or `window`.
    pub surface: &'static str,
    /// Why it was refused.
    pub why: String,
}

/// The answers of the user, as the loop gives them.
pub(crate) struct UserAnswers<'e>(pub(super) &'e mut Rooms);

impl UserAnswers<'_> {
    /// Checks an answer and notes it to be stored. It goes out with [`UserAnswers::send`].
    ///
    /// # Errors
    /// When it does not fit, or the request is not open any more; then nothing has changed.
    pub fn answer(&mut self, answer: &UserAnswer) -> Result<Fitting, AnswerRefusal> {
        self::answer(self.0, answer)
    }

    /// The noted answer is stored. Says whether it may go to the hook process: the request may have ended meanwhile.
    pub fn send(&mut self, session: &SessionId, id: &RequestId) -> bool {
        sent(self.0, session, id)
    }

    /// The files that an open request names were looked at. Its row is made anew.
    pub fn note_files(&mut self, session: &SessionId, id: &RequestId, files: NamedFiles) {
        self.0.requests.note_files(id, files);
        self.0.rows.mark(session.clone());
    }

    /// Notes a refused attempt for the list of answers: the newest of each session and kind, so that a program that tries again
    /// and again fills nothing.
    pub fn note_refused(&mut self, attempt: &RefusedCaller) {
        let rooms = &mut *self.0;
        let RefusedCaller { session, what, surface, why } = attempt;
        // A host knows its own session, and not the row that shows it.
        let row = rooms.own.row_of(session.as_str());
        let session = row.as_ref().unwrap_or(session);
        let asked = rooms.requests.asked(session);
        if asked.is_none() && rooms.sessions.get(session).is_none() {
            return;
        }
        let request = asked.as_ref().map(|asked| &*asked.request).filter(|_| *what == "answer");
        if request.is_some() {
            rooms.requests.note_refused(session, why);
            rooms.rows.mark(session.clone());
        }
        let (id, decision) = (format!("refused-{what}-{session}"), format!("refused: {why}"));
        let row = match request {
            Some(request) => {
                AnswerRow { request_id: id, ..row_of(rooms, request, &decision, surface, "refused") }
            }
            None => AnswerRow {
                request_id: id,
                session_id: session.to_string(),
                tool: (*what).to_owned(),
                shown: String::new(),
                decision,
                surface: (*surface).to_owned(),
                at: rooms.env.now(),
                outcome: "refused".to_owned(),
                outcome_at: None,
            },
        };
        rooms.pending.answer(AnswerChange::Given(row));
    }

    /// The noted answer does not go out.
    pub fn drop_answer(&mut self, id: &RequestId) {
        unsent(self.0, id);
    }

    /// The answer was sent, and perhaps did not arrive.
    pub fn lose_answer(&mut self, id: &RequestId) {
        ended(self.0, id, AnswerOutcome::Lost.as_str());
    }
}

/// A hook process asks. The payload counts as hook evidence as well, so the session waits at once.
pub(super) fn ask(rooms: &mut Rooms, request: Request, message: &HookMessage, out: &mut Vec<Output>) {
    let session = request.session.clone();
    take_hooks(rooms, std::slice::from_ref(message), out);
    // The session is another agent's, so the answer would be in other words.
    if inputs(rooms, &session).agent() != message.agent {
        out.push(Output::Release(request.id));
        return;
    }
    let effects = rooms.requests.ask(request);
    carry_out(rooms, effects, out);
    rooms.rows.mark(session);
}

/// A hook process has printed its answer.
pub(super) fn printed(rooms: &mut Rooms, id: &RequestId, out: &mut Vec<Output>) {
    let effects = rooms.requests.printed(id, rooms.env.now());
    carry_out(rooms, effects, out);
}

/// A hook process or its connection has ended.
pub(super) fn hook_gone(rooms: &mut Rooms, id: &RequestId, out: &mut Vec<Output>) {
    let effects = rooms.requests.hook_gone(id);
    carry_out(rooms, effects, out);
}

/// The answer did not reach its host.
pub(super) fn undelivered(rooms: &mut Rooms, id: &RequestId, out: &mut Vec<Output>) {
    let effects = rooms.requests.undelivered(id);
    if let Some(session) = rooms.requests.session_of(id).cloned() {
        rooms.rows.mark(session);
    }
    carry_out(rooms, effects, out);
}

/// The holder of the store shows these requests, and no others.
pub(super) fn take_holders(rooms: &mut Rooms, asked: BTreeMap<SessionId, Asked>) {
    let before = std::mem::replace(&mut rooms.holder_requests, asked);
    let now = &rooms.holder_requests;
    let changed = before.keys().chain(now.keys()).filter(|id| before.get(*id) != now.get(*id));
    rooms.rows.mark_all(changed.cloned().collect::<Vec<_>>());
}

/// The first request of a session that can be answered.
pub(super) fn asked(rooms: &Rooms, session: &SessionId) -> Option<Asked> {
    rooms.requests.asked(session).or_else(|| rooms.holder_requests.get(session).cloned())
}

/// Every hook process is to end with nothing.
pub(super) fn release_all(rooms: &mut Rooms, out: &mut Vec<Output>) {
    let effects = rooms.requests.release_all();
    carry_out(rooms, effects, out);
}

/// Compares a row that was just made with the requests of its session, and puts the one to show into it. Says when to look
/// again though nothing happens.
pub(super) fn compare(rooms: &mut Rooms, row: &mut Row, out: &mut Vec<Output>) -> Option<Timestamp> {
    let of_holder = rooms.holder_requests.get(&row.session_id).filter(|_| waits(row)).cloned();
    if rooms.requests.is_empty() {
        row.request = of_holder;
        return None;
    }
    let (id, now) = (row.session_id.clone(), rooms.env.now());
    let effects = match row.state {
        State::Ended => rooms.requests.session_ended(&id),
        _ => {
            let mut effects = rooms.requests.verdict(&id, waits(row), now);
            effects.extend(take_calls(rooms, &id));
            effects
        }
    };
    for effect in effects {
        // The row is being made just now.
        if !matches!(effect, RequestEffect::Closed(..)) {
            carry_out(rooms, vec![effect], out);
        }
    }
    row.request = rooms.requests.asked(&id).or(of_holder);
    rooms.requests.deadline(&id, now)
}

/// Closes requests whose calls have a result by now.
fn take_calls(rooms: &mut Rooms, id: &SessionId) -> Vec<RequestEffect> {
    if rooms.requests.of(id).is_empty() {
        return Vec::new();
    }
    let inputs = inputs(rooms, id);
    let instances = inputs.instances();
    let running: Vec<_> = instances.iter().map(|witness| witness.entry.instance.clone()).collect();
    let Some(hooks) = inputs.hooks.and_then(|hooks| hooks.witness(&running)) else { return Vec::new() };
    // The request was hook evidence too, so this is its own call, unless a hook has reported its result.
    let ask = hooks.asks.into_iter().find(|ask| ask.agent.is_none());
    let calls = inputs.fold.map(|(_, fold)| fold.pending_tools()).unwrap_or_default();
    let is_its = |call: &PendingTool, ask: &HookRequest| match &ask.call {
        Some(id) => call.id == *id,
        None => (&call.tool, &call.target) == (&ask.tool, &ask.target),
    };
    let is_pending = ask.as_ref().is_some_and(|ask| calls.iter().any(|call| is_its(call, ask)));
    let is_of = |request: &Request| ask.as_ref().is_some_and(|ask| ask.tool == request.tool);
    let mut effects = rooms.requests.take_calls(id, CallWitness::Hooks, is_of);
    effects.extend(rooms.requests.take_calls(id, CallWitness::Transcript, |_| is_pending));
    effects
}

/// Nothing is known of a session any more: its process has ended, and it has no transcript.
pub(super) fn session_gone(rooms: &mut Rooms, id: &SessionId, out: &mut Vec<Output>) {
    let effects = rooms.requests.session_ended(id);
    carry_out(rooms, effects, out);
}

/// Whether the session waits for the user in a dialog.
fn waits(row: &Row) -> bool {
    row.state == State::WaitingForApproval || row.state_kind == Some(StateKind::Dialog)
}

/// Checks an answer and notes it to be stored. It goes out with [`sent`].
fn answer(rooms: &mut Rooms, answer: &UserAnswer) -> Result<Fitting, AnswerRefusal> {
    let UserAnswer { session, request, seen, decision, surface } = answer;
    let request = rooms.requests.check(session, request, *seen, decision)?;
    let output = match request.via {
        Via::Hook => Some(hook_output(inputs(rooms, session).agent(), decision, &request)?),
        Via::Host => None,
    };
    let decision = decision.in_words(&request);
    let row = row_of(rooms, &request, &decision, surface, "sent");
    rooms.pending.answer(AnswerChange::Given(row));
    Ok(Fitting { output, decision })
}

/// A row of the list of answers: a request and its outcome, as far as it is known now.
fn row_of(rooms: &Rooms, request: &Request, decision: &str, surface: &str, outcome: &str) -> AnswerRow {
    AnswerRow {
        request_id: request.id.to_string(),
        session_id: request.session.to_string(),
        tool: request.tool.to_string(),
        shown: storable(rooms, request),
        decision: decision.to_owned(),
        surface: surface.to_owned(),
        at: rooms.env.now(),
        outcome: outcome.to_owned(),
        outcome_at: None,
    }
}

/// The shown text as far as it may be stored: no private text, and nothing that names an excluded folder.
fn storable(rooms: &Rooms, request: &Request) -> String {
    let shown = &*request.shown;
    let exclude = &rooms.env.settings().history.exclude;
    let cwd: Option<&Arc<str>> = request.cwd.as_ref();
    if exclude.text_names_excluded(shown, cwd.map(|cwd| &**cwd)) {
        return String::new();
    }
    strip_private(shown).into_owned()
}

/// The answer is stored and goes to the hook process now. `false`: the request has ended meanwhile.
fn sent(rooms: &mut Rooms, session: &SessionId, id: &RequestId) -> bool {
    let is_open = rooms.requests.send(id, rooms.env.now());
    if !is_open {
        unsent(rooms, id);
    }
    rooms.rows.mark(session.clone());
    is_open
}

/// An answer that was noted did not go out.
fn unsent(rooms: &mut Rooms, id: &RequestId) {
    ended(rooms, id, "unsent");
}

fn ended(rooms: &mut Rooms, id: &RequestId, outcome: &'static str) {
    let at = rooms.env.now();
    rooms.pending.answer(AnswerChange::Outcome(id.to_string(), outcome, at));
}

pub(super) fn carry_out(rooms: &mut Rooms, effects: Vec<RequestEffect>, out: &mut Vec<Output>) {
    for effect in effects {
        match effect {
            RequestEffect::Release(id) => out.push(Output::Release(id)),
            RequestEffect::Closed(session, _, _) => rooms.rows.mark(session),
            RequestEffect::Expired(request) => {
                let row = row_of(rooms, &request, "expired, not answered", "none", "expired");
                rooms.pending.answer(AnswerChange::Given(row));
            }
            RequestEffect::Outcome(id, outcome) => ended(rooms, &id, outcome.as_str()),
        }
    }
}
