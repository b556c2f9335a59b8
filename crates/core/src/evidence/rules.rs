//! The resolver's rules, in the order of the table in `resolve.rs`.

use std::fmt::Write;

use crate::evidence::case::{Case, Ruling};
use crate::evidence::hook_reading::{Class, HookReading};
use crate::evidence::registry::RegistryStatus;
use crate::evidence::registry_states::{self, status_time};
use crate::evidence::sentences;
use crate::evidence::times::{AFTER_THE_END, SAME_EVENT, STALE_IDLE};
use crate::evidence::witness::{Departure, TranscriptWitness};
use crate::hook::HookTurn;
use crate::hook::event::EndReason;
use crate::roster::row::Source;
use crate::session::state::{Confidence, State, StateKind};

pub(super) fn past(case: &Case<'_>) -> Option<Ruling> {
    if case.evidence.live { None } else { status_file(case).or_else(|| transcript(case)) }
}

pub(super) fn crashed(case: &Case<'_>) -> Option<Ruling> {
    let dead = case.dead.filter(|_| case.claim.is_none())?;
    let left_at = status_time(dead, case.evidence.now);
    if case.departure().is_some_and(|gone| gone.how != Departure::FileLeft && gone.at > left_at) {
        return None;
    }
    // Another process has resumed the session, and its registry file is not there yet.
    if case.hooks.is_some_and(|hooks| hooks.agent.is_some() && hooks.newest_event_at > left_at) {
        return None;
    }
    let pid = dead.entry.instance.pid;
    let mut detail = format!("process {pid} ended unexpectedly");
    if let Some(status) = &dead.entry.status {
        let _ = write!(detail, "; its registry file still says `{}`", registry_states::spelled(status));
    }
    Some(Ruling {
        state: State::Ended,
        kind: Some(StateKind::Crashed),
        // No file says when it died. Its last sign of life is the same for every reader.
        since: case.activity().map_or(left_at, |activity| activity.max(left_at)),
        source: Source::Process,
        confidence: Confidence::Observed,
        detail,
        pid: Some(pid),
    })
}

pub(super) fn departed(case: &Case<'_>) -> Option<Ruling> {
    let gone = case.departure()?;
    let witness = sentences::gone_witness(gone);
    Some(Ruling {
        state: State::Ended,
        kind: witness.kind,
        since: gone.at.min(case.evidence.now),
        source: witness.source,
        confidence: Confidence::Observed,
        detail: witness.detail.to_string(),
        pid: witness.pid,
    })
}

pub(super) fn closed(case: &Case<'_>) -> Option<Ruling> {
    let hooks = case.hooks?;
    let HookTurn::Closed(reason) = hooks.turn else { return None };
    let later = |at| at > hooks.since + AFTER_THE_END;
    // The registry file of a process that moved on may keep the old session's id, while its new status is of the new
    // session.
    let claimed_on = case.claim.is_some_and(|claim| !reason.moves_on() && later(claim.at));
    // A server unloads a session and loads it again within milliseconds, when the user resumes it.
    let loaded = reason == EndReason::Other
        && case.claim.is_some_and(|claim| claim.instance.entry.is_bare() && claim.word.is_some());
    if claimed_on || loaded || case.activity().is_some_and(later) {
        return None;
    }
    let how = match reason {
        EndReason::Clear => "its process went on with a new session after /clear",
        EndReason::Resume => "its process went on with another session after /resume",
        EndReason::Exit => "the user left the session",
        EndReason::Logout => "the user logged out",
        EndReason::Other => "its process ended normally",
    };
    Some(Ruling {
        state: State::Ended,
        kind: None,
        since: hooks.since.min(case.evidence.now),
        source: Source::Hook,
        confidence: Confidence::Observed,
        detail: format!("a hook says that {how}"),
        pid: hooks.agent.as_ref().map(|agent| agent.pid),
    })
}

pub(super) fn unclaimed(case: &Case<'_>) -> Option<Ruling> {
    case.unclaimed_at().filter(|at| *at <= case.evidence.now)?;
    Some(Ruling {
        state: State::Ended,
        kind: None,
        since: case.activity()?,
        source: Source::Registry,
        confidence: Confidence::Inferred,
        detail: "no running process claims this session".into(),
        pid: None,
    })
}

