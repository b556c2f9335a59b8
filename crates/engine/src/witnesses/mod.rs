//! All witnesses of sessions beside the transcripts: registry, hooks, markers, status files, child processes.
pub mod children;
pub mod folders;
pub mod hooks;
pub mod markers;
pub mod names;
pub mod own;
pub(crate) mod own_hosts;
pub mod registry;
pub mod status_files;
pub mod status_lines;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::traits::ServerStatus;
use watchbill_core::chain::Neighbour;
use watchbill_core::chain::lineage::{HookMove, Marker, Neighbours, RegistryMove};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::witness::{ChildWitness, InstanceWitness};
use watchbill_core::hook::{HookMessage, HookPayload, TerminalContext};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::Problem;
use watchbill_core::status_file::StatusWitness;
use watchbill_core::time::Timestamp;
use watchbill_history::memory::model::child::agent_folder;

use crate::model::problem_report::ProblemReport;
use crate::persist::changes::SeenFacts;
use crate::world::environment::StepContext;
use children::{ChildChange, ChildQuestion, Children};
use folders::{FolderActions, FolderLook, Folders, Repository};
use hooks::{HookChange, HookSession, Hooks};
use markers::Markers;
use names::Names;
use registry::locks::SessionLock;
use registry::{Registry, RegistryChange};
use status_files::StatusFiles;

/// Limit of sessions whose neighbours at the beginning are known. Only a faulty program makes more.
const MAX_NEIGHBOURS: usize = 4096;

/// All witnesses except the transcripts.
#[derive(Default)]
pub(crate) struct Witnesses {
    registry: Registry,
    hooks: Hooks,
    folders: Folders,
    markers: Markers,
    neighbours: Neighbours,
    status_files: StatusFiles,
    children: Children,
    names: Names,
}

/// The effects of a look at a working folder.
pub(crate) struct LookChange {
    /// There is a new marker.
    pub markers: bool,
    /// Sessions whose status files changed.
    pub sessions: Vec<SessionId>,
    /// The time to read a half-written file again.
    pub again: Option<Timestamp>,
    /// The folder now lies in another repository.
    pub moved: bool,
}

impl Witnesses {
    /// The registry as it was read.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The names that users gave to sessions.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The same, mutable.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// All facts from hooks.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Reads one registry file, or removes one that is gone.
    pub fn read_registry(
        &mut self,
        path: &Path,
        env: &StepContext,
        problems: &mut ProblemReport,
    ) -> RegistryChange {
        problems.touch();
        self.registry.hide(env.settings().data_dir.as_deref().map(agent_folder));
        self.registry.read(path, env.now(), env.fs(), env.processes(), problems.met_mut())
    }

    /// Looks at the lock of a session.
    pub fn look_at_lock(&mut self, path: &Path, lock: SessionLock, env: &StepContext) -> RegistryChange {
        self.registry.look_at_lock(path, lock, env.now(), env.fs(), env.processes())
    }

    /// Takes in the words of an agent's server on its sessions.
    pub fn hear_server(&mut self, root: &Path, said: ServerStatus, now: Timestamp) -> RegistryChange {
        self.registry.hear(root, said, now)
    }

    /// An agent's server no longer answers.
    pub fn server_gone(&mut self, root: &Path) -> RegistryChange {
        self.registry.server_gone(root)
    }

    /// A registry file now lies outside every root.
    pub fn forget_registry(&mut self, path: &Path, now: Timestamp) -> RegistryChange {
        self.registry.forget(path, now)
    }

    /// A process in the registry may have ended; `None`: any may have.
    pub fn recheck_registry(&mut self, pid: Option<u32>, env: &StepContext) -> RegistryChange {
        self.registry.recheck(pid, env.processes())
    }

    /// Notes whether the registry folder of `root` can be listed. Says whether that changed.
    pub fn set_readable(&mut self, root: &Path, readable: bool) -> bool {
        self.registry.set_readable(root, readable)
    }

    /// Takes in a hook event. Gives its effects, and says whether it came too late to be ordered.
    pub fn hear(
        &mut self,
        message: &HookMessage,
        payload: &HookPayload,
        env: &StepContext,
    ) -> (HookChange, bool) {
        let late = |hooks: &Hooks| hooks.of(&payload.session).map_or(0, HookSession::too_late);
        let before = late(&self.hooks);
        let change = self.hooks.take(message, payload, env.processes());
        (change, late(&self.hooks) > before)
    }

    /// The clock was set back to `now`.
    pub fn turn_back(&mut self, now: Timestamp) {
        self.hooks.turn_back(now);
    }

    /// A process that sent hooks may have ended. Gives the sessions that this changes.
    pub fn recheck_hooks(&mut self, pid: Option<u32>, env: &StepContext) -> Vec<SessionId> {
        self.hooks.recheck(pid, env.processes())
    }

    /// The processes that run, of registry files and hooks.
    pub fn running_processes(&self) -> Vec<u32> {
        let registered = self.registry.all().filter(|witness| witness.liveness == Liveness::Alive);
        registered.map(|witness| witness.entry.instance.pid).chain(self.hooks.running()).collect()
    }

