//! The resolver: which witness decides a session's state.

use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

use crate::evidence::registry::{Liveness, RegistryStatus};
use crate::evidence::witness::{
    Departure, Evidence, GoneInstance, InstanceWitness, TranscriptWitness, Verdict, Witness,
};
use crate::evidence::words::{self, SAME_EVENT, Word, status_time};
use crate::roster::row::{Reason, Source};
use crate::session::state::{Confidence, State, StateKind};
use crate::time::{Millis, Timestamp};

/// How much newer than a registry's `idle` a turn's record must be to prove the registry stale. A turn
/// and its status are written within a second of each other; five in a thousand registries stand still.
const STALE_IDLE: Millis = Millis(1_500);
/// How much later than a process's end a record must be to prove that the session went on elsewhere.
const AFTER_THE_END: Millis = Millis(2_000);
/// How long after its newest record a session may be without a registry file before that counts: the
/// file may be half written, or for a moment carry the throw-away id of `--continue`.
const CLAIM_GRACE: Millis = Millis(2_000);
/// How long a registry may say `idle` between the end of the last subagent and the turn that reports it.
const LULL: Millis = Millis(1_000);

/// Weighs the witnesses of one session.
///
/// The rules in order of rank; the first one that speaks decides.
///
/// | rule | when | verdict |
/// |---|---|---|
/// | past | live evidence does not count | what the transcript says |
/// | crashed | every process of the session is dead and one left its registry file | ended, `crashed` |
/// | departed | the last process removed its file or went on with another session, and no record followed | ended |
/// | unclaimed | the client keeps a registry, the registry is readable, no process names the session | ended, inferred |
/// | faded | the process cannot be seen from here and has been silent for the idle timeout | idle, inferred |
/// | overtaken | the registry says `idle` or `shell`, and a record of a running turn is newer | what the transcript says |
/// | lull | the registry says `idle` since a moment ago, and the transcript shows subagents of an ended turn, or a turn begun since | what the transcript says |
/// | registry | the registry says a word that is known | its word; the transcript gives the finer kind |
/// | resumed | a process without a known word began after the newest record, and that shows a running turn | input, inferred: the turn died with the process before |
/// | transcript | nothing better speaks | what the transcript says |
/// | unheard | a process, and not one word | idle, inferred |
///
/// What the registry's words mean is the table in `words.rs`. Of several processes the one that
/// needs the person most decides, then the one with the newest status. A process that the system cannot
/// judge (another pid domain) counts, but its word is inferred.
pub fn resolve(evidence: &Evidence<'_>) -> Verdict {
    let case = Case::new(evidence);
    let ruling = RULES.iter().find_map(|rule| rule(&case)).unwrap_or_else(|| unheard(&case));
    case.verdict(ruling)
}

/// The table above, in code.
const RULES: [fn(&Case<'_>) -> Option<Ruling>; 10] =
    [past, crashed, departed, unclaimed, faded, overtaken, lull, registry, resumed, transcript];

/// The evidence of one session, sorted out.
struct Case<'a> {
    evidence: &'a Evidence<'a>,
    /// The process that speaks for the session, if one may run.
    claim: Option<Claim<'a>>,
    /// The newest of the dead ones that left their files.
    dead: Option<&'a InstanceWitness>,
    /// How many processes may run it.
    processes: usize,
}

/// A process that runs the session, and its registry's word.
#[derive(Clone, Copy)]
struct Claim<'a> {
    instance: &'a InstanceWitness,
    word: Option<Word>,
    at: Timestamp,
}

/// What a rule decides.
struct Ruling {
    state: State,
    kind: Option<StateKind>,
    since: Timestamp,
    source: Source,
    confidence: Confidence,
    detail: String,
    pid: Option<u32>,
}

