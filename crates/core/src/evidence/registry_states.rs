//! The meaning of registry statuses, and the sentences for the user that are made of them.

use crate::evidence::hook_reading;
use crate::evidence::registry::{RegistryEntry, RegistryStatus, names_a_request};
use crate::evidence::times::{SAME_EVENT, SETTLING, STALE_IDLE};
use crate::evidence::witness::{InstanceWitness, TranscriptWitness};
use crate::hook::{HookRequest, HookTurn, HookWitness};
use crate::roster::pending;
use crate::roster::row::Source;
use crate::session::state::{Confidence, State, StateKind};
use crate::status_file::StatusFile;
use crate::time::{Millis, Timestamp};
use crate::tool::Ask;

/// A registry status as a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StatusReading {
    pub state: State,
    pub kind: Option<StateKind>,
    pub confidence: Confidence,
}

impl StatusReading {
    const fn sure(state: State, kind: Option<StateKind>) -> Self {
        Self { state, kind, confidence: Confidence::Observed }
    }

    /// How urgently the user is needed. It decides between several processes of one session.
    pub const fn need(self) -> u8 {
        match self.state {
            State::WaitingForApproval => 3,
            State::Working => 2,
            _ => 1,
        }
    }

    /// Nothing goes on, so the idle timeout applies.
    pub const fn is_quiet(self) -> bool {
        matches!(self.state, State::WaitingForInput)
    }
}

/// The state that a registry status stands for; `None` for no status and for unknown ones.
///
/// | `status` | `waitingFor` | state, kind |
/// |---|---|---|
/// | `busy` | | working; hooks and transcript add compacting, retrying, background work |
/// | `waiting` | `permission prompt`, `sandbox request`, `worker request` | approval: as the hooks' open request says; else question or plan if the transcript shows its call; else permission |
/// | `waiting` | `input needed` | approval: plan if only a plan is asked for, else question |
/// | `waiting` | absent (before 2.1.162) | as `permission prompt` if a call is pending, inferred without a hook's request; else a dialog |
/// | `waiting` | `dialog open` and anything else | as a hook's request says, unless the transcript shows it answered; else a dialog of the agent: approval if a call of a running turn is pending, else input |
/// | `idle` | | input: as hooks and transcript say the turn ended; interrupted if the hooks reported a turn and no end |
/// | `shell` | | as `idle`, but background work goes on |
pub(super) fn read_status(
    instance: &InstanceWitness,
    transcript: Option<&TranscriptWitness<'_>>,
    hooks: Option<&HookWitness>,
    now: Timestamp,
) -> Option<StatusReading> {
    let at = status_time(instance, now);
    let ask = hooks.and_then(|hooks| asked(hooks, at));
    let shows = |ask| transcript.is_some_and(|t| pending::is_pending(t.pending, ask));
    let approval = || {
        let shown = if shows(Ask::Question) {
            StateKind::Question
        } else if shows(Ask::Plan) {
            StateKind::Plan
        } else {
            StateKind::Permission
        };
        StatusReading::sure(State::WaitingForApproval, Some(ask.map_or(shown, |ask| ask.kind)))
    };
    let dialog = StatusReading::sure(State::WaitingForInput, Some(StateKind::Dialog));
    // If there are hooks, they decide whether a turn runs: an open turn in the transcript may be of a process that
    // was killed.
    let calls = match hooks.map(|hooks| &hooks.turn) {
        None | Some(HookTurn::Unreported) => {
            transcript.is_some_and(|t| t.turn_is_open() && !t.pending.is_empty())
        }
        Some(HookTurn::Running) => {
            // No hook fires for Escape, but the transcript shows it.
            let over = |t: &TranscriptWitness<'_>, hooks: &HookWitness| {
                !t.turn_is_open() && !t.has_not_begun() && t.last_activity_at > hooks.turn_event_at
            };
            hooks.is_some_and(|hooks| !hooks.calls.is_empty() && !transcript.is_some_and(|t| over(t, hooks)))
                || transcript.is_some_and(|t| t.turn_is_open() && !t.pending.is_empty())
        }
        Some(_) => false,
    };
    Some(match instance.entry.status.as_ref()? {
        RegistryStatus::Unknown(_) => return None,
        RegistryStatus::Busy => StatusReading::sure(State::Working, busy_kind(transcript, hooks)),
        RegistryStatus::Idle => ended(transcript, hooks, at, now),
        RegistryStatus::Shell => {
            let word = ended(transcript, hooks, at, now);
            let kind = word.kind.filter(|kind| *kind != StateKind::TurnEnded);
            StatusReading { kind: kind.or(Some(StateKind::Background)), ..word }
        }
        RegistryStatus::Waiting(what) => match &**what {
            "input needed" if ask.is_none() && !shows(Ask::Plan) => {
                StatusReading::sure(State::WaitingForApproval, Some(StateKind::Question))
            }
            what if names_a_request(what) => approval(),
            // No hook fires when a request is refused: this may be a menu that was opened long after that.
            _ if ask.is_some_and(|ask| !transcript.is_some_and(|t| hook_reading::is_answered(ask, t))) => {
                approval()
            }
            "" if transcript.is_some_and(|t| !t.pending.is_empty()) => {
                StatusReading { confidence: Confidence::Inferred, ..approval() }
            }
            // The auto mode's warnings stop a call in this way. The user may also have opened a menu while a tool
            // runs; then the user is at that terminal anyway.
            _ if calls => StatusReading { state: State::WaitingForApproval, ..dialog },
            _ => dialog,
        },
    })
}

