//! All data about one session at one time, borrowed from the engine, and the verdict on it.

use std::path::Path;
use std::sync::Arc;

use watchbill_agents::{Agent, traits};
use watchbill_core::chain::chains::Chains;
use watchbill_core::evidence::registry::{Liveness, RegistryStatus};
use watchbill_core::evidence::resolve::resolve;
use watchbill_core::evidence::witness::{
    ChildWitness, Evidence, InstanceWitness, TranscriptWitness, Verdict,
};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::QUESTION_LASTS;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::{Confidence, State, StateKind, Timeouts};
use watchbill_core::status_file::StatusWitness;
use watchbill_core::time::Timestamp;
use watchbill_core::user::Deferral;

use crate::model::parts::{Joined, Parts};
use crate::model::session::SessionData;
use crate::witnesses::hooks::HookSession;
use crate::witnesses::own::OwnWitness;
use crate::witnesses::processes_of;
use crate::witnesses::registry::Registry;
use crate::witnesses::status_lines::StatusWord;

/// All data for a row, borrowed from the engine.
pub struct RowInputs<'a> {
    /// The session.
    pub id: &'a SessionId,
    /// The engine's data about it.
    pub session: Option<&'a SessionData>,
    /// Its transcript's path and fold.
    pub fold: Option<(&'a Path, &'a SessionFold)>,
    /// The registry.
    pub registry: &'a Registry,
    /// The facts from its hooks.
    pub hooks: Option<&'a HookSession>,
    /// What the client says in its status line, and when.
    pub said: Option<&'a StatusWord>,
    /// The report of its host, if it is one of our own.
    pub own: Option<&'a OwnWitness>,
    /// The row of another own session stands for it.
    pub is_shown_by_host: bool,
    /// The content of its status file.
    pub status_file: Option<&'a StatusWitness>,
    /// The newest child of its process, if a call may have started it.
    pub child: Option<ChildWitness>,
    /// Its subagents that are sessions of their own.
    pub parts: Parts,
    /// All chains.
    pub chains: &'a Chains,
    /// How the user has set it aside: a snooze, or put away.
    pub set_aside: Option<&'a Deferral>,
    /// The name that the user gave it, by a file of the agent.
    pub given_name: Option<&'a Arc<str>>,
    /// The title that the model proposes.
    pub proposed_title: Option<&'a Arc<str>>,
    /// Whether live evidence counts.
    pub live: bool,
    /// The `[timeouts]`.
    pub timeouts: Timeouts,
    /// The current time.
    pub now: Timestamp,
}

impl RowInputs<'_> {
    /// The agent.
    pub fn agent(&self) -> Agent {
        let hosted = self.own.and_then(|own| own.spec.agent.agent());
        let by_file = || Some(self.session?.root.as_ref()?.agent);
        hosted.or_else(by_file).or_else(|| Some(self.hooks?.whose())).unwrap_or_default()
    }

    /// The processes that may run the session.
    pub fn instances(&self) -> Vec<InstanceWitness> {
        processes_of(self.registry, self.hooks.filter(|_| self.live), self.id)
    }
}

/// Weighs the witnesses of one session and of its subagents. `None` if the session has no witnesses.
pub fn joined_verdict<'a>(inputs: &'a RowInputs<'_>) -> Option<Joined<'a>> {
    let verdict = verdict(inputs)?;
    // The host of an own session knows of its subagents too.
    let hosted = inputs.own.is_some_and(|own| own.is_stream() && own.fold.is_live());
    Some(if hosted { Joined { verdict, asking: None, running: 0 } } else { inputs.parts.join(verdict) })
}