    /// Whether a registry file or a hook names a process of this id, and it runs.
    pub fn is_heard(&self, pid: u32) -> bool {
        self.registry.runs(pid) || self.hooks.runs(pid)
    }

    /// Looks at the child processes of a session, if a call is open and no better witness tells whether it runs.
    pub fn look_at_children(
        &mut self,
        id: &SessionId,
        question: Option<ChildQuestion>,
        env: &StepContext,
    ) -> ChildChange {
        let mut change =
            self.children.look(id, question, env.settings().timeouts.approval, env.now(), env.processes());
        // A tool call may have started another client, which has its own watch.
        change.forget = change.forget.filter(|pid| !self.is_heard(*pid));
        change
    }

    /// The newest child of a session's process, if a call may have started it.
    pub fn child_of(&self, id: &SessionId) -> Option<ChildWitness> {
        self.children.of(id)
    }

    /// The sessions that wait for the end of this child; `None`: of any child.
    pub fn waits_for_child(&self, pid: Option<u32>) -> Vec<SessionId> {
        self.children.concerned(pid)
    }

    /// The processes that may run a session. Without `live`, only the registry's.
    pub fn processes_of(&self, id: &SessionId, live: bool) -> Vec<InstanceWitness> {
        processes_of(&self.registry, self.hooks.of(id).filter(|_| live), id)
    }

    /// The processes of a session that run, as the registry names them.
    pub fn alive_processes_of(&self, id: &SessionId) -> Vec<u32> {
        let known = self.processes_of(id, false).into_iter();
        known
            .filter(|witness| witness.liveness == Liveness::Alive)
            .map(|witness| witness.entry.instance.pid)
            .collect()
    }

    /// Whether a process is known to run the session.
    pub fn lives(&self, id: &SessionId, live: bool) -> bool {
        let alive = |witness: &InstanceWitness| witness.liveness == Liveness::Alive;
        let stays = |w: &InstanceWitness| !self.hooks.has_left(&w.entry.instance, &w.entry.session);
        let is_named = self.registry.all().any(|w| w.entry.session == *id && alive(w) && stays(w));
        is_named || self.hooks.of(id).is_some() && self.processes_of(id, live).iter().any(alive)
    }

    /// The sessions that a process is known to run.
    pub fn live_sessions(&self, live: bool) -> BTreeSet<SessionId> {
        let by_hooks = self.hooks.sessions().map(|(id, _)| id);
        self.named().chain(by_hooks).filter(|id| self.lives(id, live)).cloned().collect()
    }

    /// The sessions that registry files name.
    pub fn named(&self) -> impl Iterator<Item = &SessionId> {
        self.registry.all().map(|witness| &witness.entry.session)
    }

    /// Whether the process that shows the session parked it.
    pub fn is_parked(&self, session: &SessionId) -> bool {
        self.registry.parked(session).is_some()
    }

    /// The sessions that several processes run at once.
    pub fn run_twice(&self) -> Vec<Arc<str>> {
        let mut counts: BTreeMap<&SessionId, u32> = BTreeMap::new();
        let runs = |w: &&InstanceWitness| w.liveness == Liveness::Alive && w.entry.parked.is_none();
        for witness in self.registry.all().filter(runs) {
            *counts.entry(&witness.entry.session).or_default() += 1;
        }
        counts.into_iter().filter(|(_, n)| *n > 1).map(|(id, _)| Arc::from(id.as_str())).collect()
    }

    /// The sessions that a process has not left, with the time since when it may be on them, if that is known.
    pub fn held(&self) -> BTreeMap<SessionId, Option<Timestamp>> {
        let mut held: BTreeMap<SessionId, Option<Timestamp>> = BTreeMap::new();
        let by_hooks = self.hooks.sessions().filter_map(|(id, session)| session.instance(id));
        let is_on = |w: &InstanceWitness| !self.hooks.has_left(&w.entry.instance, &w.entry.session);
        for witness in self.registry.all().cloned().chain(by_hooks).filter(is_on) {
            // A process of unknown age may have been on it all the time; `None` is the lowest.
            let since = held.entry(witness.entry.session).or_insert(witness.entry.started_at);
            *since = (*since).min(witness.entry.started_at);
        }
        held
    }

    /// What was known of sessions at the compactions that began others.
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Notes what is known now of compactions up to `now`. Says whether it is new.
    pub fn note_neighbours(&mut self, found: Vec<Neighbour>, now: Timestamp) -> bool {
        let mut new = false;
        for Neighbour { of, other, same, .. } in found.into_iter().filter(|found| found.at <= now) {
            if self.neighbours.len() < MAX_NEIGHBOURS || self.neighbours.contains_key(&of) {
                new |= self.neighbours.entry(of).or_default().insert(other, same) != Some(same);
            }
        }
        new
    }

