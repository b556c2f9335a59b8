//! All data about one session at one time, borrowed from the engine, and the verdict on it.

use std::path::Path;

use watchbill_core::chain::chains::Chains;
use watchbill_core::evidence::registry::{Liveness, RegistryStatus, expects_registry};
use watchbill_core::evidence::resolve::resolve;
use watchbill_core::evidence::witness::{
    ChildWitness, Evidence, InstanceWitness, TranscriptWitness, Verdict,
};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::person::Deferral;
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::status_file::StatusWitness;
use watchbill_core::time::Timestamp;

use crate::model::session::Session;
use crate::witnesses::hooks::HookSession;
use crate::witnesses::own::OwnSession;
use crate::witnesses::processes_of;
use crate::witnesses::registry::Registry;

/// All data for a row, borrowed from the engine.
pub struct RowInputs<'a> {
    /// The session.
    pub id: &'a SessionId,
    /// The engine's data about it.
    pub session: Option<&'a Session>,
    /// Its transcript's path and fold.
    pub fold: Option<(&'a Path, &'a SessionFold)>,
    /// The registry.
    pub registry: &'a Registry,
    /// The facts from its hooks.
    pub hooks: Option<&'a HookSession>,
    /// What its host told, if it is one of our own.
    pub own: Option<&'a OwnSession>,
    /// The content of its status file.
    pub status_file: Option<&'a StatusWitness>,
    /// The newest child of its process, if a call may have started it.
    pub child: Option<ChildWitness>,
    /// All chains.
    pub chains: &'a Chains,
    /// How the user has set it aside: a snooze, or put away.
    pub set_aside: Option<&'a Deferral>,
    /// Whether live evidence counts.
    pub live: bool,
    /// The source document's timeouts.
    pub timeouts: Timeouts,
    /// The current time.
    pub now: Timestamp,
}

impl RowInputs<'_> {
    /// The processes that may run the session.
    pub fn instances(&self) -> Vec<InstanceWitness> {
        processes_of(self.registry, self.hooks.filter(|_| self.live), self.id)
    }
}

/// Weighs the witnesses of one session. `None` if there are none.
pub fn verdict(makings: &RowInputs<'_>) -> Option<Verdict> {
    let instances = makings.instances();
    let running: Vec<Instance> = instances.iter().map(|witness| witness.entry.instance.clone()).collect();
    let hooks = makings.hooks.and_then(|told| told.witness(&running));
    if makings.fold.is_none() && instances.is_empty() && hooks.is_none() && makings.own.is_none() {
        return None;
    }
    let own = makings.own.map(|own| own.fold.witness());
    let reading = makings.fold.map(|(_, fold)| (fold.reading(), fold));
    let pending = &open_calls(makings, &instances)[..];
    let transcript = reading.as_ref().map(|(reading, fold)| TranscriptWitness {
        state: reading.state,
        kind: reading.kind,
        since: reading.since,
        detail: &reading.detail,
        by_timeout: reading.by_timeout,
        confidence: reading.confidence,
        pending,
        last_activity_at: fold.facts().last_activity_at.unwrap_or(reading.since),
        prompt_at: fold.facts().prompt_at,
    });
    let facts = makings.fold.map(|(_, fold)| fold.facts());
    let expects =
        facts.is_some_and(|facts| expects_registry(facts.version.as_deref(), facts.entrypoint.as_deref()));
    Some(resolve(&Evidence {
        now: makings.now,
        transcript,
        instances: &instances,
        gone: makings.registry.gone(makings.id),
        registry_readable: (makings.session.and_then(|session| session.root.as_ref()))
            .is_some_and(|root| makings.registry.readable(root)),
        expects_registry: expects,
        hooks: hooks.as_ref(),
        own: own.as_ref(),
        status_file: makings.status_file,
        child: makings.child,
        live: makings.live,
        timeouts: makings.timeouts,
    }))
}

/// The open calls that the user may still answer. Leaves out calls from before the start of every process that runs the
/// session now: those ended with an earlier process.
pub fn open_calls(makings: &RowInputs<'_>, instances: &[InstanceWitness]) -> Vec<PendingTool> {
    // The host is ahead of the transcript.
    if let Some(own) = makings.own.filter(|own| own.is_stream() && own.fold.is_live()) {
        return own.fold.calls.clone();
    }
    let mut calls = makings.fold.map(|(_, fold)| fold.pending_tools()).unwrap_or_default();
    let running = instances.iter().filter(|witness| makings.live && witness.liveness != Liveness::Dead);
    let asks = |witness: &InstanceWitness| matches!(witness.entry.status, Some(RegistryStatus::Waiting(_)));
    if calls.is_empty() && running.clone().any(asks) {
        calls = agents_calls(makings);
    }
    if let Some(began) = running.map(|witness| witness.entry.started_at).min().flatten() {
        calls.retain(|call| call.since >= began);
    }
    calls
}

/// The open calls of running subagents, newest first. If the client asks the user about one of them, it is the newest;
/// the earlier ones most likely run already.
fn agents_calls(makings: &RowInputs<'_>) -> Vec<PendingTool> {
    let Some(session) = makings.session else { return Vec::new() };
    let running = session.agent_calls.iter().filter(|(path, _)| session.agents_running.contains(*path));
    let mut calls: Vec<PendingTool> = running.flat_map(|(_, calls)| calls.iter().cloned()).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.since));
    calls
}
