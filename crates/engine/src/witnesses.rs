//! Everything that speaks of sessions beside their transcripts: registry, hooks, markers, status files, child processes.

pub mod children;
pub mod folders;
pub mod hooks;
pub mod markers;
pub mod registry;
pub mod status_files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::lineage::{HookMove, Marker, RegistryMove};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::witness::{ChildWitness, InstanceWitness};
use watchbill_core::hook::{HookOrigin, HookPayload, TerminalContext};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::Problem;
use watchbill_core::status_file::StatusWitness;
use watchbill_core::time::Timestamp;

use crate::environment::Environment;
use crate::model::problem_report::ProblemReport;
use crate::persist::changes::Facts;
use children::{ChildChange, Children, Question};
use folders::{Added, FolderLook, Folders};
use hooks::{HookChange, HookSession, Hooks};
use markers::Markers;
use registry::{Registry, RegistryChange};
use status_files::StatusFiles;

/// All of them.
#[derive(Default)]
pub(crate) struct Witnesses {
    registry: Registry,
    hooks: Hooks,
    folders: Folders,
    markers: Markers,
    status_files: StatusFiles,
    children: Children,
}

/// What a look at a working folder has changed.
pub(crate) struct LookChange {
    /// A marker is new.
    pub markers: bool,
    /// Sessions whose status files differ.
    pub sessions: Vec<SessionId>,
    /// A half-written file is to be read again then.
    pub again: Option<Timestamp>,
    /// The folder lies in another repository than before.
    pub moved: bool,
}

impl Witnesses {
    /// The registry as it was read.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What hooks have told.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Reads one registry file, or notices that it is gone.
    pub fn read_registry(
        &mut self,
        path: &Path,
        env: &Environment,
        problems: &mut ProblemReport,
    ) -> RegistryChange {
        problems.touch();
        self.registry.read(path, env.now(), env.fs(), env.processes(), problems.met_mut())
    }

    /// A registry file lies outside of every root by now.
    pub fn forget_registry(&mut self, path: &Path, now: Timestamp) -> RegistryChange {
        self.registry.forget(path, now)
    }

    /// A process of the registry may have ended; without an id, any may have.
    pub fn recheck_registry(&mut self, pid: Option<u32>, env: &Environment) -> RegistryChange {
        self.registry.recheck(pid, env.processes())
    }

    /// Notes whether the folder of registry files of `root` could be listed. Says whether that is different.
    pub fn set_readable(&mut self, root: &Path, readable: bool) -> bool {
        self.registry.set_readable(root, readable)
    }

    /// Takes a hook event in. Says what it changed, and whether it came too late to be put into order.
    pub fn hear(
        &mut self,
        origin: &HookOrigin,
        payload: &HookPayload,
        replayed: bool,
        env: &Environment,
    ) -> (HookChange, bool) {
        let late = |hooks: &Hooks| hooks.of(&payload.session).map_or(0, HookSession::too_late);
        let before = late(&self.hooks);
        let change = self.hooks.take(origin, payload, replayed, env.processes());
        (change, late(&self.hooks) > before)
    }

    /// A process that hooks came from may have ended. Gives the sessions of which that changes something.
    pub fn recheck_hooks(&mut self, pid: Option<u32>, env: &Environment) -> Vec<SessionId> {
        self.hooks.recheck(pid, env.processes())
    }

    /// The processes that run, of registry files and hooks.
    pub fn running_processes(&self) -> Vec<u32> {
        let registered = self.registry.all().filter(|witness| witness.liveness == Liveness::Alive);
        registered.map(|witness| witness.entry.instance.pid).chain(self.hooks.running()).collect()
    }

    /// Whether a registry file or a hook speaks for a process of this id, and it runs.
    pub fn is_heard(&self, pid: u32) -> bool {
        self.registry.runs(pid) || self.hooks.runs(pid)
    }

    /// Looks at what a session's process has started, if a call is open and nobody better tells whether it runs.
    pub fn look_at_children(
        &mut self,
        id: &SessionId,
        question: Option<Question>,
        env: &Environment,
    ) -> ChildChange {
        let mut change =
            self.children.look(id, question, env.settings().timeouts.approval, env.now(), env.processes());
        // A tool call may have started an agent, which has a say of its own.
        change.forget = change.forget.filter(|pid| !self.is_heard(*pid));
        change
    }

    /// The newest child of a session's process that a call may have started.
    pub fn child_of(&self, id: &SessionId) -> Option<ChildWitness> {
        self.children.of(id)
    }

    /// The sessions for which this child is waited for; without an id, any child.
    pub fn waits_for_child(&self, pid: Option<u32>) -> Vec<SessionId> {
        self.children.concerned(pid)
    }

    /// The processes that may run a session. Without `live` the registry's alone.
    pub fn processes_of(&self, id: &SessionId, live: bool) -> Vec<InstanceWitness> {
        processes_of(&self.registry, self.hooks.of(id).filter(|_| live), id)
    }

    /// Whether a process runs the session, as far as anyone knows.
    pub fn lives(&self, id: &SessionId, live: bool) -> bool {
        let alive = |witness: &InstanceWitness| witness.liveness == Liveness::Alive;
        let stays = |w: &InstanceWitness| !self.hooks.has_left(&w.entry.instance, &w.entry.session);
        let is_named = self.registry.all().any(|w| w.entry.session == *id && alive(w) && stays(w));
        is_named || self.hooks.of(id).is_some() && self.processes_of(id, live).iter().any(alive)
    }

