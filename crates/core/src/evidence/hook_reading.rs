//! What the hooks' facts mean at a given moment, compared with the other witnesses.

use std::fmt::Write;

use crate::evidence::registry::{RegistryStatus, names_a_request};
use crate::evidence::times::{ASK_DWELL, COMPACTION_LASTS, GRACE, REPORT_GAP, STALE_IDLE};
use crate::evidence::witness::{ChildWitness, Evidence, TranscriptWitness};
use crate::hook::{HookRequest, HookTurn, HookWitness};
use crate::session::state::{Confidence, State, StateKind, Timeouts};
use crate::time::Timestamp;

/// The hooks' reading at a moment.
#[derive(Debug, Clone)]
pub(super) struct HookReading<'a> {
    pub state: State,
    pub kind: Option<StateKind>,
    pub since: Timestamp,
    /// The time of the newest event behind this reading. A witness with a newer event contradicts it.
    pub edge: Timestamp,
    pub confidence: Confidence,
    /// When the turn's own dialog was last known to be closed.
    pub answered: Option<Timestamp>,
    /// The request that it is about.
    pub ask: Option<&'a HookRequest>,
    pub detail: String,
}

/// The registry's status and its time, as far as they concern a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct RegistryStatusAt<'a> {
    pub status: &'a RegistryStatus,
    pub at: Timestamp,
}

/// Reads the hooks, and checks each request against the other witnesses.
pub(super) fn checked_reading<'a>(
    hooks: &'a HookWitness,
    e: &Evidence<'_>,
    registered: Option<RegistryStatusAt<'_>>,
) -> Option<HookReading<'a>> {
    let stands = |ask: &HookRequest| request_is_open(ask, hooks, e.transcript.as_ref(), e.child, registered);
    let waiting = registered.is_some_and(|r| matches!(r.status, RegistryStatus::Waiting(_)));
    read(hooks, e.now, e.timeouts, |ask| stands(ask) && (waiting || has_dwelt(ask, e.now)))
}

/// The reading of the hooks alone.
pub(super) fn read_hooks_alone(
    hooks: &HookWitness,
    now: Timestamp,
    timeouts: Timeouts,
) -> Option<HookReading<'_>> {
    read(hooks, now, timeouts, |ask| has_dwelt(ask, now))
}

/// When hooks that say nothing now fell silent: by then their running turn, or the compaction, had decayed.
pub(super) fn silent_since(hooks: &HookWitness, timeouts: Timeouts) -> Timestamp {
    let compacted = hooks.compacting.map(|at| at + COMPACTION_LASTS);
    let ran = (hooks.turn == HookTurn::Running).then(|| hooks.turn_event_at + timeouts.stale);
    compacted.max(ran).unwrap_or(hooks.newest_event_at).max(hooks.newest_event_at)
}

/// The times at which the hooks' reading, or its weight against another witness, may change without a new event.
pub(super) fn turning_points(hooks: &HookWitness, timeouts: Timeouts) -> impl Iterator<Item = Timestamp> {
    let asks = hooks.asks.iter().map(|ask| ask.at + ASK_DWELL);
    let (edge, newest) = (hooks.turn_event_at, hooks.newest_event_at);
    let mut times = vec![edge + GRACE, edge + timeouts.stale, edge + timeouts.idle, newest + GRACE];
    times.extend([newest + timeouts.idle, hooks.since + GRACE]);
    times.extend(hooks.answered_at.map(|at| at + GRACE));
    times.extend(hooks.compacting.map(|at| at + COMPACTION_LASTS));
    times.extend(hooks.agents_ended.map(|at| at + REPORT_GAP));
    times.into_iter().chain(asks.collect::<Vec<_>>())
}

fn has_dwelt(ask: &HookRequest, now: Timestamp) -> bool {
    ask.confirmed.is_some() || ask.at + ASK_DWELL <= now
}

/// Whether a request is still open, by all other witnesses. No hook fires when the user answers.
fn request_is_open(
    ask: &HookRequest,
    hooks: &HookWitness,
    transcript: Option<&TranscriptWitness<'_>>,
    child: Option<ChildWitness>,
    registered: Option<RegistryStatusAt<'_>>,
) -> bool {
    if let Some(RegistryStatusAt { status, at }) = registered {
        match status {
            RegistryStatus::Waiting(what) if names_a_request(what) => return true,
            // Some dialog. It may be a menu that the user opened long after the request was refused.
            RegistryStatus::Waiting(_) | RegistryStatus::Unknown(_) => {}
            _ if at > ask.at => return false,
            // A registry that has followed this turn so far would say `waiting` within 150 ms, so something else has
            // answered the request.
            RegistryStatus::Busy
                if ask.confirmed.is_none() && hooks.prompt_at.is_none_or(|p| at + GRACE >= p) =>
            {
                return false;
            }
            _ => {}
        }
    }
    // With several requests it is unclear which call started the child.
    let runs = child.is_some_and(|child| child.began > ask.at);
    if runs && ask.kind == StateKind::Permission && hooks.asks.len() == 1 {
        return false;
    }
    !transcript.is_some_and(|transcript| is_answered(ask, transcript))
}

