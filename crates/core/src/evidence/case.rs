//! The sorted evidence of one session: which process and which hooks speak for it, and until when. It also turns a
//! ruling into a verdict.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

use crate::evidence::hook_reading::{self, HookReading, RegistryStatusAt};
use crate::evidence::registry::{Liveness, RegistryStatus};
use crate::evidence::registry_states::{self, StatusReading, status_time};
use crate::evidence::times::{AFTER_THE_END, CLAIM_GRACE, GRACE, REPORT_GAP, SAME_EVENT};
use crate::evidence::witness::{
    Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, Witness,
};
use crate::hook::{HookTurn, HookWitness};
use crate::ids::Instance;
use crate::own::witness::OwnWitness;
use crate::roster::pending;
use crate::roster::row::{PendingTool, Reason, Source};
use crate::session::state::{Confidence, State, StateKind};
use crate::status_file::{Status, StatusWitness};
use crate::time::Timestamp;

/// The sorted evidence of one session.
pub(super) struct Case<'a> {
    pub evidence: &'a Evidence<'a>,
    /// The process that speaks for the session, if one may run.
    pub claim: Option<Claim<'a>>,
    /// The newest dead process that left its registry file.
    pub dead: Option<&'a InstanceWitness>,
    /// How many processes may run the session.
    pub processes: usize,
    /// The hooks of the claiming process, or of a process that is not known to be dead.
    pub hooks: Option<&'a HookWitness>,
}

/// A process that runs the session, with the state that its registry status stands for.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub instance: &'a InstanceWitness,
    pub word: Option<StatusReading>,
    pub at: Timestamp,
}

/// The decision of a rule.
pub(super) struct Ruling {
    pub state: State,
    pub kind: Option<StateKind>,
    pub since: Timestamp,
    pub source: Source,
    pub confidence: Confidence,
    pub detail: String,
    pub pid: Option<u32>,
}

impl Ruling {
    pub fn reason(&self) -> Reason {
        Reason { source: self.source, detail: Arc::from(self.detail.as_str()), confidence: self.confidence }
    }
}

impl<'a> Case<'a> {
    pub fn new(evidence: &'a Evidence<'a>) -> Self {
        let instances = if evidence.live { evidence.instances } else { &[] };
        let hooks =
            evidence.hooks.filter(|hooks| evidence.live && hooks_may_count(hooks, evidence, instances));
        let claims = instances.iter().filter(|i| i.liveness != Liveness::Dead).map(|instance| {
            let own = hooks.filter(|hooks| of_process(hooks, &instance.entry.instance));
            Claim {
                instance,
                word: registry_states::read_status(instance, evidence.transcript.as_ref(), own, evidence.now),
                at: status_time(instance, evidence.now),
            }
        });
        let claim = claims.clone().max_by_key(|claim| {
            (
                claim.instance.liveness == Liveness::Alive,
                claim.word.map_or(0, StatusReading::need),
                claim.at,
                Reverse(&claim.instance.entry.instance),
            )
        });
        let of_claim = |hooks: &&HookWitness| {
            claim.is_none_or(|claim| of_process(hooks, &claim.instance.entry.instance))
        };
        let dead = instances
            .iter()
            .filter(|i| i.liveness == Liveness::Dead)
            .max_by_key(|i| (status_time(i, evidence.now), &i.entry.instance));
        Self { evidence, claim, dead, processes: claims.count(), hooks: hooks.filter(of_claim) }
    }

    /// The time of the newest record, if there is a transcript. A time in the future counts as now.
    pub fn activity(&self) -> Option<Timestamp> {
        self.evidence.transcript.map(|t| t.last_activity_at.min(self.evidence.now))
    }

    /// The time of the newest record or hook event.
    fn sign_of_life(&self) -> Option<Timestamp> {
        self.activity().max(self.hooks.map(|hooks| hooks.newest_event_at.min(self.evidence.now)))
    }

    /// When the last witness other than the transcript stopped counting: hooks, a status file, and, if no process is
    /// left, processes that are gone. A `SessionEnd` hook does not count while a process is there.
    pub fn silent_since(&self) -> Option<Timestamp> {
        let e = self.evidence;
        let hooks =
            self.hooks.filter(|hooks| self.claim.is_none() || !matches!(hooks.turn, HookTurn::Closed(_)));
        let file = e.status_file.map(|file| match file.file.status.state() {
            Some(_) if !self.has_session_end_since(file.at(e.now)) => file.until(e.now),
            _ => file.at(e.now),
        });
        let left = |at: Option<Timestamp>| at.filter(|_| e.live && self.claim.is_none());
        let gone = left(e.gone.map(|gone| gone.at));
        let dead = left(self.dead.map(|dead| status_time(dead, e.now)));
        let hooks = hooks.map(|hooks| hook_reading::silent_since(hooks, e.timeouts));
        [gone, dead, hooks, file].into_iter().flatten().map(|at| at.min(e.now)).max()
    }

    /// Whether a hook reported the end of the session at this time or later. Then earlier statements no longer hold,
    /// even if a process has resumed the session.
    pub fn has_session_end_since(&self, at: Timestamp) -> bool {
        self.hooks.is_some_and(|hooks| matches!(hooks.turn, HookTurn::Closed(_)) && hooks.since >= at)
    }