/// The request that the registry has waited for since `at`: the one made at that time, else the oldest.
fn asked(hooks: &HookWitness, at: Timestamp) -> Option<&HookRequest> {
    let made_then = hooks.asks.iter().find(|ask| ask.at <= at + SAME_EVENT && at <= ask.at + SAME_EVENT);
    made_then.or_else(|| hooks.asks.first().filter(|ask| ask.at <= at + SAME_EVENT))
}

fn busy_kind(transcript: Option<&TranscriptWitness<'_>>, hooks: Option<&HookWitness>) -> Option<StateKind> {
    if let Some(hooks) = hooks {
        if hooks.compacting.is_some() {
            return Some(StateKind::Compacting);
        }
        match hooks.turn {
            HookTurn::Ended { .. } if hooks.agents_running > 0 => return Some(StateKind::Background),
            // The transcript may not show yet that a turn runs again.
            HookTurn::Running => return retrying(transcript),
            _ => {}
        }
    }
    let finer = [StateKind::Compacting, StateKind::Retrying, StateKind::Background];
    transcript.filter(|t| t.state == State::Working)?.kind.filter(|kind| finer.contains(kind))
}

/// Only the transcript knows of a retried request.
pub(super) fn retrying(transcript: Option<&TranscriptWitness<'_>>) -> Option<StateKind> {
    transcript.filter(|t| t.state == State::Working)?.kind.filter(|kind| *kind == StateKind::Retrying)
}

/// How the turn ended that is over since `at`, by the registry.
fn ended(
    transcript: Option<&TranscriptWitness<'_>>,
    hooks: Option<&HookWitness>,
    at: Timestamp,
    now: Timestamp,
) -> StatusReading {
    let input = |kind| StatusReading::sure(State::WaitingForInput, kind);
    let Some(hooks) = hooks else { return input(end_kind(transcript, at, now)) };
    match &hooks.turn {
        // A much later status is about something that the hooks did not report.
        HookTurn::Ended { .. } if at <= hooks.since + SAME_EVENT => input(Some(StateKind::TurnEnded)),
        HookTurn::Interrupted if at <= hooks.since + SAME_EVENT => input(Some(StateKind::Interrupted)),
        HookTurn::Failed { limit, .. } if at <= hooks.since + SAME_EVENT => {
            input(Some(if *limit { StateKind::Limit } else { StateKind::Error }))
        }
        HookTurn::Running if hooks.turn_event_at <= at + STALE_IDLE => {
            let end = transcript.and_then(TranscriptWitness::end);
            let end = end.filter(|end| !end.by_timeout && end.since > hooks.since);
            match end.and_then(|end| end.kind) {
                Some(kind) => input(Some(kind)),
                // No hook fires for Escape, and every other end has one.
                None => {
                    StatusReading { confidence: Confidence::Inferred, ..input(Some(StateKind::Interrupted)) }
                }
            }
        }
        HookTurn::Ended { .. } => input(end_kind(transcript, at, now).or(Some(StateKind::TurnEnded))),
        _ => input(end_kind(transcript, at, now)),
    }
}

/// When the last turn end in the transcript counts as the end of the turn that is over since `at`, by the registry.
/// `None` when it counts at once.
pub(super) fn settled_at(transcript: &TranscriptWitness<'_>, at: Timestamp) -> Option<Timestamp> {
    (transcript.since + SAME_EVENT < at).then_some(at + SETTLING)
}