/// Whether the transcript has gone on without the call that a request is about. A subagent's calls are not in it.
pub(super) fn is_answered(ask: &HookRequest, transcript: &TranscriptWitness<'_>) -> bool {
    let open = transcript.pending.iter().any(|call| match &ask.call {
        Some(id) => call.id == *id,
        None => call.tool == ask.tool,
    });
    ask.agent.is_none() && !open && transcript.last_activity_at > ask.at
}

fn read<'a>(
    hooks: &'a HookWitness,
    now: Timestamp,
    timeouts: Timeouts,
    shown: impl Fn(&HookRequest) -> bool,
) -> Option<HookReading<'a>> {
    if matches!(hooks.turn, HookTurn::Closed(_)) {
        let detail = "a hook says that the session ended".to_owned();
        return Some(HookReading { detail, ..plain(State::Ended, None, hooks.since) });
    }
    let open: Vec<&HookRequest> = hooks.asks.iter().filter(|ask| shown(ask)).collect();
    if let Some(ask) = open.first() {
        return Some(asked(ask, open.len() - 1));
    }
    if let Some(at) = hooks.compacting.filter(|at| now < *at + COMPACTION_LASTS) {
        let detail = "a hook says that the context is being compacted".to_owned();
        return Some(HookReading { detail, ..plain(State::Working, Some(StateKind::Compacting), at) });
    }
    turn(hooks, now, timeouts).map(|newest| HookReading { answered: hooks.answered_at, ..newest })
}

fn plain(state: State, kind: Option<StateKind>, since: Timestamp) -> HookReading<'static> {
    HookReading {
        state,
        kind,
        since,
        edge: since,
        confidence: Confidence::Observed,
        answered: None,
        ask: None,
        detail: String::new(),
    }
}

fn asked(ask: &HookRequest, more: usize) -> HookReading<'_> {
    let who = if ask.agent.is_some() { "a subagent" } else { "the agent" };
    let mut detail = match ask.kind {
        StateKind::Question => format!("a hook says that {who} asks a question"),
        StateKind::Plan => format!("a hook says that {who} shows a plan"),
        StateKind::Dialog if ask.implied => "a hook says that a dialog of the agent is open".to_owned(),
        StateKind::Dialog => "a hook says that a server asks for something".to_owned(),
        _ => format!("a hook says that {who} wants permission for {}", ask.tool),
    };
    // Writing into a `String` cannot fail.
    if !ask.target.is_empty() {
        let _ = write!(detail, ": {}", ask.target);
    }
    if more > 0 {
        let _ = write!(detail, "; {more} more wait");
    }
    let confidence =
        if ask.implied && ask.confirmed.is_none() { Confidence::Inferred } else { Confidence::Observed };
    HookReading {
        confidence,
        ask: Some(ask),
        detail,
        ..plain(State::WaitingForApproval, Some(ask.kind), ask.at)
    }
}

