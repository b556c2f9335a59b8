//! The rules about own sessions.

use std::fmt::Write;

use crate::evidence::case::{Case, Ruling};
use crate::evidence::hook_reading::Class;
use crate::evidence::registry::RegistryStatus;
use crate::evidence::registry_states;
use crate::evidence::sentences::TERMINAL_RUNS;
use crate::evidence::times::{AFTER_THE_END, GRACE};
use crate::hook::HookTurn;
use crate::own::witness::{OwnReading, OwnWitness};
use crate::roster::row::Source;
use crate::session::state::{Confidence, State, StateKind};

/// The session ended with its host, and no other process has it.
pub(super) fn ended(case: &Case<'_>) -> Option<Ruling> {
    let own = case.own().filter(|own| !own.live)?;
    let reading = own.reading.as_ref()?;
    // The registry file of a killed agent stays, and so does the one of a process that is just ending.
    let elsewhere = case.claim.is_some_and(|claim| claim.at > reading.since + AFTER_THE_END);
    let went_on = case.activity().is_some_and(|activity| activity > reading.since + AFTER_THE_END);
    (!elsewhere && !went_on).then(|| ruling(own, reading))
}

/// The host runs, and speaks for its agent.
pub(super) fn runs(case: &Case<'_>) -> Option<Ruling> {
    let own = case.own().filter(|own| own.live)?;
    let reading = own.reading.as_ref()?;
    let asks = reading.state == State::WaitingForApproval;
    if !asks && (has_other_process(case, own) || is_overtaken(case, reading)) {
        return None;
    }
    let mut ruling = ruling(own, reading);
    let idle_at = case.own_idle_at();
    if let Some(at) = idle_at.filter(|at| *at <= case.evidence.now) {
        ruling.state = State::Idle;
        ruling.kind = None;
        ruling.since = at;
        let span = registry_states::span(case.evidence.timeouts.idle);
        let _ = write!(ruling.detail, ", and nothing happened for {span}");
    }
    Some(ruling)
}

/// A terminal of ours runs an agent that has not had a prompt yet, so no answer waits for the user.
pub(super) fn unprompted(case: &Case<'_>) -> Option<Ruling> {
    case.own().filter(|own| own.live && own.reading.is_none())?;
    let claim = case.claim?;
    let rests = claim.instance.entry.status == Some(RegistryStatus::Idle);
    let has_begun = case.evidence.transcript.is_some_and(|transcript| !transcript.has_not_begun())
        || case.hooks.is_some_and(|hooks| !matches!(hooks.turn, HookTurn::Unreported | HookTurn::NoPrompt));
    (rests && !has_begun).then(|| Ruling {
        state: State::Idle,
        kind: None,
        since: claim.at,
        source: Source::Registry,
        confidence: Confidence::Observed,
        detail: "it has had no prompt yet".to_owned(),
        pid: Some(claim.pid()),
    })
}

/// A terminal of ours runs, and nothing says what happens in it.
pub(super) fn terminal(case: &Case<'_>) -> Option<Ruling> {
    let own = case.own().filter(|own| own.live)?;
    case.claim.is_none().then(|| Ruling {
        state: State::Idle,
        kind: None,
        since: own.last_at.min(case.evidence.now),
        source: own.way.source(),
        confidence: Confidence::Observed,
        detail: TERMINAL_RUNS.to_owned(),
        pid: own.pid,
    })
}

fn ruling(own: &OwnWitness, reading: &OwnReading) -> Ruling {
    Ruling {
        state: reading.state,
        kind: reading.kind,
        since: reading.since,
        source: own.way.source(),
        confidence: Confidence::Observed,
        detail: reading.detail.to_string(),
        pid: own.pid,
    }
}

/// Another process than the host's agent runs the session: a person has resumed it in a terminal.
fn has_other_process(case: &Case<'_>, own: &OwnWitness) -> bool {
    case.claim.is_some_and(|claim| claim.is_certain() && own.pid.is_some_and(|pid| pid != claim.pid()))
}

/// The registry says something else, and is newer.
fn is_overtaken(case: &Case<'_>, reading: &OwnReading) -> bool {
    let Some((claim, word)) = case.claim.and_then(|claim| Some((claim, claim.word?))) else { return false };
    let own = case.own().map_or(reading.since, |own| own.last_at.max(reading.since));
    let differs = Class::of(word.state, word.kind) != Class::of(reading.state, reading.kind);
    let background = claim.instance.entry.status == Some(RegistryStatus::Shell)
        && reading.kind == Some(StateKind::TurnEnded)
        && claim.at >= reading.since;
    background || differs && claim.at > own + GRACE
}
