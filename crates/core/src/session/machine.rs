//! The machine of the turn: the source document's four states, its transitions and its timeouts.
//!
//! Events go in, and transitions come out through the context. Handlers borrow the facts of the session (open tool
//! calls, background work, time of the last activity) as a [`Turn`]. The machine itself holds only the shown state.
//! Deadlines are a property of state: [`Machine::deadline`] says when silence will mean something, and
//! [`Machine::fire_until`] then sends [`Event::Deadline`].

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use statig::blocking::{InitializedStateMachine, IntoStateMachineExt};
use statig::prelude::*;

use crate::session::describe_state::describe;
use crate::session::effect::Effect;
use crate::session::shown::Shown;
use crate::session::state::{State, StateKind, Timeouts};
use crate::session::turn::{Turn, past};
use crate::time::Timestamp;

/// An event of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A prompt: a turn begins, unless one runs.
    Prompted,
    /// An answer's block or a tool's result: a turn goes on, or begins.
    Moved,
    /// The request failed and is tried again.
    Retried,
    /// The context is being compacted, in a turn or outside of one.
    Compacting,
    /// The turn ended, and how.
    Ended(StateKind),
    /// A change of the facts that decide whether a tool may ask. It is no activity.
    Reconsider,
    /// The time of a deadline has come. An early event does no harm.
    Deadline,
}

/// The input of a handler besides the event.
pub(crate) struct Context<'a> {
    /// The time of the record, or of the deadline.
    pub now: Timestamp,
    /// The event, for the actions: they do not get it as an argument.
    pub event: Event,
    /// The session.
    pub turn: &'a Turn,
    /// Where transitions go.
    pub out: &'a mut Vec<Effect>,
}

#[state_machine(
    initial = "Phase::idle()",
    state(name = "Phase", derive(Debug, Clone, PartialEq, Eq)),
    superstate(name = "Live", derive(Debug)),
    visibility = "pub(crate)"
)]
impl Shown {
    /// Nothing has happened yet, or nothing for long.
    #[state(superstate = "known", entry_action = "show_idle")]
    fn idle(event: &Event) -> Outcome<Phase> {
        match event {
            Event::Deadline | Event::Reconsider => Handled,
            _ => Super,
        }
    }

    /// A turn runs, or only its subagents do.
    #[state(superstate = "active", entry_action = "show_working")]
    fn working(
        &mut self,
        kind: &mut Option<StateKind>,
        event: &Event,
        context: &mut Context<'_>,
    ) -> Outcome<Phase> {
        let turn = context.turn;
        match event {
            Event::Prompted | Event::Moved | Event::Reconsider => match turn.asked(context.now) {
                Some((kind, by_timeout)) => Transition(Phase::waiting_for_approval(kind, by_timeout)),
                // A self-transition would run the entry action again; only the shown state may change.
                None if *event != Event::Reconsider && kind.is_some() => {
                    *kind = None;
                    self.show(State::Working, None, false, context);
                    Handled
                }
                None => Handled,
            },
            Event::Retried | Event::Compacting => {
                *kind = kind_in_turn(*event);
                self.show(State::Working, *kind, false, context);
                Handled
            }
            Event::Ended(StateKind::TurnEnded) if turn.agents_running() > 0 => {
                *kind = Some(StateKind::Background);
                self.show(State::Working, *kind, false, context);
                Handled
            }
            Event::Deadline if past(turn.permission_at(), context.now) => {
                Transition(Phase::waiting_for_approval(StateKind::Permission, true))
            }
            Event::Deadline if past(turn.stale_at(*kind), context.now) => {
                Transition(Phase::waiting_for_input(StateKind::TurnEnded, true))
            }
            _ => Super,
        }
    }

    /// The user has to decide: a question or a plan for certain, a permission by inference.
    #[state(superstate = "active", entry_action = "show_approval")]
    fn waiting_for_approval(
        &mut self,
        kind: &mut StateKind,
        by_timeout: &mut bool,
        event: &Event,
        context: &mut Context<'_>,
    ) -> Outcome<Phase> {
        match event {
            Event::Prompted | Event::Moved | Event::Reconsider => match context.turn.asked(context.now) {
                Some((now_kind, now_by_timeout)) => {
                    (*kind, *by_timeout) = (now_kind, now_by_timeout);
                    self.show(State::WaitingForApproval, Some(now_kind), now_by_timeout, context);
                    Handled
                }
                None => Transition(Phase::working(None)),
            },
            // A retry refutes an inferred permission, but not a question. So does a compaction.
            Event::Retried | Event::Compacting if context.turn.pending.open_question_kind().is_some() => {
                Handled
            }
            _ => Super,
        }
    }

