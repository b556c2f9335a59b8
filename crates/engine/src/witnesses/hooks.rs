//! The facts from the agent's hooks, by session: a fold of the events, and facts that only the hook sender can see.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use watchbill_core::chain::HookMove;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry};
use watchbill_core::evidence::witness::InstanceWitness;
use watchbill_core::hook::{
    HookEvent, HookFold, HookMessage, HookMoves, HookOrigin, HookPayload, HookToolCall, HookTurn,
    HookWitness, TerminalContext,
};
use watchbill_core::ids::{Agent, Instance, SessionId};
use watchbill_core::session::refusals::{KNOWN_REFUSALS, Refusal, RefusalKind, Refusals};
use watchbill_core::time::Timestamp;
use watchbill_watch::process::Processes;

/// Number of sessions in memory. Beyond it, the engine forgets the one that was silent for longest; its transcript has
/// its state.
const MAX_SESSIONS: usize = 4096;
/// Number of terminals in memory for each session. Users seldom resume a session elsewhere.
const MAX_TERMINALS: usize = 16;
/// Number of refused calls in memory for each session: fewer than a transcript's fold tells apart.
const MAX_REFUSED: usize = KNOWN_REFUSALS / 2;

/// All facts from hooks.
#[derive(Debug, Default)]
pub struct Hooks {
    sessions: BTreeMap<SessionId, HookSession>,
    /// The sessions that each process has sent hooks for.
    by_pid: HashMap<u32, Vec<SessionId>>,
    moves: HookMoves,
}

/// The facts from the hooks of one session.
#[derive(Debug, Default)]
pub struct HookSession {
    /// The agent whose hooks they are.
    whose: Agent,
    fold: HookFold,
    /// The process of the newest event, its liveness, and the time when it took over the session.
    agent: Option<HookProcess>,
    /// The terminals that the events name, each with the time of its first event, oldest first.
    terminals: Vec<(Timestamp, Arc<TerminalContext>)>,
    cwd: Option<Arc<str>>,
    title: Option<Arc<str>>,
    model: Option<Arc<str>>,
    mode: Option<Arc<str>>,
    /// The present or future path of the session's transcript.
    pub transcript_path: Option<Arc<str>>,
    first_at: Option<Timestamp>,
    last_at: Timestamp,
    last_order: u64,
    /// The newest calls that the agent's reviewer refused: their ids, tools and times.
    refused: VecDeque<(Arc<str>, Arc<str>, Timestamp)>,
}

#[derive(Debug, Clone)]
struct HookProcess {
    instance: Instance,
    liveness: Liveness,
    started_at: Option<Timestamp>,
    heard_at: Timestamp,
    /// It sent an event while this system called it dead, so it runs in another process namespace.
    elsewhere: bool,
}

/// The effects of one event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookChange {
    /// The event is new.
    pub new: bool,
    /// A process to watch for its exit.
    pub watch: Option<u32>,
    /// Terminals or processes changed, and the chains depend on them.
    pub lives: bool,
}

impl Hooks {
    /// Takes in one event.
    pub fn take(
        &mut self,
        message: &HookMessage,
        payload: &HookPayload,
        processes: &dyn Processes,
    ) -> HookChange {
        let (origin, replayed) = (&message.origin, message.replayed);
        let mut change = HookChange::default();
        if !self.sessions.contains_key(&payload.session) {
            self.make_room();
        }
        let session = self.sessions.entry(payload.session.clone()).or_default();
        session.whose = message.agent;
        if !session.fold.apply(origin, payload) {
            return change;
        }
        change.new = true;
        // The boot clock orders events of one process. Another process may run on another boot.
        let same = session.agent() == origin.agent.as_ref();
        let is_newest = if same { origin.order >= session.last_order } else { origin.at >= session.last_at };
        session.note(origin, payload, is_newest);
        change.lives |= session.note_terminal(origin);
        change.lives |= self.moves.take(origin, payload);
        if is_newest && let Some(instance) = &origin.agent {
            change.watch = session.note_process(instance, origin, payload, replayed, processes);
            change.lives |= change.watch.is_some();
            let of_pid = self.by_pid.entry(instance.pid).or_default();
            if !of_pid.contains(&payload.session) {
                of_pid.push(payload.session.clone());
            }
        }
        change.lives |=
            matches!(payload.event, HookEvent::SessionStart { .. } | HookEvent::SessionEnd { .. });
        change
    }

    /// The clock was set back to `now`.
    pub fn turn_back(&mut self, now: Timestamp) {
        for session in self.sessions.values_mut() {
            session.fold.turn_back(now);
            session.last_at = session.last_at.min(now);
        }
    }

