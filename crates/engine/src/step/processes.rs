//! Registry files, hook events, and the processes that they name.

use std::path::Path;
use std::sync::Arc;

use watchbill_agents::Root;
use watchbill_agents::hooks::payload_of;
use watchbill_agents::layout::ClientPath;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookError, HookEvent, HookMessage};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::time::Timestamp;
use watchbill_core::tool::{Ask, ToolKind};
use watchbill_watch::fs::FileId;
use watchbill_watch::process::{LockHolder, Parent};

use super::rooms::Rooms;
use crate::model::schedule::Due;
use crate::step::input::{Output, ServerNews, ServerWord};
use crate::witnesses::children::ChildQuestion;
use crate::witnesses::registry::RegistryChange;
use crate::witnesses::registry::locks::SessionLock;

/// The place name of problems with hook events.
const HOOKS: &str = "hooks";

/// Reads every registry file, and notes which registry folders are readable.
pub(super) fn read_registries(rooms: &mut Rooms, out: &mut Vec<Output>) {
    if !rooms.env.is_live() {
        return;
    }
    note_registry_folders(rooms);
    for root in rooms.env.roots().to_vec() {
        let Some(folder) = root.registry() else { continue };
        for name in rooms.env.fs().list(&folder).unwrap_or_default() {
            let path = folder.join(&name.name);
            match rooms.env.place_of(&path) {
                Some((_, ClientPath::Registry { .. })) => read_registry(rooms, &path, out),
                Some((_, ClientPath::Lock { session, pid, .. })) => {
                    look_at_lock(rooms, &path, session, pid, out);
                }
                _ => {}
            }
        }
    }
}

/// Notes which registry folders can be listed.
pub(super) fn note_registry_folders(rooms: &mut Rooms) {
    for root in rooms.env.roots().to_vec() {
        let listed = root.registry().is_some_and(|folder| rooms.env.fs().list(&folder).is_ok());
        // A lock that cannot be seen proves nothing.
        let hidden = || rooms.env.processes().lock_holder(FileId::default(), None) == LockHolder::Unknown;
        let readable = listed && !(root.keeps_locks() && hidden());
        if rooms.witnesses.set_readable(&root, readable) {
            let lies_there = |root: &Root, of: &Option<Root>| of.as_ref() == Some(root);
            let concerned = rooms.sessions.iter().filter(|(_, session)| lies_there(&root, &session.root));
            rooms.rows.touch(concerned.map(|(id, _)| id.clone()).collect::<Vec<_>>());
        }
    }
}

/// Reads one registry file.
pub(super) fn read_registry(rooms: &mut Rooms, path: &Path, out: &mut Vec<Output>) {
    if rooms.env.is_live() {
        let change = rooms.witnesses.read_registry(path, &rooms.env, &mut rooms.problems);
        take_registry_change(rooms, Some(path), change, out);
    }
}

/// Looks at who holds the lock of a session. `pid`: the process that its name has.
pub(super) fn look_at_lock(
    rooms: &mut Rooms,
    path: &Path,
    session: SessionId,
    pid: Option<u32>,
    out: &mut Vec<Output>,
) {
    if rooms.env.is_live() {
        let change = rooms.witnesses.look_at_lock(path, SessionLock { session, pid }, &rooms.env);
        take_registry_change(rooms, Some(path), change, out);
    }
}

/// A session shows a sign of life. A process may hold its lock by now, and no event reports that.
pub(super) fn look_at_free_lock(rooms: &mut Rooms, root: &Root, session: &SessionId, out: &mut Vec<Output>) {
    if let Some(path) = root.lock_of(session)
        && rooms.witnesses.registry().is_unlocked(&path)
    {
        look_at_lock(rooms, &path, session.clone(), None, out);
    }
}