    /// Keys of each session's terminals, as far as known, each with the time since when, oldest first. Two keys are
    /// equal if the terminal is the same.
    pub fn terminals(&self) -> BTreeMap<SessionId, Vec<(Timestamp, Arc<str>)>> {
        let mut terminals: BTreeMap<SessionId, Vec<_>> = BTreeMap::new();
        for (id, session) in self.hooks.sessions() {
            let known =
                session.terminals().iter().filter_map(|(since, seen)| Some((*since, seen.identity()?)));
            let known: Vec<_> = known.collect();
            if !known.is_empty() {
                terminals.insert(id.clone(), known);
            }
        }
        for witness in self.registry.all() {
            // The hook's terminal goes first, because its sender saw the innermost one. The registry tells only the
            // present tmux pane.
            let tmux = witness.entry.tmux.as_ref().map(TerminalContext::of_tmux);
            if let Some(terminal) = tmux.and_then(|tmux| tmux.identity()) {
                let since = witness.entry.started_at.unwrap_or(Timestamp::from_millis(0));
                terminals.entry(witness.entry.session.clone()).or_insert_with(|| vec![(since, terminal)]);
            }
        }
        terminals
    }

    /// Processes that changed sessions, by the registry.
    pub fn moves(&self) -> &[RegistryMove] {
        self.registry.moves()
    }

    /// Processes that changed sessions up to a time, by their hooks.
    pub fn hook_moves(&self, until: Option<Timestamp>) -> Vec<HookMove> {
        let mut moves = self.hooks.moves();
        moves.retain(|moved| until.is_none_or(|until| moved.at <= until));
        moves
    }

    /// The markers in these working folders, up to a time.
    pub fn markers(
        &self,
        cwds: &mut dyn Iterator<Item = &Arc<str>>,
        until: Option<Timestamp>,
    ) -> Vec<Marker> {
        let mut markers = self.markers.all(cwds);
        markers.retain(|marker| until.is_none_or(|until| marker.compacted_at <= until));
        markers
    }

    /// The facts to store: no file holds them, or their file may be gone.
    pub fn facts(&self) -> SeenFacts {
        SeenFacts {
            moves: self.registry.moves().to_vec(),
            markers: self.markers.kept(),
            neighbours: self.neighbours.clone(),
        }
    }

    /// Restores the facts from an earlier run.
    pub fn restore(&mut self, facts: SeenFacts) {
        self.registry.restore_moves(facts.moves);
        self.markers.restore(facts.markers);
        self.neighbours = facts.neighbours;
    }

    /// The content of a session's status file. With `until`, only if it was written by then.
    pub fn status_file(&self, id: &SessionId, until: Option<Timestamp>) -> Option<&StatusWitness> {
        let said_by = |witness: &&StatusWitness| {
            let updated = witness.file.updated.unwrap_or(witness.modified);
            until.is_none_or(|until| updated <= until)
        };
        self.status_files.of(id).filter(said_by)
    }

    /// A session works or has worked in `cwd`.
    pub fn add_folder(&mut self, cwd: &str, in_use: bool, now: Timestamp) -> FolderActions {
        self.folders.add(cwd, in_use, now)
    }

    /// Takes in the result of a look at a working folder.
    pub fn take_look(&mut self, look: &FolderLook, now: Timestamp) -> LookChange {
        let (markers, again) = self.markers.take(look, now);
        let (sessions, soon) = self.status_files.take(look, now);
        let moved = self.folders.set_repository(&look.folder, look.repository.as_ref());
        LookChange { markers, sessions, again: again.into_iter().chain(soon).min(), moved }
    }

    /// The repository around a working folder, if a look has found one.
    pub fn repository(&self, cwd: &str) -> Option<Repository> {
        self.folders.repository(cwd)
    }

    /// Whether `path` is a known folder.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains(path)
    }

    /// The known folders that a change at `path` may concern.
    pub fn folders_at(&self, path: &Path) -> Vec<PathBuf> {
        self.folders.concerned(path)
    }

    /// All known folders.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.all().cloned().collect()
    }

    /// The problems of the files in these working folders.
    pub fn problems<'a>(&self, cwds: impl Iterator<Item = &'a Arc<str>>) -> Vec<Problem> {
        let mut problems = self.markers.problems(cwds);
        problems.extend(self.status_files.problems());
        problems
    }
}

/// The processes that may run a session: those whose registry files name it, and the one that sends its hooks, unless
/// the registry has a file for that one.
pub(crate) fn processes_of(
    registry: &Registry,
    hooks: Option<&HookSession>,
    id: &SessionId,
) -> Vec<InstanceWitness> {
    let mut instances = registry.witnesses(id);
    let by_hooks = hooks.and_then(|session| session.instance(id));
    let named = |instance: &InstanceWitness| {
        registry.all().any(|witness| witness.entry.instance == instance.entry.instance)
    };
    // A process that has left the session does not run it.
    let left = |instance: &InstanceWitness| {
        let gone = registry.gone(id);
        gone.is_some_and(|gone| gone.instance == instance.entry.instance && gone.at >= instance.seen_at)
    };
    instances.extend(by_hooks.filter(|instance| !named(instance) && !left(instance)));
    instances
}