    /// The turn is over; the user is next.
    #[state(superstate = "active", entry_action = "show_input")]
    fn waiting_for_input(
        &mut self,
        kind: &mut StateKind,
        by_timeout: &mut bool,
        event: &Event,
        context: &mut Context<'_>,
    ) -> Outcome<Phase> {
        match event {
            // `turn_duration` follows an error and an ordinary end alike, so it does not change the kind. But it
            // confirms an inferred end, and it may be the first record that counts the subagents.
            Event::Ended(StateKind::TurnEnded) => {
                if context.turn.agents_running() > 0 && *kind == StateKind::TurnEnded {
                    return Transition(Phase::working(Some(StateKind::Background)));
                }
                if *by_timeout {
                    *by_timeout = false;
                    (self.by_timeout, self.turn_before_silence) = (false, None);
                }
                Handled
            }
            Event::Ended(now_kind) => {
                (*kind, *by_timeout) = (*now_kind, false);
                self.show(State::WaitingForInput, Some(*now_kind), false, context);
                Handled
            }
            Event::Reconsider => Handled,
            _ => Super,
        }
    }

    /// A state in which long silence makes the session idle.
    #[superstate(superstate = "known")]
    fn active(&mut self, event: &Event, context: &mut Context<'_>) -> Outcome<Phase> {
        match event {
            Event::Deadline if past(context.turn.idle_at(self.state, self.since), context.now) => {
                Transition(Phase::idle())
            }
            Event::Deadline => Handled,
            _ => Super,
        }
    }

    /// The handlers of every state.
    #[superstate]
    fn known(event: &Event, context: &mut Context<'_>) -> Outcome<Phase> {
        match event {
            Event::Prompted | Event::Moved => Transition(match context.turn.asked(context.now) {
                Some((kind, by_timeout)) => Phase::waiting_for_approval(kind, by_timeout),
                None => Phase::working(None),
            }),
            Event::Retried | Event::Compacting => Transition(Phase::working(kind_in_turn(*event))),
            Event::Ended(StateKind::TurnEnded) if context.turn.agents_running() > 0 => {
                Transition(Phase::working(Some(StateKind::Background)))
            }
            Event::Ended(kind) => Transition(Phase::waiting_for_input(*kind, false)),
            Event::Reconsider | Event::Deadline => Handled,
        }
    }

    #[action]
    fn show_idle(&mut self, context: &mut Context<'_>) {
        // The initial entry is no transition and not by timeout. Every later entry is both.
        let by_timeout = self.since.is_some();
        self.show(State::Idle, None, by_timeout, context);
    }

    #[action]
    fn show_working(&mut self, kind: &mut Option<StateKind>, context: &mut Context<'_>) {
        self.show(State::Working, *kind, false, context);
    }

    #[action]
    fn show_approval(&mut self, kind: &mut StateKind, by_timeout: &mut bool, context: &mut Context<'_>) {
        self.show(State::WaitingForApproval, Some(*kind), *by_timeout, context);
    }

    #[action]
    fn show_input(&mut self, kind: &mut StateKind, by_timeout: &mut bool, context: &mut Context<'_>) {
        self.show(State::WaitingForInput, Some(*kind), *by_timeout, context);
    }
}

impl Shown {
    /// Sets the shown state, and reports a transition if it differs.
    fn show(&mut self, state: State, kind: Option<StateKind>, by_timeout: bool, context: &mut Context<'_>) {
        let from = self.state;
        let changed = from != state || self.kind != kind;
        // A retry or a compaction is an incident within the same work. The user wants to know how long the work has gone on.
        let is_incident = |kind| matches!(kind, Some(StateKind::Retrying | StateKind::Compacting));
        let incident =
            from == State::Working && state == from && (is_incident(kind) || is_incident(self.kind));
        let refuted = match (state, by_timeout) {
            (State::Idle | State::WaitingForInput, true) => {
                let work = self.since.filter(|_| from == State::Working).map(|since| (since, self.kind));
                self.turn_before_silence = self.turn_before_silence.or(work);
                None
            }
            _ => {
                let goes_on = matches!(context.event, Event::Moved | Event::Retried);
                self.turn_before_silence
                    .take()
                    .map(|work| work.0)
                    .filter(|_| goes_on && state == State::Working)
            }
        };
        (self.state, self.kind, self.by_timeout) = (state, kind, by_timeout);
        if changed {
            if !incident {
                self.since = refuted.or(Some(context.now));
            }
            let detail = describe(self, context.turn);
            context.out.push(Effect::Transition { from, to: state, kind, at: context.now, detail });
        }
    }
}