/// Takes in what an agent's server says.
pub(super) fn take_server_news(rooms: &mut Rooms, news: ServerNews, out: &mut Vec<Output>) {
    let ServerNews { root, word } = news;
    match word {
        ServerWord::Statuses(statuses) => {
            for said in statuses {
                let session = said.session.clone();
                let change = rooms.witnesses.hear_server(&root, said, rooms.env.now());
                take_registry_change(rooms, None, change, out);
                look_at_free_lock(rooms, &root, &session, out);
            }
        }
        ServerWord::Gone => {
            let change = rooms.witnesses.server_gone(&root);
            take_registry_change(rooms, None, change, out);
        }
        ServerWord::NotUnderstood => {
            let detail = "a message of the agent's server was not understood; it was skipped";
            rooms.problems.add(&root.to_string_lossy(), ProblemKind::MalformedRegistry, detail);
        }
    }
}

/// A registry file now lies outside every root.
pub(super) fn forget_registry(rooms: &mut Rooms, path: &Path, out: &mut Vec<Output>) {
    let change = rooms.witnesses.forget_registry(path, rooms.env.now());
    take_registry_change(rooms, Some(path), change, out);
}

fn take_registry_change(
    rooms: &mut Rooms,
    path: Option<&Path>,
    change: RegistryChange,
    out: &mut Vec<Output>,
) {
    let Rooms { witnesses, chains, rows, schedule, .. } = rooms;
    if let Some(path) = path {
        schedule.retry(path, Due::RegistryFile(path.to_path_buf()), change.retry_at);
    }
    // Another file, below another root, may name the same process.
    let is_over = |pid: &u32| change.watch == Some(*pid) || !witnesses.is_heard(*pid);
    out.extend(change.forget.into_iter().filter(is_over).map(Output::ForgetProcess));
    out.extend(change.watch.map(Output::WatchProcess));
    // A live process decides whether a superseded session comes back, so the chains depend on it.
    if change.lives {
        chains.processes_differ(&change.sessions);
    }
    rows.mark_all(change.sessions);
    follow_registry(rooms);
}

/// The registry says which session the process of each terminal of ours is on.
pub(super) fn follow_registry(rooms: &mut Rooms) {
    if rooms.own.is_empty() {
        return;
    }
    let Rooms { env, own, witnesses, sessions, rows, .. } = rooms;
    let moved = own.follow(&|pid, own| {
        // Codex may be installed with a program around it.
        let runs = |holder: u32| {
            holder == pid || own.names_itself() && env.processes().parent(holder) == Parent::Runs(pid)
        };
        let alive = witnesses.registry().all().filter(|witness| witness.liveness == Liveness::Alive);
        let named: Vec<&SessionId> =
            alive.filter(|witness| runs(witness.entry.instance.pid)).map(|w| &w.entry.session).collect();
        // A process keeps several sessions locked: subagents, and some that the user has left.
        let begun = named.iter().filter(|id| sessions.fold(id).is_some() && sessions.whole_of(id).is_none());
        let newest = begun.max_by_key(|id| sessions.fold(id).and_then(LazyFold::last_activity_at));
        let known = || named.iter().find(|id| own.registered() == Some(**id));
        newest.or_else(known).or(named.first()).map(|id| (*id).clone())
    });
    rows.mark_all(moved);
}

/// A process may have ended; without an id, any may have.
pub(super) fn recheck(rooms: &mut Rooms, pid: Option<u32>, out: &mut Vec<Output>) {
    let change = rooms.witnesses.recheck_registry(pid, &rooms.env);
    take_registry_change(rooms, None, change, out);
    let Rooms { env, witnesses, chains, rows, .. } = rooms;
    let changed = witnesses.recheck_hooks(pid, env);
    // If no process runs a session any more, the session that took over from it supersedes it.
    if !changed.is_empty() {
        chains.processes_differ(&changed);
    }
    rows.mark_all(changed);
    rows.mark_all(witnesses.waits_for_child(pid));
}