fn turn(hooks: &HookWitness, now: Timestamp, timeouts: Timeouts) -> Option<HookReading<'static>> {
    let agents = hooks.agents_running > 0
        || hooks.agents_ended.is_some_and(|at| at >= hooks.since && now < at + REPORT_GAP);
    let input = |kind| plain(State::WaitingForInput, kind, hooks.since);
    let says = |detail: &str| format!("a hook says that {detail}");
    let reading = match &hooks.turn {
        HookTurn::Unreported | HookTurn::Closed(_) => return None,
        HookTurn::NoPrompt => HookReading { detail: says("the session began"), ..input(None) },
        HookTurn::Running => {
            // An open call explains any silence. Without one the turn may have been interrupted, which fires no hook.
            if hooks.calls.is_empty() && hooks.turn_event_at + timeouts.stale <= now {
                return None;
            }
            let detail = match hooks.calls.last() {
                Some(call) if call.target.is_empty() => says(&format!("{} runs", call.tool)),
                Some(call) => says(&format!("{} runs: {}", call.tool, call.target)),
                None => says("a turn runs"),
            };
            HookReading { detail, edge: hooks.turn_event_at, ..plain(State::Working, None, hooks.since) }
        }
        HookTurn::Ended { .. } if agents => {
            let detail = match hooks.agents_running {
                0 => says("the turn ended, its subagents too: their report is on its way"),
                1 => says("the turn ended, one subagent works on"),
                n => says(&format!("the turn ended, {n} subagents work on")),
            };
            HookReading { detail, ..plain(State::Working, Some(StateKind::Background), hooks.since) }
        }
        HookTurn::Ended { .. } if hooks.shells_running > 0 => HookReading {
            detail: says("the turn ended, a background task runs on"),
            ..input(Some(StateKind::Background))
        },
        HookTurn::Ended { .. } => {
            HookReading { detail: says("the turn ended"), ..input(Some(StateKind::TurnEnded)) }
        }
        HookTurn::Failed { error, message, limit } => {
            let text = if message.is_empty() { error } else { message };
            let kind = if *limit { StateKind::Limit } else { StateKind::Error };
            HookReading { detail: text.to_string(), ..input(Some(kind)) }
        }
        HookTurn::Interrupted => HookReading {
            detail: says("the user interrupted the turn"),
            ..input(Some(StateKind::Interrupted))
        },
        HookTurn::Quiet => HookReading {
            confidence: Confidence::Inferred,
            detail: says("the prompt has been open for a minute"),
            ..input(Some(StateKind::TurnEnded))
        },
    };
    Some(reading)
}

/// The class of a state, for comparing two witnesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Works,
    Asks,
    /// A dialog that the user opened.
    Dialog,
    Rests,
}

impl Class {
    pub fn of(state: State, kind: Option<StateKind>) -> Self {
        match (state, kind) {
            (State::Working, _) => Self::Works,
            (State::WaitingForApproval, _) => Self::Asks,
            (State::WaitingForInput, Some(StateKind::Dialog)) => Self::Dialog,
            _ => Self::Rests,
        }
    }
}

impl HookReading<'_> {
    fn class(&self) -> Class {
        Class::of(self.state, self.kind)
    }

    /// Whether the hooks win over the registry, which has said something else since `at`.
    pub fn beats_registry(&self, registry: Class, at: Timestamp, now: Timestamp) -> bool {
        let newer = self.edge > at;
        // The registry is about to be rewritten.
        let fresh = newer && now < self.edge + GRACE;
        let closed = self.answered.is_some_and(|answered| answered > at && now < answered + GRACE);
        match (self.class(), registry) {
            (mine, theirs) if mine == theirs => false,
            // `stands` has already checked each request against the registry.
            (Class::Asks, _) => true,
            (Class::Works, Class::Rests) => fresh || self.edge > at + STALE_IDLE,
            // A call comes before its request, so only an event after the answer contradicts the registry.
            (Class::Works | Class::Rests, Class::Asks) | (Class::Works, Class::Dialog) => closed,
            // While hooks of other programs run at the end of a turn, the registry says `busy` and is right.
            // That a session began says nothing of its turn: the hook of its first prompt may be on its way.
            (Class::Rests, Class::Works) => fresh && self.kind.is_some(),
            // Only the registry knows of a dialog.
            _ => false,
        }
    }

    /// Whether the hooks win over the transcript, if there is no registry status.
    pub fn beats_transcript(&self, t: &TranscriptWitness<'_>, now: Timestamp) -> bool {
        // Another clock stamped a record with a future time, so it is newer than nothing.
        if t.has_not_begun() || t.last_activity_at > now + STALE_IDLE {
            return true;
        }
        // The agent took the prompt back.
        if t.follows_hooks
            && self.class() == Class::Works
            && t.last_activity_at < self.edge
            && now >= self.edge + GRACE
        {
            return false;
        }
        let turn_went_on = t.turn_is_open() && t.last_activity_at > self.edge + STALE_IDLE;
        if t.by_timeout {
            return self.class() != Class::Rests || !turn_went_on;
        }
        let theirs = Class::of(t.state, t.kind);
        match self.class() {
            // A question that both know is surer by its record than by its call.
            Class::Asks => self.confidence == Confidence::Observed || theirs != Class::Asks,
            Class::Works if theirs == Class::Works => true,
            // The boundary is written before the hook says that the compaction is over.
            Class::Works if self.kind == Some(StateKind::Compacting) => {
                t.since <= self.edge || now < t.since + GRACE
            }
            Class::Works => {
                let swapped = t.since + STALE_IDLE > self.edge && now >= self.edge + GRACE;
                !(t.since > self.edge || swapped)
            }
            Class::Rests | Class::Dialog if t.turn_is_open() => !turn_went_on,
            Class::Rests | Class::Dialog => t.since <= self.edge,
        }
    }
}
