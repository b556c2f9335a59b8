//! Each witness in a sentence: what it alone would have said.

use std::sync::Arc;

use crate::evidence::hook_reading::HookReading;
use crate::evidence::registry::Liveness;
use crate::evidence::registry_states::{detail, read_status, spelled, status_detail, status_time};
use crate::evidence::witness::{
    ChildWitness, Departure, GoneInstance, InstanceWitness, TranscriptWitness, Witness,
};
use crate::hook::HookWitness;
use crate::own::witness::OwnWitness;
use crate::roster::row::Source;
use crate::session::state::{Confidence, State, StateKind};
use crate::status_file::StatusWitness;
use crate::time::Timestamp;

/// One process, by the operating system.
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

/// What one registry file says; `None` when it says no status.
pub(super) fn registry_witness(
    instance: &InstanceWitness,
    transcript: Option<&TranscriptWitness<'_>>,
    hooks: Option<&HookWitness>,
    now: Timestamp,
) -> Option<Witness> {
    let status = instance.entry.status.as_ref()?;
    let word = read_status(instance, transcript, hooks, now);
    let detail = match word {
        Some(word) => detail(&instance.entry, word, transcript, hooks),
        None => format!("registry says `{}`, an unknown status", spelled(status)),
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

/// What the departure of a process says.
pub(super) fn gone_witness(gone: &GoneInstance) -> Witness {
    let pid = gone.instance.pid;
    let (source, kind, detail) = match gone.how {
        Departure::FileRemoved => (Source::Registry, None, format!("process {pid} ended normally")),
        Departure::LetGo => (Source::Registry, None, format!("process {pid} no longer runs the session")),
        Departure::MovedOn => (Source::Registry, None, format!("process {pid} went on with another session")),
        Departure::FileLeft => {
            (Source::Process, Some(StateKind::Crashed), format!("process {pid} ended unexpectedly"))
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

/// What the hooks alone would say.
pub(super) fn hook_witness(hooks: &HookWitness, alone: Option<HookReading<'_>>, counts: bool) -> Witness {
    let mut detail = match &alone {
        Some(reading) => reading.detail.clone(),
        None => "hooks say nothing about the turn".to_owned(),
    };
    if !counts {
        detail.push_str("; that process no longer runs the session");
    }
    Witness {
        source: Source::Hook,
        state: alone.as_ref().map(|reading| reading.state),
        kind: alone.as_ref().and_then(|reading| reading.kind),
        at: Some(alone.as_ref().map_or(hooks.newest_event_at, |reading| reading.edge)),
        pid: hooks.agent.as_ref().map(|agent| agent.pid),
        detail: Arc::from(detail),
        confidence: alone.map_or(Confidence::Observed, |reading| reading.confidence),
        winner: false,
    }
}

/// What the host of an own session says.
pub(super) fn own_witness(own: &OwnWitness) -> Witness {
    let reading = own.reading.as_ref();
    Witness {
        source: own.way.source(),
        state: reading.map(|reading| reading.state),
        kind: reading.and_then(|reading| reading.kind),
        at: Some(reading.map_or(own.last_at, |reading| reading.since)),
        pid: own.pid,
        detail: reading.map_or_else(|| Arc::from(TERMINAL_RUNS), |reading| Arc::clone(&reading.detail)),
        confidence: Confidence::Observed,
        winner: false,
    }
}

/// What the host of a terminal says while it runs.
pub(super) const TERMINAL_RUNS: &str = "its terminal runs here";

/// What a child process says.
pub(super) fn child_witness(child: ChildWitness) -> Witness {
    Witness {
        source: Source::Process,
        state: None,
        kind: None,
        at: Some(child.began),
        pid: Some(child.pid),
        detail: Arc::from(format!(
            "child process {} runs, so no call from before it waits for an answer",
            child.pid
        )),
        confidence: Confidence::Inferred,
        winner: false,
    }
}

/// What a status file says.
pub(super) fn status_witness(file: &StatusWitness, now: Timestamp) -> Witness {
    let fresh = now < file.until(now);
    let state = file.file.status.state().filter(|_| fresh);
    let mut detail = status_detail(&file.file);
    if !fresh {
        detail.push_str(", more than 5 min ago");
    } else if state.is_none() {
        detail.push_str(", an unknown status");
    }
    Witness {
        source: Source::StatusFile,
        state: state.map(|(state, _)| state),
        kind: state.and_then(|(_, kind)| kind),
        at: Some(file.at(now)),
        pid: None,
        detail: Arc::from(detail),
        confidence: Confidence::Observed,
        winner: false,
    }
}
