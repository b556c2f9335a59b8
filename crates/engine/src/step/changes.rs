//! Collects the changes to store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;

use super::ingest::restore_fold;
use super::rooms::Rooms;
use crate::model::sessions::Sessions;
use crate::persist::changes::{Changes, FileChange, SeenFacts};

/// Notes all changes from now on, and the data that is known already.
pub(super) fn keep(rooms: &mut Rooms) {
    rooms.pending.keep();
    for file in rooms.sessions.files_mut().values_mut() {
        file.collect_records();
    }
}

/// Queues everything again, because another process was the writer.
pub(super) fn keep_everything(rooms: &mut Rooms) {
    for path in rooms.sessions.files().paths().map(Path::to_path_buf).collect::<Vec<_>>() {
        restore_fold(rooms, &path);
    }
    keep(rooms);
    let Rooms { sessions, rows, pending, .. } = rooms;
    for (path, file) in sessions.files_mut().iter_mut() {
        file.collect_all_records();
        pending.file(path);
    }
    pending.markers();
    pending.links();
    // Also unchanged rows: the other process may have ended before it stored them.
    pending.rows_are_behind(sessions.ids().cloned());
    rows.mark_all(sessions.ids().cloned());
}

/// Queues everything of these sessions: the store has nothing of them, and may store them again.
pub(super) fn keep_anew(rooms: &mut Rooms, ids: &[SessionId]) {
    for id in ids {
        let Some(session) = rooms.sessions.get(id) else { continue };
        let paths = session.mains.iter().chain(session.agents.keys());
        for path in paths.map(|path| path.to_path_buf()).collect::<Vec<PathBuf>>() {
            restore_fold(rooms, &path);
            if let Some(file) = rooms.sessions.files_mut().get_mut(&path) {
                file.collect_all_records();
            }
            rooms.pending.file(&path);
        }
        match rooms.rows.made(id) {
            Some(row) => rooms.pending.row(row),
            None => rooms.rows.mark(id.clone()),
        }
    }
    if !ids.is_empty() {
        rooms.pending.markers();
        rooms.pending.links();
    }
}

/// Takes the changes since the last call.
pub(super) fn take_changes(rooms: &mut Rooms) -> Changes {
    let files = rooms.pending.take_files();
    let files = files.into_iter().map(|path| (path.clone(), change_of(rooms, &path))).collect();
    let Rooms { witnesses, chains, rows, pending, startup, .. } = rooms;
    let has_new_facts = pending.take_facts_due(witnesses.moves().last());
    let links = pending.take_links_due().then(|| {
        let links = chains.chains().iter().flat_map(|chain| &chain.links);
        links.filter(|link| link.from != link.to).cloned().collect()
    });
    // A kill would leave these rows with old chains in the store, because no later change makes them due.
    let late = startup.chains_pending() || rows.resting().any_late();
    let chains_wait = pending.is_on() && !pending.is_store_only() && late;
    let all_made = !startup.is_reading() && rows.due().is_empty() && !rows.resting().is_waking();
    let mut changes = Changes {
        files,
        links,
        facts: has_new_facts.then(|| witnesses.facts()),
        ..pending.take(chains_wait, all_made)
    };
    leave_out(rooms, &mut changes);
    changes
}

fn change_of(rooms: &mut Rooms, path: &Path) -> FileChange {
    let Some((id, counted)) = rooms.sessions.counted(path) else { return FileChange::Gone };
    let session = id.map(|id| id.to_string()).unwrap_or_default();
    let Some(file) = rooms.sessions.files_mut().get_mut(path) else { return FileChange::Gone };
    let Some(kept) = file.to_stored(path, rooms.problems.met(), counted) else { return FileChange::Gone };
    let (piece, fresh) = file.take_new_records();
    FileChange::Read { session, head: kept.to_bytes(), piece, fresh }
}

/// Notes the sessions of these changes that are excluded by their working folders or by the place of their transcript.
/// Uses the present rules, not those of an earlier call.
pub(super) fn leave_out(rooms: &Rooms, changes: &mut Changes) {
    let exclude = &rooms.env.settings().history.exclude;
    if exclude.is_empty() {
        changes.left_out.clear();
        return;
    }
    // For a session whose transcript is gone, keep the earlier result: there is nothing to decide by now.
    changes.left_out.retain(|id| rooms.sessions.main_file(id).is_none());
    let of_files = changes.files.values().filter_map(|change| match change {
        FileChange::Read { session, .. } => Some(SessionId::new(session)),
        FileChange::Gone => None,
    });
    let links = changes.links.iter().flatten().chain(&changes.new_links);
    let of_links = links.flat_map(|link| [link.from.clone(), link.to.clone()]);
    // A session without a transcript has a working folder too, from a hook or a status file.
    let rows = || changes.rows.values().chain(&changes.transitions);
    let in_folder = rows().filter(|row| row.cwd.as_deref().is_some_and(|cwd| exclude.excludes(cwd)));
    let of_rows = rows().map(|row| row.session_id.clone());
    let of_facts = changes.facts.iter().flat_map(SeenFacts::sessions).cloned();
    let named: BTreeSet<_> = of_files.chain(of_links).chain(of_rows).chain(of_facts).collect();
    let named = named.into_iter().filter(|id| is_left_out(&rooms.sessions, id, exclude));
    let left_out: BTreeSet<_> = in_folder.map(|row| row.session_id.clone()).chain(named).collect();
    changes.left_out.extend(left_out);
}

/// Whether the rules exclude a working folder of the session, or the place of its transcript.
pub(super) fn is_left_out(sessions: &Sessions, id: &SessionId, exclude: &Exclude) -> bool {
    sessions.main_file(id).is_some_and(|(path, file)| {
        exclude.excludes(&path.to_string_lossy())
            || file.main().is_some_and(|fold| exclude.excludes_session(fold.lineage()))
    })
}