pub(super) fn out_of_sight(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim.filter(|claim| !claim.is_certain())?;
    // Silence does not answer a question that the transcript shows as open.
    let asks =
        case.evidence.transcript.is_some_and(|t| t.state == State::WaitingForApproval && !t.by_timeout);
    if asks && claim.word.is_none_or(|word| word.state == State::WaitingForApproval) {
        return None;
    }
    let at = case.idle_at(claim);
    (at <= case.evidence.now).then(|| Ruling {
        state: State::Idle,
        kind: None,
        since: at,
        source: Source::Timeout,
        confidence: Confidence::Inferred,
        detail: format!(
            "nothing for {}, and process {} cannot be seen from here",
            registry_states::span(case.evidence.timeouts.idle),
            claim.pid()
        ),
        pid: Some(claim.pid()),
    })
}

pub(super) fn hook(case: &Case<'_>) -> Option<Ruling> {
    let reading = case.hook_reading().filter(|reading| reading.state != State::Ended)?;
    let e = case.evidence;
    let registered = case.claim.and_then(|claim| Some((claim, claim.word?)));
    let wins = match (registered, &e.transcript) {
        (Some((claim, word)), _) => reading.beats_registry(Class::of(word.state, word.kind), claim.at, e.now),
        (None, Some(transcript)) => reading.beats_transcript(transcript, e.now),
        (None, None) => true,
    };
    wins.then(|| by_hooks(case, reading))
}

/// The hooks' reading as a ruling. A session that waits for input long enough is idle.
fn by_hooks(case: &Case<'_>, reading: HookReading<'_>) -> Ruling {
    let e = case.evidence;
    let transcript = e.transcript.as_ref();
    let mut ruling = Ruling {
        state: reading.state,
        kind: reading.kind.or_else(|| match reading.state {
            State::Working => registry_states::retrying(transcript),
            // The session was resumed: the last turn ended as the transcript says.
            State::WaitingForInput => transcript?.end()?.kind,
            _ => None,
        }),
        since: reading.since.min(e.now),
        source: Source::Hook,
        confidence: reading.confidence,
        detail: reading.detail.clone(),
        pid: case.hooks.and_then(|hooks| hooks.agent.as_ref()).map(|agent| agent.pid),
    };
    let idle_at = case.idle_at_by_hooks(&reading);
    if reading.state == State::WaitingForInput && idle_at <= e.now {
        ruling.state = State::Idle;
        ruling.kind = reading.kind.filter(|kind| *kind == StateKind::Background);
        ruling.since = idle_at;
        let _ =
            write!(ruling.detail, ", and nothing happened for {}", registry_states::span(e.timeouts.idle));
    }
    ruling
}

pub(super) fn overtaken(case: &Case<'_>) -> Option<Ruling> {
    let rests = |status: &RegistryStatus| matches!(status, RegistryStatus::Idle | RegistryStatus::Shell);
    let claim = case.claim.filter(|claim| claim.instance.entry.status.as_ref().is_some_and(rests))?;
    let turn = case.evidence.transcript.filter(TranscriptWitness::turn_is_open)?;
    // Another clock stamped a record with a future time, so it is newer than nothing.
    let comparable = turn.last_activity_at <= case.evidence.now + STALE_IDLE;
    // A hook that reported the end of that turn outweighs records that were written after it.
    let ended = case.hook_reading().is_some_and(|reading| {
        reading.state == State::WaitingForInput && turn.last_activity_at <= reading.edge + STALE_IDLE
    });
    let newer = comparable && !ended && turn.last_activity_at > claim.at + STALE_IDLE;
    newer.then(|| transcript(case)).flatten()
}

pub(super) fn report_gap(case: &Case<'_>) -> Option<Ruling> {
    case.report_gap_until().filter(|until| case.evidence.now < *until)?;
    let ended = case.claim.filter(|claim| case.agents_just_ended(*claim));
    let hooks =
        case.hooks.filter(|_| ended.is_some() && !case.evidence.transcript.is_some_and(|t| t.turn_is_open()));
    let Some(hooks) = hooks else { return transcript(case) };
    Some(Ruling {
        state: State::Working,
        kind: Some(StateKind::Background),
        since: hooks.since.min(case.evidence.now),
        source: Source::Hook,
        confidence: Confidence::Observed,
        detail: "a hook says that the subagents of an ended turn have ended: their report is on its way"
            .into(),
        pid: hooks.agent.as_ref().map(|agent| agent.pid),
    })
}