    /// A process may have ended: asks the system again. Gives the sessions that this changes.
    pub fn recheck(&mut self, pid: Option<u32>, processes: &dyn Processes) -> Vec<SessionId> {
        let concerned: Vec<SessionId> = match pid {
            Some(pid) => self.by_pid.get(&pid).cloned().unwrap_or_default(),
            None => self.sessions.keys().cloned().collect(),
        };
        let mut changed = Vec::new();
        for id in concerned {
            let Some(agent) = self.sessions.get_mut(&id).and_then(|session| session.agent.as_mut()) else {
                continue;
            };
            if agent.liveness == Liveness::Dead || agent.elsewhere {
                continue;
            }
            let now = processes.probe(&agent.instance, None);
            if std::mem::replace(&mut agent.liveness, now) != now {
                changed.push(id);
            }
        }
        changed
    }

    /// The facts of one session.
    pub fn of(&self, session: &SessionId) -> Option<&HookSession> {
        self.sessions.get(session)
    }

    /// Processes that went on with another session, by their hooks.
    pub fn moves(&self) -> Vec<HookMove> {
        self.moves.all()
    }

    /// Whether the process has left the session for another one. Some agents leave the old session id in the process's
    /// registry file.
    pub fn has_left(&self, process: &Instance, session: &SessionId) -> bool {
        let witness = self.of(session).and_then(|session| session.witness(std::slice::from_ref(process)));
        witness.is_some_and(|witness| matches!(witness.turn, HookTurn::Closed(reason) if reason.moves_on()))
    }

    /// All sessions with hooks.
    pub fn sessions(&self) -> impl Iterator<Item = (&SessionId, &HookSession)> {
        self.sessions.iter()
    }

    /// Whether a process of this id has sent hooks and runs.
    pub fn runs(&self, pid: u32) -> bool {
        let sessions = self.by_pid.get(&pid).into_iter().flatten();
        let agents = sessions.filter_map(|id| self.sessions.get(id)?.agent.as_ref());
        agents.into_iter().any(|agent| agent.instance.pid == pid && agent.liveness == Liveness::Alive)
    }

    /// The processes that were heard and run.
    pub fn running(&self) -> impl Iterator<Item = u32> {
        let agents = self.sessions.values().filter_map(|session| session.agent.as_ref());
        agents.filter(|agent| agent.liveness == Liveness::Alive).map(|agent| agent.instance.pid)
    }

    fn make_room(&mut self) {
        if self.sessions.len() < MAX_SESSIONS {
            return;
        }
        let oldest =
            self.sessions.iter().min_by_key(|(id, session)| (session.last_at, *id)).map(|(id, _)| id.clone());
        let Some(oldest) = oldest else { return };
        self.sessions.remove(&oldest);
        self.by_pid.retain(|_, sessions| {
            sessions.retain(|session| *session != oldest);
            !sessions.is_empty()
        });
    }
}

impl HookSession {
    fn note(&mut self, origin: &HookOrigin, payload: &HookPayload, is_newest: bool) {
        self.first_at = Some(self.first_at.map_or(origin.at, |first| first.min(origin.at)));
        let fill = |place: &mut Option<Arc<str>>, value: &Option<Arc<str>>, wins: bool| {
            if value.is_some() && (wins || place.is_none()) {
                place.clone_from(value);
            }
        };
        // Keep the folder of the launch; later ones change.
        fill(&mut self.cwd, &payload.cwd, false);
        fill(&mut self.transcript_path, &payload.transcript_path, is_newest);
        if payload.agent_id.is_none() {
            fill(&mut self.mode, &payload.permission_mode, is_newest);
        }
        if let HookEvent::SessionStart { model, title, .. } = &payload.event {
            fill(&mut self.model, model, is_newest);
            fill(&mut self.title, title, is_newest);
        }
        if let HookEvent::PermissionDenied(HookToolCall { id: Some(id), tool, .. }) = &payload.event {
            if self.refused.len() == MAX_REFUSED {
                self.refused.pop_front();
            }
            self.refused.push_back((Arc::clone(id), Arc::clone(tool), origin.at));
        }
        self.last_at = self.last_at.max(origin.at);
        if is_newest {
            self.last_order = origin.order;
        }
    }