impl<'a> Case<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Self {
        let instances = if evidence.live { evidence.instances } else { &[] };
        let claims = instances.iter().filter(|i| i.liveness != Liveness::Dead).map(|instance| Claim {
            instance,
            word: words::word_of(instance, evidence.transcript.as_ref(), evidence.now),
            at: status_time(instance, evidence.now),
        });
        let claim = claims.clone().max_by_key(|claim| {
            (
                claim.instance.liveness == Liveness::Alive,
                claim.word.map_or(0, Word::need),
                claim.at,
                Reverse(&claim.instance.entry.instance),
            )
        });
        let dead = instances
            .iter()
            .filter(|i| i.liveness == Liveness::Dead)
            .max_by_key(|i| (status_time(i, evidence.now), &i.entry.instance));
        Self { evidence, claim, dead, processes: claims.count() }
    }

    /// The time of the newest record, if there is a transcript; a time to come is taken for now.
    fn activity(&self) -> Option<Timestamp> {
        self.evidence.transcript.map(|t| t.last_activity_at.min(self.evidence.now))
    }

    /// When everything that could speak of the claimed session fell silent.
    fn quiet_since(&self, claim: Claim<'_>) -> Timestamp {
        match self.activity() {
            // The status of a turn's end comes a little after its last record. Were it to count, the
            // session would go idle twice: once by its records and once by the registry.
            Some(activity) if claim.at <= activity + SAME_EVENT => activity,
            _ => claim.at,
        }
    }

    fn idle_at(&self, claim: Claim<'_>) -> Timestamp {
        self.quiet_since(claim) + self.evidence.timeouts.idle
    }

    /// From when the absence of a registry file counts; `None` when it never does.
    fn unclaimed_at(&self) -> Option<Timestamp> {
        let e = self.evidence;
        let counts = e.live && self.claim.is_none() && e.registry_readable && e.expects_registry;
        self.activity().filter(|_| counts).map(|activity| activity + CLAIM_GRACE)
    }

    /// Until when the registry's `idle` may be the gap before the subagents' report begins a turn of its own.
    fn lull_until(&self) -> Option<Timestamp> {
        let claim = self.claim.filter(|claim| claim.instance.entry.status == Some(RegistryStatus::Idle))?;
        // The report itself may be written before `busy` is: then the turn has begun after the `idle`.
        let goes_on = |t: &TranscriptWitness<'_>| {
            t.turn_is_open() && (t.kind == Some(StateKind::Background) || t.since > claim.at)
        };
        self.evidence.transcript.filter(goes_on).map(|_| claim.at + LULL)
    }

    /// The last process, unless the session went on without it.
    fn departure(&self) -> Option<&'a GoneInstance> {
        let e = self.evidence;
        let gone = e.gone.filter(|_| e.live && self.claim.is_none())?;
        let outlived = self.activity().is_some_and(|activity| activity > gone.at + AFTER_THE_END);
        (!outlived).then_some(gone)
    }

    fn verdict(&self, ruling: Ruling) -> Verdict {
        let faded = ruling.source == Source::Timeout && self.claim.is_some_and(|c| !c.is_certain());
        let live = self.claim.is_some() && !faded;
        let here = self.claim.filter(|claim| claim.is_certain()).map(|claim| &claim.instance.entry);
        let reason = Reason {
            source: ruling.source,
            detail: Arc::from(ruling.detail.as_str()),
            confidence: ruling.confidence,
        };
        Verdict {
            state: ruling.state,
            kind: ruling.kind,
            since: ruling.since,
            pid: here.map(|entry| entry.instance.pid),
            tmux: here.and_then(|entry| entry.tmux.clone()),
            live,
            processes: self.processes,
            next: self.next(),
            witnesses: self.witnesses(&ruling, &reason),
            reason,
        }
    }

    /// The earliest time to come at which some rule may speak differently.
    fn next(&self) -> Option<Timestamp> {
        let decays = self.claim.filter(|c| !c.is_certain() || c.word.is_some_and(Word::is_quiet));
        let idle = decays.map(|claim| self.idle_at(claim));
        let settled = decays.and_then(|claim| words::settled_at(&self.evidence.transcript?, claim.at));
        let times = [idle, self.unclaimed_at(), self.lull_until(), settled];
        times.into_iter().flatten().filter(|at| *at > self.evidence.now).min()
    }

    /// Everybody who was heard: the winner, then by rank of the source and newest first.
    fn witnesses(&self, ruling: &Ruling, reason: &Reason) -> Vec<Witness> {
        let winner = Witness {
            source: ruling.source,
            state: Some(ruling.state),
            kind: ruling.kind,
            at: Some(ruling.since),
            pid: ruling.pid,
            detail: Arc::clone(&reason.detail),
            confidence: ruling.confidence,
            winner: true,
        };
        let e = self.evidence;
        let mut others = Vec::new();
        if e.live {
            for instance in e.instances {
                others.push(words::process_witness(instance, status_time(instance, e.now)));
                others.extend(words::registry_witness(instance, e.transcript.as_ref(), e.now));
            }
            others.extend(e.gone.map(words::gone_witness));
        }
        others.extend(e.transcript.as_ref().map(words::transcript_witness));
        others.retain(|other| (other.source, other.pid) != (winner.source, winner.pid));
        let rank = |source: Source| match source {
            Source::Process => 0,
            Source::Hook | Source::Pty => 1,
            Source::Registry => 2,
            Source::StatusFile => 3,
            Source::Transcript => 4,
            Source::Timeout => 5,
        };
        others.sort_by_key(|w| (rank(w.source), Reverse(w.at), w.pid, Arc::clone(&w.detail)));
        others.insert(0, winner);
        others
    }
}

impl Claim<'_> {
    /// The system confirms that the process runs.
    fn is_certain(&self) -> bool {
        self.instance.liveness == Liveness::Alive
    }

    fn pid(&self) -> u32 {
        self.instance.entry.instance.pid
    }
}