pub(super) fn registry(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim?;
    let word = claim.word?;
    let e = case.evidence;
    let mut detail = registry_states::detail(&claim.instance.entry, word, e.transcript.as_ref(), case.hooks);
    let (mut state, mut kind, mut since) = (word.state, word.kind, claim.at);
    let idle_at = case.idle_at(claim);
    if word.is_quiet() && idle_at <= e.now {
        state = State::Idle;
        kind = kind.filter(|kind| *kind == StateKind::Background);
        since = idle_at;
        detail = format!(
            "registry says `{}`, and nothing happened for {}",
            claim.instance.entry.status.as_ref().map_or("", registry_states::spelled),
            registry_states::span(e.timeouts.idle)
        );
    }
    if !claim.is_certain() {
        detail.push_str(registry_states::OUT_OF_SIGHT);
    }
    if case.processes > 1 {
        let _ = write!(detail, "; {} processes run this session", case.processes);
    }
    Some(Ruling {
        state,
        kind,
        since,
        source: Source::Registry,
        confidence: if claim.is_certain() { word.confidence } else { Confidence::Inferred },
        detail,
        pid: Some(claim.pid()),
    })
}

pub(super) fn resumed(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim?;
    let turn = case.evidence.transcript.filter(TranscriptWitness::turn_is_open)?;
    let began = claim.instance.entry.started_at?.min(claim.at);
    (began > turn.last_activity_at).then(|| Ruling {
        state: State::WaitingForInput,
        kind: Some(StateKind::TurnEnded),
        since: began,
        source: Source::Process,
        confidence: Confidence::Inferred,
        detail: format!("process {} resumed the session after its last turn broke off", claim.pid()),
        pid: Some(claim.pid()),
    })
}

pub(super) fn child(case: &Case<'_>) -> Option<Ruling> {
    let e = case.evidence;
    let child = e.child.filter(|_| e.live)?;
    let guess = e.transcript.filter(|t| t.by_timeout && t.state == State::WaitingForApproval)?;
    let newest = guess.pending.iter().map(|call| call.since).max()?;
    (child.began > newest && child.began <= e.now).then(|| Ruling {
        state: State::Working,
        kind: None,
        since: guess.prompt_at.unwrap_or(newest).min(e.now),
        source: Source::Process,
        confidence: Confidence::Inferred,
        detail: format!("process {} began after the call, so the call runs", child.pid),
        pid: Some(child.pid),
    })
}

pub(super) fn status_file(case: &Case<'_>) -> Option<Ruling> {
    let (file, at) = case.status_file()?;
    let (state, kind) = file.file.status.state()?;
    let by_hooks = || case.hook_reading().is_some_and(|reading| reading.state != State::Ended);
    let spoken_for =
        case.claim.is_some_and(|claim| claim.word.is_some()) || by_hooks() || case.has_session_end_since(at);
    let outdated = case.activity().is_some_and(|activity| activity > at + SAME_EVENT);
    (!spoken_for && !outdated).then(|| Ruling {
        state,
        kind,
        since: at,
        source: Source::StatusFile,
        confidence: Confidence::Observed,
        detail: registry_states::status_detail(&file.file),
        pid: None,
    })
}

pub(super) fn transcript(case: &Case<'_>) -> Option<Ruling> {
    let reading = case.evidence.transcript?;
    Some(Ruling {
        state: reading.state,
        kind: reading.kind,
        since: reading.since,
        source: reading.source(),
        confidence: reading.confidence,
        detail: reading.detail.to_owned(),
        pid: None,
    })
}

/// No witness counts at this moment. The verdict dates from when the last one stopped counting, not from the moment
/// of the question: a verdict must not change while nothing happens.
pub(super) fn no_witness(case: &Case<'_>) -> Ruling {
    let silent = case.silent_since();
    let (since, source, detail) = match case.claim {
        Some(claim) => {
            let began = claim.instance.entry.started_at.unwrap_or(claim.at).min(claim.at);
            let detail = match case.hooks {
                Some(_) => format!("nothing more was heard of process {}", claim.pid()),
                None => format!("process {} has not said anything yet", claim.pid()),
            };
            (silent.unwrap_or(began), Source::Process, detail)
        }
        None => {
            let detail =
                if silent.is_some() { "nothing more was heard of it" } else { "nothing is known of it" };
            (silent.unwrap_or(case.evidence.now), Source::Transcript, detail.to_owned())
        }
    };
    let pid = case.claim.map(|claim| claim.pid());
    Ruling { state: State::Idle, kind: None, since, source, confidence: Confidence::Inferred, detail, pid }
}
