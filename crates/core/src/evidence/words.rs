//! What the witnesses' words mean, and how they are put to the person.

use std::sync::Arc;

use crate::evidence::registry::{Liveness, RegistryEntry, RegistryStatus};
use crate::evidence::witness::{Departure, GoneInstance, InstanceWitness, TranscriptWitness, Witness};
use crate::roster::pending::{self, PLAN_TOOL, QUESTION_TOOL};
use crate::roster::row::Source;
use crate::session::state::{Confidence, State, StateKind};
use crate::time::{Millis, Timestamp};

/// For so long after a registry's `idle` the end of the turn may still be on its way into the transcript.
const SETTLING: Millis = Millis(500);
/// A status that follows a turn's last record by no more than this belongs to the same event.
pub(super) const SAME_EVENT: Millis = Millis(2_000);

/// A registry status as a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub state: State,
    pub kind: Option<StateKind>,
    pub confidence: Confidence,
}

impl Word {
    const fn sure(state: State, kind: Option<StateKind>) -> Self {
        Self { state, kind, confidence: Confidence::Observed }
    }

    /// How much the person is needed: decides between several processes of one session.
    pub const fn need(self) -> u8 {
        match self.state {
            State::WaitingForApproval => 3,
            State::Working => 2,
            _ => 1,
        }
    }

    /// Nothing goes on, so that time makes it idle.
    pub const fn is_quiet(self) -> bool {
        matches!(self.state, State::WaitingForInput)
    }
}

/// The state that a registry status stands for; `None` for no status and for unknown ones.
///
/// | `status` | `waitingFor` | state, kind |
/// |---|---|---|
/// | `busy` | | working; the transcript tells compacting, retrying, background work |
/// | `waiting` | `permission prompt`, `sandbox request`, `worker request` | approval: question or plan if the transcript shows its call, else permission |
/// | `waiting` | `input needed` | approval: plan if only a plan is pending, else question |
/// | `waiting` | absent (before 2.1.162) | as `permission prompt` if a call is pending, inferred; else a dialog |
/// | `waiting` | `dialog open` and anything else | input: a dialog of the client; approval if a call of a running turn is pending |
/// | `idle` | | input: as the transcript says the turn ended |
/// | `shell` | | as `idle`, but background work goes on |
pub(super) fn word_of(
    instance: &InstanceWitness,
    transcript: Option<&TranscriptWitness<'_>>,
    now: Timestamp,
) -> Option<Word> {
    let end_kind = || end_kind(transcript, status_time(instance, now), now);
    let asked = |tool| transcript.is_some_and(|t| pending::is_pending(t.pending, tool));
    let approval = || {
        let kind = if asked(QUESTION_TOOL) {
            StateKind::Question
        } else if asked(PLAN_TOOL) {
            StateKind::Plan
        } else {
            StateKind::Permission
        };
        Word::sure(State::WaitingForApproval, Some(kind))
    };
    let dialog = Word::sure(State::WaitingForInput, Some(StateKind::Dialog));
    Some(match instance.entry.status.as_ref()? {
        RegistryStatus::Unknown(_) => return None,
        RegistryStatus::Busy => Word::sure(State::Working, busy_kind(transcript)),
        RegistryStatus::Idle => Word::sure(State::WaitingForInput, end_kind()),
        RegistryStatus::Shell => {
            let kind = end_kind().filter(|kind| *kind != StateKind::TurnEnded);
            Word::sure(State::WaitingForInput, kind.or(Some(StateKind::Background)))
        }
        RegistryStatus::Waiting(what) => match &**what {
            "permission prompt" | "sandbox request" | "worker request" => approval(),
            "input needed" if asked(PLAN_TOOL) => approval(),
            "input needed" => Word::sure(State::WaitingForApproval, Some(StateKind::Question)),
            "" if transcript.is_some_and(|t| !t.pending.is_empty()) => {
                Word { confidence: Confidence::Inferred, ..approval() }
            }
            // The auto mode's warnings stop a call in this way. The person may as well have opened a menu beside a
            // tool that runs; then they are at that terminal anyway.
            _ if transcript.is_some_and(|t| t.turn_is_open() && !t.pending.is_empty()) => {
                Word { state: State::WaitingForApproval, ..dialog }
            }
            _ => dialog,
        },
    })
}

fn busy_kind(transcript: Option<&TranscriptWitness<'_>>) -> Option<StateKind> {
    let finer = [StateKind::Compacting, StateKind::Retrying, StateKind::Background];
    transcript.filter(|t| t.state == State::Working)?.kind.filter(|kind| finer.contains(kind))
}

/// When the last end that the transcript tells counts as the end of the turn that the registry calls over since `at`;
/// `None` when it does at once.
pub(super) fn settled_at(transcript: &TranscriptWitness<'_>, at: Timestamp) -> Option<Timestamp> {
    (transcript.since + SAME_EVENT < at).then_some(at + SETTLING)
}