    /// What the host of an own session says.
    pub fn own(&self) -> Option<&'a OwnWitness> {
        self.evidence.own.filter(|_| self.evidence.live)
    }

    /// When a turn of an own session that has ended is long enough ago.
    pub fn own_idle_at(&self) -> Option<Timestamp> {
        let own = self.own()?;
        let rests = own.live && own.reading.as_ref()?.state == State::WaitingForInput;
        rests.then(|| own.last_at.min(self.evidence.now) + self.evidence.timeouts.idle)
    }

    /// The hooks' reading at this moment, compared with the other witnesses.
    pub fn hook_reading(&self) -> Option<HookReading<'a>> {
        let registered = self.claim.and_then(|claim| {
            let status = claim.instance.entry.status.as_ref()?;
            Some(RegistryStatusAt { status, at: claim.at })
        });
        hook_reading::checked_reading(self.hooks?, self.evidence, registered)
    }

    /// Since when every witness of the claimed session has been silent.
    fn quiet_since(&self, claim: Claim<'_>) -> Timestamp {
        match self.sign_of_life() {
            // The status of a turn's end comes a little after its last record. If it counted, the session would go
            // idle twice: once by its records and once by the registry.
            Some(activity) if claim.at <= activity + SAME_EVENT => activity,
            _ => claim.at,
        }
    }

    pub fn idle_at(&self, claim: Claim<'_>) -> Timestamp {
        self.quiet_since(claim) + self.evidence.timeouts.idle
    }

    /// When a session that waits for input, by its hooks alone, becomes idle.
    pub fn idle_at_by_hooks(&self, reading: &HookReading<'_>) -> Timestamp {
        self.sign_of_life().map_or(reading.edge, |at| at.max(reading.edge)) + self.evidence.timeouts.idle
    }

    /// From when on a missing registry file counts; `None` when it never does.
    pub fn unclaimed_at(&self) -> Option<Timestamp> {
        let e = self.evidence;
        // The host of an own session starts the agent with the first prompt.
        let hosted = self.own().is_some_and(|own| own.live);
        let counts = e.live && self.claim.is_none() && !hosted && e.registry_readable && e.expects_registry;
        self.sign_of_life().filter(|_| counts).map(|activity| activity + CLAIM_GRACE)
    }

    /// Until when the registry's `idle` may be the gap before the subagents' report begins a turn of its own.
    pub fn report_gap_until(&self) -> Option<Timestamp> {
        // A status from before the clock was set back is no gap: it would last until the clock has caught up.
        let is_past =
            |claim: &Claim<'_>| registry_states::status_written_at(claim.instance) <= self.evidence.now;
        let idle = |claim: &Claim<'_>| claim.instance.entry.status == Some(RegistryStatus::Idle);
        let claim = self.claim.filter(|claim| idle(claim) && is_past(claim))?;
        // The report itself may be written before `busy` is: then the turn has begun after the `idle`.
        let goes_on = |t: &TranscriptWitness<'_>| {
            t.turn_is_open() && (t.kind == Some(StateKind::Background) || t.since > claim.at)
        };
        let by_records = self.evidence.transcript.filter(goes_on).is_some();
        (by_records || self.agents_just_ended(claim)).then_some(claim.at + REPORT_GAP)
    }

    /// A hook reported that the last subagent of an ended turn has ended, and nothing has begun since.
    pub fn agents_just_ended(&self, claim: Claim<'_>) -> bool {
        self.hooks.is_some_and(|hooks| {
            let ended = hooks.agents_ended.filter(|at| *at >= hooks.since && claim.at <= *at + SAME_EVENT);
            ended.is_some() && matches!(hooks.turn, HookTurn::Ended { .. })
        })
    }

    /// The last process, unless the session went on without it.
    pub fn departure(&self) -> Option<&'a GoneInstance> {
        let e = self.evidence;
        let gone = e.gone.filter(|_| e.live && self.claim.is_none())?;
        let outlived = self.activity().is_some_and(|activity| activity > gone.at + AFTER_THE_END);
        let elsewhere = self.hooks.is_some_and(|hooks| {
            let other = hooks.agent.as_ref().is_some_and(|agent| !agent.may_be(&gone.instance));
            hooks.newest_event_at > gone.at + AFTER_THE_END || other && hooks.newest_event_at > gone.at
        });
        (!outlived && !elsewhere).then_some(gone)
    }

    /// The status file, while it counts.
    pub fn status_file(&self) -> Option<(&'a StatusWitness, Timestamp)> {
        let e = self.evidence;
        let file = e.status_file.filter(|file| e.now < file.until(e.now))?;
        Some((file, file.at(e.now)))
    }

    pub fn verdict(&self, ruling: &Ruling, reason: Reason, witnesses: Vec<Witness>) -> Verdict {
        let faded = ruling.source == Source::Timeout && self.claim.is_some_and(|c| !c.is_certain());
        let hosted = self.own().filter(|own| own.live);
        let live = (self.claim.is_some() && !faded || hosted.is_some()) && ruling.state != State::Ended;
        let here = self.claim.filter(|claim| live && claim.is_certain()).map(|claim| &claim.instance.entry);
        Verdict {
            state: ruling.state,
            kind: ruling.kind,
            since: ruling.since,
            pid: here.map(|entry| entry.instance.pid).or(hosted.and_then(|own| own.pid)),
            tmux: here.and_then(|entry| entry.tmux.clone()),
            live,
            processes: self.processes,
            ask: self.asked_call(ruling),
            next: self.next(),
            witnesses,
            reason,
        }
    }

    /// Adds how the turn ended, by the status file, if a better witness only reports that it ended.
    pub fn with_status_file(&self, mut ruling: Ruling) -> Ruling {
        let ended = (ruling.state, ruling.kind) == (State::WaitingForInput, Some(StateKind::TurnEnded));
        let Some((file, at)) = self.status_file().filter(|_| ended) else { return ruling };
        let finer = [Status::Completed, Status::Blocked, Status::Error].contains(&file.file.status);
        // The file must be about the turn that ended, not about an earlier one.
        let hooks = self.hooks.and_then(|hooks| hooks.prompt_at);
        let began = hooks.max(self.evidence.transcript.and_then(|t| t.prompt_at));
        if finer && began.is_none_or(|began| at >= began) {
            ruling.kind = file.file.status.state().and_then(|(_, kind)| kind);
            let _ = write!(ruling.detail, "; {}", registry_states::status_detail(&file.file));
        }
        ruling
    }

    /// The call that the user is asked about.
    fn asked_call(&self, ruling: &Ruling) -> Option<PendingTool> {
        if ruling.state != State::WaitingForApproval {
            return None;
        }
        if let Some(ask) = self.own().and_then(|own| own.reading.as_ref()?.ask.as_ref()) {
            return Some(ask.clone());
        }
        let by_hooks = self.hook_reading().and_then(|reading| reading.ask).filter(|ask| !ask.tool.is_empty());
        let named = by_hooks.map(|ask| PendingTool {
            id: ask.call.clone().unwrap_or_default(),
            tool: Arc::clone(&ask.tool),
            target: Arc::clone(&ask.target),
            since: ask.at,
        });
        named.or_else(|| pending::principal(self.evidence.transcript?.pending).cloned())
    }

    /// The earliest future time at which a rule may decide differently.
    fn next(&self) -> Option<Timestamp> {
        let e = self.evidence;
        let decays = self.claim.filter(|c| !c.is_certain() || c.word.is_some_and(StatusReading::is_quiet));
        let idle = decays.map(|claim| self.idle_at(claim));
        // Every quiet process is listed as a witness with how the turn ended, even if it does not decide. Its time is
        // not limited to now: otherwise, after the clock was set back, the session would be evaluated twice a second
        // until the clock has caught up.
        let quiet = |i: &&InstanceWitness| {
            matches!(i.entry.status, Some(RegistryStatus::Idle | RegistryStatus::Shell))
        };
        let quiet = e.instances.iter().filter(|_| e.live).filter(quiet);
        let settled = quiet.filter_map(|i| {
            registry_states::settled_at(&e.transcript?, registry_states::status_written_at(i))
        });
        let hooks = e
            .hooks
            .filter(|_| e.live)
            .into_iter()
            .flat_map(|hooks| hook_reading::turning_points(hooks, e.timeouts));
        let rests = self.hook_reading().map(|reading| self.idle_at_by_hooks(&reading));
        let compacting = self.hooks.is_some_and(|hooks| hooks.compacting.is_some());
        let ended = e.transcript.filter(|_| compacting).map(|t| t.since + GRACE);
        let file = e.status_file.map(|file| file.until(e.now));
        let own = self.own_idle_at();
        let times = [idle, self.unclaimed_at(), self.report_gap_until(), rests, ended, file, own];
        times.into_iter().flatten().chain(settled).chain(hooks).filter(|at| *at > e.now).min()
    }
}

/// Whether the hooks are, as far as known, of this process.
pub(super) fn of_process(hooks: &HookWitness, process: &Instance) -> bool {
    hooks.agent.as_ref().is_none_or(|agent| agent.may_be(process))
}

/// Whether the hooks are of a process that may still run the session.
fn hooks_may_count(hooks: &HookWitness, e: &Evidence<'_>, instances: &[InstanceWitness]) -> bool {
    let Some(agent) = &hooks.agent else { return true };
    let known = instances.iter().find(|i| i.entry.instance.may_be(agent));
    let dead = known.is_some_and(|i| i.liveness == Liveness::Dead);
    let gone = e.gone.is_some_and(|gone| gone.instance.may_be(agent)) && known.is_none();
    // The `SessionEnd` of a process that is gone still counts: it reports the same departure.
    !dead && (!gone || matches!(hooks.turn, HookTurn::Closed(_)))
}

impl Claim<'_> {
    /// The system confirms that the process runs.
    pub fn is_certain(&self) -> bool {
        self.instance.liveness == Liveness::Alive
    }

    pub fn pid(&self) -> u32 {
        self.instance.entry.instance.pid
    }
}