    /// Notes the terminal. Says whether it is another one than before.
    fn note_terminal(&mut self, origin: &HookOrigin) -> bool {
        let Some(terminal) = &origin.terminal else { return false };
        let place = self.terminals.partition_point(|(since, _)| *since <= origin.at);
        if place.checked_sub(1).is_some_and(|n| *self.terminals[n].1 == *terminal) {
            return false;
        }
        match self.terminals.get_mut(place).filter(|(_, later)| **later == *terminal) {
            Some((since, _)) => *since = origin.at,
            None => self.terminals.insert(place, (origin.at, Arc::new(terminal.clone()))),
        }
        if self.terminals.len() > MAX_TERMINALS {
            self.terminals.remove(0);
        }
        true
    }

    /// Notes the process of the newest event. Gives a process to watch for its exit.
    fn note_process(
        &mut self,
        instance: &Instance,
        origin: &HookOrigin,
        payload: &HookPayload,
        replayed: bool,
        processes: &dyn Processes,
    ) -> Option<u32> {
        let starts = matches!(payload.event, HookEvent::SessionStart { .. }).then_some(origin.at);
        let known = self.agent.as_mut().filter(|agent| agent.instance == *instance);
        if let Some(agent) = known {
            agent.heard_at = origin.at;
            agent.started_at = agent.started_at.or(starts);
            return None;
        }
        let probed = processes.probe(instance, None);
        // The sender of a live event is alive, unless it ends the session or the turn. If this system does not know the
        // process, it runs in a container that shares our folder, and its id means nothing here.
        let leaves = matches!(payload.event, HookEvent::SessionEnd { .. } | HookEvent::Stop { .. });
        let elsewhere = probed == Liveness::Dead && !replayed && !leaves;
        let liveness = if elsewhere { Liveness::Unknown } else { probed };
        let (instance, heard_at) = (instance.clone(), origin.at);
        let pid = instance.pid;
        self.agent = Some(HookProcess { instance, liveness, started_at: starts, heard_at, elsewhere });
        (liveness == Liveness::Alive).then_some(pid)
    }

    /// The witness of the hooks, for the processes that are known to run the session.
    pub fn witness(&self, running: &[Instance]) -> Option<HookWitness> {
        self.fold.witness(running)
    }

    /// The sending process, in the form of a registry file without a status; `None` after it has ended the session.
    pub fn instance(&self, session: &SessionId) -> Option<InstanceWitness> {
        let agent = self.agent.as_ref()?;
        let turn = self.fold.witness(std::slice::from_ref(&agent.instance))?.turn;
        if matches!(turn, HookTurn::Closed(_)) {
            return None;
        }
        let entry = RegistryEntry {
            cwd: self.cwd.clone(),
            started_at: agent.started_at,
            ..RegistryEntry::unregistered(agent.instance.clone(), session.clone())
        };
        Some(InstanceWitness { entry, liveness: agent.liveness, seen_at: agent.heard_at })
    }

    /// The agent whose session it is.
    pub fn whose(&self) -> Agent {
        self.whose
    }

    /// The process of the newest event.
    pub fn agent(&self) -> Option<&Instance> {
        self.agent.as_ref().map(|agent| &agent.instance)
    }

    /// Its terminal.
    pub fn terminal(&self) -> Option<&Arc<TerminalContext>> {
        self.terminals.last().map(|(_, terminal)| terminal)
    }

    /// Its terminals, each with the time since when, oldest first.
    pub fn terminals(&self) -> &[(Timestamp, Arc<TerminalContext>)] {
        &self.terminals
    }

    /// `cwd` of the first event.
    pub fn cwd(&self) -> Option<&Arc<str>> {
        self.cwd.as_ref()
    }

    /// The title at the session's start.
    pub fn title(&self) -> Option<&Arc<str>> {
        self.title.as_ref()
    }

    /// The model at the session's start.
    pub fn model(&self) -> Option<&Arc<str>> {
        self.model.as_ref()
    }

    /// The newest permission mode.
    pub fn mode(&self) -> Option<&Arc<str>> {
        self.mode.as_ref()
    }

    /// Adds the refused calls that no transcript tells yet. Their targets are left out: the transcript, which follows
    /// within milliseconds, knows whether they may be shown. `until` is the time of its newest record.
    pub fn add_refused(&self, refusals: &mut Refusals, until: Option<Timestamp>) {
        for (id, tool, at) in &self.refused {
            let (tool, target) = (Arc::clone(tool), Arc::from(""));
            let refusal = Refusal { tool, target, at: *at, kind: RefusalKind::Blocked };
            refusals.add(id, refusal, Some(*at) > until);
        }
    }

    /// The time of the first event.
    pub fn first_at(&self) -> Option<Timestamp> {
        self.first_at
    }

    /// Number of events that came too late to be ordered.
    pub fn too_late(&self) -> u64 {
        self.fold.too_late()
    }
}