/// Weighs the witnesses of one session alone. `None` without a witness.
pub fn verdict(inputs: &RowInputs<'_>) -> Option<Verdict> {
    let instances = inputs.instances();
    let running: Vec<Instance> = instances.iter().map(|witness| witness.entry.instance.clone()).collect();
    let hooks = inputs.hooks.and_then(|hooks| hooks.witness(&running));
    if inputs.fold.is_none() && instances.is_empty() && hooks.is_none() && inputs.own.is_none() {
        return None;
    }
    let own = inputs.own.map(|own| own.fold.witness());
    let reading = inputs.fold.map(|(_, fold)| (fold.reading(), fold));
    let pending = &open_calls(inputs, &instances)[..];
    let mut transcript = reading.as_ref().map(|(reading, fold)| TranscriptWitness {
        state: reading.state,
        kind: reading.kind,
        since: reading.since,
        detail: &reading.detail,
        by_timeout: reading.by_timeout,
        confidence: reading.confidence,
        pending,
        last_activity_at: fold.facts().last_activity_at.unwrap_or(reading.since),
        prompt_at: fold.facts().prompt_at,
        follows_hooks: traits(inputs.agent()).transcript_follows_hooks,
    });
    if let (Some(witness), Some(call)) = (&mut transcript, asked_aside(inputs)) {
        (witness.state, witness.kind) = (State::WaitingForApproval, Some(StateKind::Permission));
        (witness.since, witness.detail) = (call.since, "a request for permission is open");
        (witness.by_timeout, witness.confidence) = (false, Confidence::Observed);
    }
    let facts = inputs.fold.map(|(_, fold)| fold.facts());
    let agent = inputs.agent();
    let expects = facts.is_some_and(|facts| {
        (traits(agent).expects_registry)(facts.version.as_deref(), facts.entrypoint.as_deref())
    });
    Some(resolve(&Evidence {
        now: inputs.now,
        transcript,
        instances: &instances,
        gone: inputs.registry.gone(inputs.id),
        registry_readable: (inputs.session.and_then(|session| session.root.as_ref()))
            .is_some_and(|root| inputs.registry.readable(root)),
        expects_registry: expects,
        hooks: hooks.as_ref(),
        own: own.as_ref(),
        status_file: inputs.status_file,
        child: inputs.child,
        live: inputs.live,
        timeouts: inputs.timeouts,
    }))
}

/// The oldest request for permission that a file beside the transcript tells. One from before the newest prompt or interruption, or of
/// another day, was left open: by a turn that was stopped, or by a process that is gone.
fn asked_aside<'a>(inputs: &'a RowInputs<'_>) -> Option<&'a PendingTool> {
    let (_, fold) = inputs.fold?;
    let reading = fold.reading();
    let stopped = (reading.kind == Some(StateKind::Interrupted)).then_some(reading.since);
    let is_open = |call: &&PendingTool| {
        fold.facts().prompt_at.max(stopped) <= Some(call.since) && inputs.now < call.since + QUESTION_LASTS
    };
    inputs.session?.asked.values().filter(is_open).min_by_key(|call| call.since)
}

/// The open calls that can still end. Leaves out calls from before the start of every process that runs the
/// session now: those ended with an earlier process.
pub fn open_calls(inputs: &RowInputs<'_>, instances: &[InstanceWitness]) -> Vec<PendingTool> {
    // The host is ahead of the transcript.
    if let Some(own) = inputs.own.filter(|own| own.is_stream() && own.fold.is_live()) {
        return own.fold.calls.clone();
    }
    let mut calls = inputs.fold.map(|(_, fold)| fold.pending_tools()).unwrap_or_default();
    if let Some(asked) = asked_aside(inputs) {
        // A file that tells only requests names the tool alone; the transcript has the call.
        let mut same = calls.iter().filter(|call| asked.target.is_empty() && call.tool == asked.tool);
        let only = same.next().filter(|_| same.next().is_none());
        return vec![only.unwrap_or(asked).clone()];
    }
    let running = instances.iter().filter(|witness| inputs.live && witness.liveness != Liveness::Dead);
    let asks = |witness: &InstanceWitness| matches!(witness.entry.status, Some(RegistryStatus::Waiting(_)));
    if calls.is_empty() && running.clone().any(asks) {
        calls = agents_calls(inputs);
    }
    if let Some(began) = running.map(|witness| witness.entry.started_at).min().flatten() {
        calls.retain(|call| call.since >= began);
    }
    calls
}

/// The open calls of running subagents, newest first. If the agent asks the user about one of them, it is the newest;
/// the earlier ones most likely run already.
fn agents_calls(inputs: &RowInputs<'_>) -> Vec<PendingTool> {
    let Some(session) = inputs.session else { return Vec::new() };
    let running = session.agent_calls.iter().filter(|(path, _)| session.agents_running.contains(*path));
    let mut calls: Vec<PendingTool> = running.flat_map(|(_, calls)| calls.iter().cloned()).collect();
    calls.sort_by_key(|call| std::cmp::Reverse(call.since));
    calls
}