/// The kind of work that an event within a turn makes of it.
fn kind_in_turn(event: Event) -> Option<StateKind> {
    match event {
        Event::Retried => Some(StateKind::Retrying),
        Event::Compacting => Some(StateKind::Compacting),
        _ => None,
    }
}

/// The machine with its initial state entered.
#[derive(Clone)]
pub(crate) struct Machine(InitializedStateMachine<Shown>);

impl Machine {
    /// Starts idle.
    pub fn new() -> Self {
        Self::showing(Shown {
            state: State::Idle,
            kind: None,
            since: None,
            by_timeout: false,
            turn_before_silence: None,
        })
    }

    /// The machine before silence ended the turn; `None` if silence did not end it.
    pub fn before_silence(&self) -> Option<Self> {
        let (since, kind) = self.shown().turn_before_silence?;
        let (state, since) = (State::Working, Some(since));
        Some(Self::showing(Shown { state, kind, since, by_timeout: false, turn_before_silence: None }))
    }

    /// The machine that shows this. `shown` determines the phase and its fields.
    fn showing(shown: Shown) -> Self {
        let phase = match (shown.state, shown.kind) {
            (State::Working, kind) => Phase::working(kind),
            (State::WaitingForApproval, Some(kind)) => Phase::waiting_for_approval(kind, shown.by_timeout),
            (State::WaitingForInput, Some(kind)) => Phase::waiting_for_input(kind, shown.by_timeout),
            // The machine never shows a waiting state without a kind, and never shows `Ended`.
            (State::Idle | State::Ended | State::WaitingForApproval | State::WaitingForInput, _) => {
                Phase::idle()
            }
        };
        let mut machine = shown.uninitialized_state_machine();
        *machine.state_mut() = phase;
        // Without this, the entry action would run with the first event's context. Here it finds everything shown
        // already.
        let turn = Turn::new(Timeouts::default());
        let mut context = Context {
            now: Timestamp::default(),
            event: Event::Reconsider,
            turn: &turn,
            out: &mut Vec::new(),
        };
        Self(machine.init_with_context(&mut context))
    }

    /// Handles one event at its time.
    pub fn handle(&mut self, event: Event, now: Timestamp, turn: &Turn, out: &mut Vec<Effect>) {
        self.0.handle_with_context(&event, &mut Context { now, event, turn, out });
    }

    /// The shown state.
    pub fn shown(&self) -> &Shown {
        self.0.inner()
    }

    /// Why, as a text for the user.
    pub fn describe(&self, turn: &Turn) -> Cow<'static, str> {
        describe(self.shown(), turn)
    }

    /// When silence will next mean something; `None` if never.
    pub fn deadline(&self, turn: &Turn) -> Option<Timestamp> {
        let idle = turn.idle_at(self.shown().state, self.shown().since);
        match self.0.state() {
            Phase::Idle {} => None,
            Phase::Working { kind } => {
                [idle, turn.permission_at(), turn.stale_at(*kind)].into_iter().flatten().min()
            }
            Phase::WaitingForApproval { .. } | Phase::WaitingForInput { .. } => idle,
        }
    }

    /// Fires every deadline up to `now`, each at its own time.
    pub fn fire_until(&mut self, now: Timestamp, turn: &Turn, out: &mut Vec<Effect>) {
        while let Some(deadline) = self.deadline(turn).filter(|deadline| *deadline <= now) {
            let before = self.0.state().clone();
            self.handle(Event::Deadline, deadline, turn, out);
            if *self.0.state() == before {
                // Every deadline leaves its state. If one does not, the loop must stop.
                debug_assert!(false, "a deadline of {before:?} moved nothing");
                return;
            }
        }
    }
}

/// A snapshot holds the shown state in our own form, because the library's form may change.
impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.shown().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Machine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Shown::deserialize(deserializer).map(Self::showing)
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Machine").field(self.shown()).finish()
    }
}