fn end_kind(transcript: Option<&TranscriptWitness<'_>>, at: Timestamp, now: Timestamp) -> Option<StateKind> {
    let ends = [StateKind::Interrupted, StateKind::Error, StateKind::Limit];
    // A transcript that still shows a running turn does not contradict: only the registry shows an Escape before the
    // first token.
    let transcript = transcript.filter(|t| !t.has_not_begun())?;
    // The registry is up to 160 ms ahead of the transcript, so the transcript may show the end of an earlier turn.
    let of_another_turn = settled_at(transcript, at).is_some_and(|settled| now < settled);
    let end = transcript.end().filter(|_| !of_another_turn);
    let end = end.and_then(|t| t.kind).filter(|kind| ends.contains(kind));
    end.or(Some(StateKind::TurnEnded))
}

/// How a reason begins if the registry decides.
const REGISTRY_SAYS: &str = "registry says `";

/// How a reason ends if another machine or container runs the process.
pub(super) const OUT_OF_SIGHT: &str = "; the process cannot be seen from here";

/// The registry's status in a sentence, with what hooks or transcript add.
pub(super) fn detail(
    entry: &RegistryEntry,
    word: StatusReading,
    transcript: Option<&TranscriptWitness<'_>>,
    hooks: Option<&HookWitness>,
) -> String {
    let mut detail = format!("{REGISTRY_SAYS}{}`", entry.status.as_ref().map_or("", spelled));
    if hooks.is_some_and(|hooks| push_hook_details(hooks, word, &mut detail)) {
        return detail;
    }
    // Not "no prompt yet": the transcript is written after the fact, or never.
    let Some(transcript) = transcript.filter(|t| !t.has_not_begun()) else {
        if word.is_quiet() && word.kind.is_none() {
            let nothing = if transcript.is_some() {
                "; its transcript shows no turn yet"
            } else {
                "; no transcript yet"
            };
            detail.push_str(nothing);
        }
        return detail;
    };
    match word.state {
        State::WaitingForApproval => {
            if let Some(call) = pending::principal(transcript.pending) {
                detail.push_str(" for ");
                detail.push_str(&call.tool);
                if !call.target.is_empty() {
                    detail.push_str(": ");
                    detail.push_str(&call.target);
                }
            }
        }
        State::Working if word.kind.is_some() => {
            detail.push_str("; ");
            detail.push_str(transcript.detail);
        }
        State::WaitingForInput if word.kind != Some(StateKind::Dialog) => {
            let ended_so = |end: &&TranscriptWitness<'_>| {
                !end.by_timeout && (end.kind == word.kind || end.kind == Some(StateKind::TurnEnded))
            };
            if let Some(end) = transcript.end().filter(ended_so) {
                detail.push_str("; ");
                detail.push_str(end.detail);
            }
        }
        _ => {}
    }
    detail
}

/// What a reason says beside the registry's status, without the text that `detail` puts around it. `None` if it says
/// nothing else.
pub fn cause_without_prefix(detail: &str) -> Option<&str> {
    let cause = match detail.strip_prefix(REGISTRY_SAYS) {
        Some(rest) => rest.split_once("`; ").map(|(_, cause)| cause),
        None => Some(detail),
    };
    cause.map(without_suffixes).filter(|cause| !cause.trim().is_empty())
}

/// What a session asked, in the reason of a state that waits for the user: the tool and what it acts on, or the question.
/// `None` if the reason does not name it.
pub fn asked_without_prefix(detail: &str) -> Option<&str> {
    let said = without_suffixes(detail.strip_prefix("a subagent asks: ").unwrap_or(detail));
    let asked = match said.strip_prefix(REGISTRY_SAYS) {
        Some(rest) => rest.split_once('`')?.1.strip_prefix(" for "),
        None => {
            let said = said.strip_prefix("a hook says that ").unwrap_or(said);
            let said =
                ["the agent ", "a subagent "].iter().find_map(|who| said.strip_prefix(who)).unwrap_or(said);
            let marks = ["wants permission for ", "asks a question: ", "shows a plan: ", "asks: "];
            marks.iter().find_map(|mark| said.strip_prefix(mark))
        }
    };
    asked.filter(|asked| !asked.trim().is_empty())
}

