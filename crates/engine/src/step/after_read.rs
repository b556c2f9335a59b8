//! The effects of a read: on lineage, tokens and subagents. Also those of a removed file.

use std::path::Path;
use std::sync::Arc;

use watchbill_core::chain::lineage::{ActiveTime, BOUNDARY_LIMIT};
use watchbill_core::ids::SessionId;

use super::processes::follow_registry;
use super::rooms::Rooms;
use crate::model::paths::FilePath;
use crate::model::session::AgentState;
use crate::transcripts::Fold;

/// Applies the effects of a read of `path`. `fresh`: the file was read from its beginning.
///
/// `before` is the session's activity from before the read.
pub(super) fn after_read(rooms: &mut Rooms, path: &Path, fresh: bool, before: Option<ActiveTime>) {
    rooms.problems.touch();
    rooms.pending.file(path);
    let Some(file) = rooms.sessions.files().get(path) else { return };
    match file.fold() {
        Fold::Main(fold) => {
            let id = fold.lineage().session.clone();
            let is_part = file.parent().is_some() || file.counted_with.is_some();
            rooms.sessions.get_or_make(&id).add_main(path.into());
            after_main_changed(rooms, &id, fresh);
            hear_limits(rooms, &id);
            let Rooms { sessions, chains, rows, .. } = rooms;
            if chains.depends_on_activity(sessions, &id, before) {
                chains.mark(id.clone());
            }
            rows.mark(id);
            if is_part {
                after_agent_read(rooms, path);
            }
            if fresh {
                follow_registry(rooms);
            }
        }
        Fold::Agent(_) => after_agent_read(rooms, path),
    }
}

/// Takes what a transcript says of the limits of its account.
fn hear_limits(rooms: &mut Rooms, id: &SessionId) {
    let Rooms { status_lines, sessions, .. } = rooms;
    let root = sessions.get(id).and_then(|session| session.root.as_ref());
    let said = sessions.fold(id).and_then(|fold| fold.facts().limits.as_ref());
    if let (Some(root), Some((limits, at))) = (root, said) {
        let folder = Arc::from(root.to_string_lossy());
        status_lines.take_limits(root.agent, &folder, id, limits, *at);
    }
}

/// A session may have another main transcript now, or that may have another lineage.
fn after_main_changed(rooms: &mut Rooms, id: &SessionId, fresh: bool) {
    let Rooms { env, sessions, chains, .. } = rooms;
    let Some((path, file)) = sessions.main_file(id) else { return };
    let Some(fold) = file.main() else { return };
    let lineage = Some((FilePath::from(path), fold.lineage_revision()));
    let full = fold.lineage().boundaries.len() >= BOUNDARY_LIMIT;
    let says_nothing = fresh && fold.lineage().start().is_none();
    let requests = fold.requests();
    let root = env.place_of(path).map(|(root, _)| root.clone());
    let Some(session) = sessions.get_mut(id) else { return };
    session.root = root;
    if fresh {
        session.request_counts = None;
    }
    if fresh || session.lineage != lineage {
        // A file that was rewritten may lack facts that tied others. So may a file whose list of boundaries is full,
        // since that drops the oldest.
        let says_less = session
            .lineage
            .as_ref()
            .is_some_and(|(path, _)| fresh || lineage.as_ref().is_none_or(|(now, _)| now != path))
            || full;
        session.lineage = lineage;
        if says_less || chains.take_gone(id) {
            chains.mark_all();
        }
        if says_nothing {
            // The file was emptied, and the agent is about to write it again.
            chains.mark_gone(id.clone());
        }
        chains.mark(id.clone());
    }
    let differs = fresh || session.requests != requests;
    session.requests = requests;
    if differs {
        touch_copies(rooms, id);
    }
    if fresh {
        // Its subagents' files may have been read before it.
        rooms.sessions.note_agents_activity(id);
    }
}

/// Tokens that a fork copied count with its origin, so the fork's tokens depend on the origin's requests.
fn touch_copies(rooms: &mut Rooms, id: &SessionId) {
    for copy in rooms.chains.copies_of(id) {
        if let Some(session) = rooms.sessions.get_mut(&copy) {
            session.request_counts = None;
        }
        rooms.rows.mark(copy);
    }
}

/// Applies the effects of a read of a subagent's transcript or of its companion.
pub(super) fn after_agent_read(rooms: &mut Rooms, path: &Path) {
    rooms.pending.file(path);
    let (now, silence) = (rooms.env.now(), rooms.env.settings().timeouts.idle);
    let Some(file) = rooms.sessions.files_mut().get_mut(path) else { return };
    let parent = file.parent();
    let part = file.main().map(|fold| fold.lineage().session.clone());
    let (tokens, active, state) = match file.fold() {
        // Its own witnesses say whether it runs and what it asks.
        Fold::Main(fold) => (fold.ledger().total(), None, AgentState::default()),
        Fold::Agent(fold) => {
            (fold.ledger().total(), fold.last_activity(), AgentState::of(fold, now, silence))
        }
    };
    let before = std::mem::replace(&mut file.counted_with, parent.clone());
    if let Some(before) = before.filter(|before| Some(before) != parent.as_ref()) {
        forget_agent(rooms, &before, path);
    }
    let Some(parent) = parent else { return };
    let session = rooms.sessions.get_or_make(&parent);
    let path = FilePath::from(path);
    session.set_agent(&path, tokens, state);
    session.parts.extend(part.map(|part| (path.clone(), part)));
    if session.copies.contains(&path) {
        // Its transcript repeats the parent's requests. Making the row subtracts them.
        session.request_counts = None;
    }
    rooms.sessions.note_subagent_activity(&parent, active);
    rooms.rows.mark(parent);
}

fn forget_agent(rooms: &mut Rooms, parent: &SessionId, path: &Path) {
    rooms.sessions.forget_agent(parent, path);
    rooms.rows.mark(parent.clone());
}

/// Removes a file from the engine.
pub(super) fn forget_file(rooms: &mut Rooms, path: &Path) {
    if rooms.env.place_of(path).is_none_or(|(_, place)| place.is_transcript()) {
        rooms.problems.met_mut().forget(&path.to_string_lossy());
        rooms.problems.touch();
    }
    let Some(file) = rooms.sessions.files_mut().remove(path) else { return };
    rooms.pending.file(path);
    if let Some(parent) = &file.counted_with {
        forget_agent(rooms, parent, path);
    }
    let Some(id) = file.main().map(|fold| fold.lineage().session.clone()) else { return };
    rooms.sessions.forget_main(&id, path);
    after_main_changed(rooms, &id, true);
    if rooms.sessions.main_file(&id).is_none() {
        rooms.chains.mark_gone(id.clone());
    }
    touch_copies(rooms, &id);
    rooms.chains.mark_all();
    rooms.rows.mark(id);
}