fn end_kind(transcript: Option<&TranscriptWitness<'_>>, at: Timestamp, now: Timestamp) -> Option<StateKind> {
    let ends = [StateKind::Interrupted, StateKind::Error, StateKind::Limit];
    // A transcript that still shows a running turn does not contradict: Escape before the first token
    // is written nowhere but in the registry.
    let transcript = transcript.filter(|t| !t.has_not_begun())?;
    // The registry is up to 160 ms ahead of the transcript: what that tells may be the end of the turn before.
    let of_another_turn = settled_at(transcript, at).is_some_and(|settled| now < settled);
    let end = transcript.end().filter(|_| !of_another_turn);
    let told = end.and_then(|t| t.kind).filter(|kind| ends.contains(kind));
    told.or(Some(StateKind::TurnEnded))
}

/// The registry's word in a sentence, with what the transcript adds.
pub(super) fn detail(
    entry: &RegistryEntry,
    word: Word,
    transcript: Option<&TranscriptWitness<'_>>,
) -> String {
    let mut detail = format!("registry says `{}`", entry.status.as_ref().map_or("", spelled));
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

/// A span for the person: whole minutes or seconds.
pub(super) fn span(span: Millis) -> String {
    if span.0 >= 60_000 && span.0 % 60_000 == 0 {
        format!("{} min", span.0 / 60_000)
    } else {
        format!("{} s", span.0 / 1000)
    }
}

impl TranscriptWitness<'_> {
    /// Records or silence.
    pub(super) fn source(&self) -> Source {
        if self.by_timeout { Source::Timeout } else { Source::Transcript }
    }

    /// The turn that the transcript shows has not ended.
    pub(super) fn turn_is_open(&self) -> bool {
        matches!(self.state, State::Working | State::WaitingForApproval)
    }

    /// No turn has ever run: the client writes modes and the like before the first prompt.
    pub(super) fn has_not_begun(&self) -> bool {
        self.state == State::Idle && !self.by_timeout
    }

    /// The reading, if it says that the turn is over.
    fn end(&self) -> Option<&Self> {
        (self.state == State::WaitingForInput).then_some(self)
    }
}

/// What the system says of one process.
pub(super) fn process_witness(instance: &InstanceWitness, at: Timestamp) -> Witness {
    let pid = instance.entry.instance.pid;
    let (state, confidence, detail) = match instance.liveness {
        Liveness::Alive => (None, Confidence::Observed, format!("process {pid} runs")),
        Liveness::Dead => (Some(State::Ended), Confidence::Observed, format!("process {pid} is gone")),
        Liveness::Unknown => (None, Confidence::Inferred, format!("process {pid} cannot be seen from here")),
    };
    Witness {
        source: Source::Process,
        state,
        kind: state.map(|_| StateKind::Crashed),
        at: Some(at),
        pid: Some(pid),
        detail: Arc::from(detail),
        confidence,
        winner: false,
    }
}

/// When the registry's word was said: never later than it was read, lest a wrong clock move it along.
pub(super) fn status_time(instance: &InstanceWitness, now: Timestamp) -> Timestamp {
    instance.entry.status_at.unwrap_or(instance.seen_at).min(instance.seen_at).min(now)
}

/// What one registry file says; `None` when it says no status.
pub(super) fn registry_witness(
    instance: &InstanceWitness,
    transcript: Option<&TranscriptWitness<'_>>,
    now: Timestamp,
) -> Option<Witness> {
    let status = instance.entry.status.as_ref()?;
    let word = word_of(instance, transcript, now);
    let detail = match word {
        Some(word) => self::detail(&instance.entry, word, transcript),
        None => format!("registry says `{}`, which is not known here", spelled(status)),
    };
    Some(Witness {
        source: Source::Registry,
        state: word.map(|word| word.state),
        kind: word.and_then(|word| word.kind),
        at: Some(status_time(instance, now)),
        pid: Some(instance.entry.instance.pid),
        detail: Arc::from(detail),
        confidence: word.map_or(Confidence::Observed, |word| word.confidence),
        winner: false,
    })
}

/// What the going of a process says.
pub(super) fn gone_witness(gone: &GoneInstance) -> Witness {
    let pid = gone.instance.pid;
    let (source, kind, detail) = match gone.how {
        Departure::FileRemoved => (Source::Registry, None, format!("process {pid} ended in order")),
        Departure::MovedOn => (Source::Registry, None, format!("process {pid} went on with another session")),
        Departure::FileLeft => {
            (Source::Process, Some(StateKind::Crashed), format!("process {pid} is gone without a goodbye"))
        }
    };
    Witness {
        source,
        state: Some(State::Ended),
        kind,
        at: Some(gone.at),
        pid: Some(pid),
        detail: Arc::from(detail),
        confidence: Confidence::Observed,
        winner: false,
    }
}

/// What the transcript says.
pub(super) fn transcript_witness(reading: &TranscriptWitness<'_>) -> Witness {
    Witness {
        source: reading.source(),
        state: Some(reading.state),
        kind: reading.kind,
        at: Some(reading.since),
        pid: None,
        detail: Arc::from(reading.detail),
        confidence: reading.confidence,
        winner: false,
    }
}