/// A reason without what the rules say at its end about processes and other requests.
fn without_suffixes(mut said: &str) -> &str {
    while let Some((head, tail)) = said.rsplit_once("; ") {
        let counted = tail.split_once(' ').filter(|(count, _)| count.parse::<usize>().is_ok());
        let is_suffix = OUT_OF_SIGHT.strip_prefix("; ") == Some(tail)
            || counted.is_some_and(|(_, what)| matches!(what, "more wait" | "processes run this session"));
        if !is_suffix {
            break;
        }
        said = head;
    }
    said
}

/// Appends what the hooks add to a registry status; `false` when they add nothing.
fn push_hook_details(hooks: &HookWitness, word: StatusReading, detail: &mut String) -> bool {
    let more = match (word.state, word.kind, &hooks.turn) {
        (State::WaitingForApproval, Some(kind), _) => {
            let Some(ask) = hooks.asks.iter().find(|ask| ask.kind == kind) else { return false };
            let who = if ask.agent.is_some() { "a subagent: " } else { "" };
            match (&*ask.tool, &*ask.target) {
                ("", "") => return false,
                ("", target) | (target, "") => format!(" for {who}{target}"),
                (tool, target) => format!(" for {who}{tool}: {target}"),
            }
        }
        (State::Working, Some(StateKind::Compacting), _) => {
            "; a hook says that the context is being compacted".into()
        }
        (State::Working, Some(StateKind::Background), HookTurn::Ended { .. }) => match hooks.agents_running {
            0 => return false,
            1 => "; a hook says that the turn ended, one subagent works on".into(),
            n => format!("; a hook says that the turn ended, {n} subagents work on"),
        },
        (State::WaitingForInput, Some(StateKind::Interrupted), HookTurn::Running)
            if word.confidence == Confidence::Inferred =>
        {
            "; no hook said that the turn ended: interrupted".into()
        }
        (
            State::WaitingForInput,
            Some(StateKind::Error | StateKind::Limit),
            HookTurn::Failed { error, message, .. },
        ) => {
            format!("; {}", if message.is_empty() { error } else { message })
        }
        _ => return false,
    };
    detail.push_str(&more);
    true
}

/// The status as the registry spells it, `waitingFor` instead of `waiting` where it is given.
pub(super) fn spelled(status: &RegistryStatus) -> &str {
    match status {
        RegistryStatus::Busy => "busy",
        RegistryStatus::Idle => "idle",
        RegistryStatus::Shell => "shell",
        RegistryStatus::Waiting(what) if what.is_empty() => "waiting",
        RegistryStatus::Waiting(what) | RegistryStatus::Unknown(what) => what,
    }
}

/// A span for the user: whole minutes or seconds.
pub(super) fn span(span: Millis) -> String {
    if span.0 >= 60_000 && span.0 % 60_000 == 0 {
        format!("{} min", span.0 / 60_000)
    } else {
        format!("{} s", span.0 / 1000)
    }
}

impl TranscriptWitness<'_> {
    /// Whether the reading comes from records or from silence.
    pub(super) fn source(&self) -> Source {
        if self.by_timeout { Source::Timeout } else { Source::Transcript }
    }

    /// The turn that the transcript shows has not ended.
    pub(super) fn turn_is_open(&self) -> bool {
        matches!(self.state, State::Working | State::WaitingForApproval)
    }

    /// No turn has ever run: the agent writes modes and the like before the first prompt.
    pub(super) fn has_not_begun(&self) -> bool {
        self.state == State::Idle && !self.by_timeout
    }

    /// The reading, if it says that the turn is over.
    pub(super) fn end(&self) -> Option<&Self> {
        (self.state == State::WaitingForInput).then_some(self)
    }
}

/// The time of the registry's status. It is never later than the time of reading, so that a wrong clock cannot move
/// it on. It is later than now if the clock has been set back since.
pub(super) fn status_written_at(instance: &InstanceWitness) -> Timestamp {
    instance.entry.status_at.unwrap_or(instance.seen_at).min(instance.seen_at)
}

/// The same, but never later than now.
pub(super) fn status_time(instance: &InstanceWitness, now: Timestamp) -> Timestamp {
    status_written_at(instance).min(now)
}

/// A status file in a sentence.
pub(super) fn status_detail(file: &StatusFile) -> String {
    let mut said = format!("status file says `{}`", file.status.as_str());
    for (text, before) in [&file.task, &file.summary].into_iter().flatten().zip([": ", "; "]) {
        said.push_str(before);
        said.push_str(text);
    }
    said
}