    /// The sessions that a process runs, as far as anyone knows.
    pub fn live_sessions(&self, live: bool) -> BTreeSet<SessionId> {
        let heard = self.hooks.sessions().map(|(id, _)| id);
        self.named().chain(heard).filter(|id| self.lives(id, live)).cloned().collect()
    }

    /// The sessions that registry files name.
    pub fn named(&self) -> impl Iterator<Item = &SessionId> {
        self.registry.all().map(|witness| &witness.entry.session)
    }

    /// The sessions that several processes run.
    pub fn run_twice(&self) -> Vec<Arc<str>> {
        let mut counts: BTreeMap<&SessionId, u32> = BTreeMap::new();
        for witness in self.registry.all().filter(|witness| witness.liveness == Liveness::Alive) {
            *counts.entry(&witness.entry.session).or_default() += 1;
        }
        counts.into_iter().filter(|(_, n)| *n > 1).map(|(id, _)| Arc::from(id.as_str())).collect()
    }

    /// The terminal of each session that one is known of: any two keys are equal where the terminal is the same.
    pub fn terminals(&self) -> BTreeMap<SessionId, Arc<str>> {
        let heard =
            self.hooks.sessions().filter_map(|(id, told)| Some((id.clone(), told.terminal()?.identity()?)));
        let mut terminals: BTreeMap<SessionId, Arc<str>> = heard.collect();
        for witness in self.registry.all() {
            // Where both speak, a hook's sender saw the innermost terminal, and the registry speaks of the present.
            let tmux = witness.entry.tmux.as_ref().map(TerminalContext::of_tmux);
            if let Some(terminal) = tmux.and_then(|tmux| tmux.identity()) {
                terminals.entry(witness.entry.session.clone()).or_insert(terminal);
            }
        }
        terminals
    }

    /// Processes that went from one session to another, as the registry told.
    pub fn moves(&self) -> &[RegistryMove] {
        self.registry.moves()
    }

    /// The same as their hooks told, up to a moment.
    pub fn hook_moves(&self, until: Option<Timestamp>) -> Vec<HookMove> {
        let mut moves = self.hooks.moves();
        moves.retain(|moved| until.is_none_or(|until| moved.at <= until));
        moves
    }

    /// The markers in these working folders, up to a moment.
    pub fn markers(
        &self,
        cwds: &mut dyn Iterator<Item = &Arc<str>>,
        until: Option<Timestamp>,
    ) -> Vec<Marker> {
        let mut markers = self.markers.all(cwds);
        markers.retain(|marker| until.is_none_or(|until| marker.compacted_at <= until));
        markers
    }

    /// What was seen and stands in no file, or in none that need still be there.
    pub fn facts(&self) -> Facts {
        Facts { moves: self.registry.moves().to_vec(), markers: self.markers.kept() }
    }

    /// Takes up what an earlier run has seen.
    pub fn restore(&mut self, facts: Facts) {
        self.registry.restore_moves(facts.moves);
        self.markers.restore(facts.markers);
    }

    /// What a session's status file says; at a moment that was chosen, what it said by then.
    pub fn status_file(&self, id: &SessionId, until: Option<Timestamp>) -> Option<&StatusWitness> {
        let said_by = |witness: &&StatusWitness| {
            let said = witness.file.updated.unwrap_or(witness.modified);
            until.is_none_or(|until| said <= until)
        };
        self.status_files.of(id).filter(said_by)
    }

    /// Somebody works or has worked in `cwd`.
    pub fn add_folder(&mut self, cwd: &str, in_use: bool, now: Timestamp) -> Added {
        self.folders.add(cwd, in_use, now)
    }

    /// Takes in what a look at a working folder found.
    pub fn take_look(&mut self, look: &FolderLook, now: Timestamp) -> LookChange {
        let (markers, again) = self.markers.take(look, now);
        let (sessions, soon) = self.status_files.take(look, now);
        let moved = self.folders.set_repository(&look.folder, look.repository.as_deref());
        LookChange { markers, sessions, again: again.into_iter().chain(soon).min(), moved }
    }

    /// The repository around a working folder, as far as it was looked for.
    pub fn repository(&self, cwd: &str) -> Option<Arc<str>> {
        self.folders.repository(cwd)
    }

    /// Whether `path` is a folder that is looked at.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains(path)
    }

    /// The folders that a change at `path` concerns.
    pub fn folders_at(&self, path: &Path) -> Vec<PathBuf> {
        self.folders.concerned(path)
    }

    /// All folders that are looked at.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.folders.all().cloned().collect()
    }

    /// What is wrong with the files in these working folders.
    pub fn problems<'a>(&self, cwds: impl Iterator<Item = &'a Arc<str>>) -> Vec<Problem> {
        let mut problems = self.markers.problems(cwds);
        problems.extend(self.status_files.problems());
        problems
    }
}

/// The processes that may run a session: those whose registry files name it, and the one that its hooks come
/// from, unless the registry says what that one runs.
pub(crate) fn processes_of(
    registry: &Registry,
    hooks: Option<&HookSession>,
    id: &SessionId,
) -> Vec<InstanceWitness> {
    let mut instances = registry.witnesses(id);
    let heard = hooks.and_then(|told| told.instance(id));
    let named = |heard: &InstanceWitness| {
        registry.all().any(|witness| witness.entry.instance == heard.entry.instance)
    };
    // A process that is known to have left is no witness that the session goes on.
    let left = |heard: &InstanceWitness| {
        let gone = registry.gone(id);
        gone.is_some_and(|gone| gone.instance == heard.entry.instance && gone.at >= heard.seen_at)
    };
    instances.extend(heard.filter(|heard| !named(heard) && !left(heard)));
    instances
}