/// Takes in a hook event. Gives the transcript that it names, so that the caller reads it: the agent writes records
/// around the time of its hooks, in any order.
pub(super) fn take_hook(rooms: &mut Rooms, message: &HookMessage, out: &mut Vec<Output>) -> Option<Arc<str>> {
    let Rooms { env, witnesses, status_lines, sessions, chains, rows, problems, .. } = rooms;
    let payload = match payload_of(message) {
        Ok(parsed) => {
            let mut payload = parsed.clone();
            watchbill_agents::excluded::clear_target(
                &env.settings().history.exclude,
                &mut payload,
                &message.payload,
            );
            payload
        }
        // Another agent runs this agent's hooks as well.
        Err(HookError::Foreign) => return None,
        Err(error) => {
            problems.add(HOOKS, ProblemKind::MalformedHook, &format!("{error}; it was skipped"));
            return None;
        }
    };
    let of_file = sessions.get(&payload.session).and_then(|session| Some(session.root.as_ref()?.agent));
    let of_hooks = || Some(witnesses.hooks().of(&payload.session)?.whose());
    if of_file.or_else(of_hooks).is_some_and(|known| known != message.agent) {
        return None;
    }
    if let HookEvent::StatusLine(said) = &payload.event {
        let by_path = || Some(env.place_of(Path::new(payload.transcript_path.as_deref()?))?.0);
        let root = sessions.get(&payload.session).and_then(|session| session.root.as_ref()).or_else(by_path);
        let folder = root.map(|root| Arc::from(root.to_string_lossy()));
        let (session, at) = (&payload.session, message.origin.at);
        if status_lines.take(message.agent, folder.as_ref(), session, said, at) {
            rows.mark(session.clone());
        }
        return None;
    }
    let (change, is_lost) = witnesses.hear(message, &payload, env);
    if is_lost {
        let detail = "a hook event came too late to be put into order; it was skipped";
        problems.add(HOOKS, ProblemKind::LostHooks, detail);
    }
    if !change.new {
        return None;
    }
    out.extend(change.watch.map(Output::WatchProcess));
    if change.lives {
        chains.mark_all();
    }
    rows.mark(payload.session.clone());
    let of_agent: Vec<Root> = env
        .roots()
        .iter()
        .filter(|root| root.agent == message.agent && root.keeps_locks())
        .cloned()
        .collect();
    of_agent.iter().for_each(|root| look_at_free_lock(rooms, root, &payload.session, out));
    payload.transcript_path
}

/// Looks at the child processes of the session, if a call is open and no better witness tells whether it runs. Gives
/// the time of the next look.
pub(super) fn look_at_children(
    rooms: &mut Rooms,
    id: &SessionId,
    out: &mut Vec<Output>,
) -> Option<Timestamp> {
    let question = open_question(rooms, id);
    let change = rooms.witnesses.look_at_children(id, question, &rooms.env);
    out.extend(change.forget.map(Output::ForgetProcess));
    out.extend(change.watch.map(Output::WatchProcess));
    change.next
}

/// The newest open call of a session, or of the dialog that its hooks know: some agents write no open calls. `None` unless exactly one
/// process runs it, and that has no status of its own.
fn open_question(rooms: &Rooms, id: &SessionId) -> Option<ChildQuestion> {
    if !rooms.env.is_live() {
        return None;
    }
    let written = rooms.sessions.fold(id)?.pending_tools().into_iter().max_by_key(|call| call.since);
    let asked = || {
        let ask = rooms.witnesses.hooks().of(id)?.witness(&[])?.asks.pop()?;
        Some((ask.call.unwrap_or_default(), ask.at))
    };
    let (call, since) = written.map(|call| (call.id, call.since)).or_else(asked)?;
    let instances = rooms.witnesses.processes_of(id, true);
    let [one] = instances.as_slice() else { return None };
    let silent = one.entry.status.is_none();
    let alive = one.liveness == Liveness::Alive;
    // A server runs the tools of several sessions, so a child may belong to another session.
    let starts = |call: &PendingTool| ToolKind::of(&call.tool).ask() != Ask::Never;
    let has_call = |other: &SessionId| {
        other != id && rooms.sessions.fold(other).is_some_and(|fold| fold.pending_tools().iter().any(starts))
    };
    let mut same = rooms.witnesses.registry().all().filter(|w| w.entry.instance == one.entry.instance);
    let shared = silent && alive && same.any(|witness| has_call(&witness.entry.session));
    (silent && alive && !shared).then_some(ChildQuestion { agent: one.entry.instance.pid, call, since })
}