fn past(case: &Case<'_>) -> Option<Ruling> {
    if case.evidence.live { None } else { transcript(case) }
}

fn crashed(case: &Case<'_>) -> Option<Ruling> {
    let dead = case.dead.filter(|_| case.claim.is_none())?;
    let left_at = status_time(dead, case.evidence.now);
    if case.departure().is_some_and(|gone| gone.how != Departure::FileLeft && gone.at > left_at) {
        return None;
    }
    let pid = dead.entry.instance.pid;
    let mut detail = format!("process {pid} is gone without a goodbye");
    if let Some(status) = &dead.entry.status {
        let _ = write!(detail, "; its registry file still says `{}`", words::spelled(status));
    }
    Some(Ruling {
        state: State::Ended,
        kind: Some(StateKind::Crashed),
        // Nobody wrote down when it died; its last sign of life is the same for every reader.
        since: case.activity().map_or(left_at, |activity| activity.max(left_at)),
        source: Source::Process,
        confidence: Confidence::Observed,
        detail,
        pid: Some(pid),
    })
}

fn departed(case: &Case<'_>) -> Option<Ruling> {
    let gone = case.departure()?;
    let witness = words::gone_witness(gone);
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

fn unclaimed(case: &Case<'_>) -> Option<Ruling> {
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

fn faded(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim.filter(|claim| !claim.is_certain())?;
    let at = case.idle_at(claim);
    (at <= case.evidence.now).then(|| Ruling {
        state: State::Idle,
        kind: None,
        since: at,
        source: Source::Timeout,
        confidence: Confidence::Inferred,
        detail: format!(
            "nothing for {}, and process {} cannot be seen from here",
            words::span(case.evidence.timeouts.idle),
            claim.pid()
        ),
        pid: Some(claim.pid()),
    })
}

fn overtaken(case: &Case<'_>) -> Option<Ruling> {
    let rests = |status: &RegistryStatus| matches!(status, RegistryStatus::Idle | RegistryStatus::Shell);
    let claim = case.claim.filter(|claim| claim.instance.entry.status.as_ref().is_some_and(rests))?;
    let turn = case.evidence.transcript.filter(TranscriptWitness::turn_is_open)?;
    // A record of a time to come was stamped by another clock: it is newer than nothing.
    let comparable = turn.last_activity_at <= case.evidence.now + STALE_IDLE;
    (comparable && turn.last_activity_at > claim.at + STALE_IDLE).then(|| transcript(case)).flatten()
}

fn lull(case: &Case<'_>) -> Option<Ruling> {
    case.lull_until().filter(|until| case.evidence.now < *until)?;
    transcript(case)
}

fn registry(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim?;
    let word = claim.word?;
    let e = case.evidence;
    let mut detail = words::detail(&claim.instance.entry, word, e.transcript.as_ref());
    let (mut state, mut kind, mut since) = (word.state, word.kind, claim.at);
    let idle_at = case.idle_at(claim);
    if word.is_quiet() && idle_at <= e.now {
        state = State::Idle;
        kind = kind.filter(|kind| *kind == StateKind::Background);
        since = idle_at;
        detail = format!(
            "registry says `{}`, and nothing happened for {}",
            claim.instance.entry.status.as_ref().map_or("", words::spelled),
            words::span(e.timeouts.idle)
        );
    }
    if !claim.is_certain() {
        detail.push_str("; the process cannot be seen from here");
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

fn resumed(case: &Case<'_>) -> Option<Ruling> {
    let claim = case.claim?;
    let turn = case.evidence.transcript.filter(TranscriptWitness::turn_is_open)?;
    let began = claim.instance.entry.started_at?.min(claim.at);
    (began > turn.last_activity_at).then(|| Ruling {
        state: State::WaitingForInput,
        kind: Some(StateKind::TurnEnded),
        since: began,
        source: Source::Process,
        confidence: Confidence::Inferred,
        detail: format!("process {} took the session up after its last turn broke off", claim.pid()),
        pid: Some(claim.pid()),
    })
}

fn transcript(case: &Case<'_>) -> Option<Ruling> {
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

fn unheard(case: &Case<'_>) -> Ruling {
    let (since, source, detail, pid) = match case.claim {
        Some(claim) => {
            let entry = &claim.instance.entry;
            let since = entry.started_at.unwrap_or(claim.at).min(claim.at);
            let detail = format!("process {} has not said anything yet", claim.pid());
            (since, Source::Process, detail, Some(claim.pid()))
        }
        None => (case.evidence.now, Source::Transcript, "nothing is known of it".into(), None),
    };
    Ruling { state: State::Idle, kind: None, since, source, confidence: Confidence::Inferred, detail, pid }
}
