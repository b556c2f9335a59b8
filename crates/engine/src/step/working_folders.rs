//! What lies in the working folders of sessions: markers, status files, and the repository around them.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rooms::Rooms;
use crate::input::Output;
use crate::model::schedule::Due;
use crate::witnesses::folders::{FolderLook, folder_of, look};

/// The working folders of all sessions may hold markers and status files; those in use may get some.
pub(super) fn add_folders(rooms: &mut Rooms, out: &mut Vec<Output>) {
    let Rooms { env, witnesses, sessions, rows, .. } = rooms;
    let oldest = env.recent_since();
    let mut looks = Vec::new();
    // Many sessions work in one folder, and a folder takes longer to find than its name.
    let mut added_already: HashSet<(&str, bool)> = HashSet::new();
    for id in rows.due() {
        let Some(fold) = sessions.fold(id) else { continue };
        let recent = fold.last_activity_at().is_some_and(|at| at >= oldest);
        let in_use = recent || witnesses.named().any(|named| named == id);
        for cwd in &fold.lineage().cwds {
            if !added_already.insert((cwd, in_use)) {
                continue;
            }
            let added = witnesses.add_folder(cwd, in_use, env.now());
            out.extend(added.unwatch.map(Output::UnwatchFolder));
            out.extend(added.watch.map(Output::WatchFolder));
            looks.extend(added.look);
        }
    }
    // Nobody works where all sessions are at rest.
    for cwd in rows.resting_mut().take_cwds_due() {
        looks.extend(witnesses.add_folder(&cwd, false, env.now()).look);
    }
    for folder in looks {
        look_at_folder(rooms, &folder, out);
    }
}

/// A change at `path` may concern working folders.
pub(super) fn look_around(rooms: &mut Rooms, path: &Path, out: &mut Vec<Output>) {
    for folder in rooms.witnesses.folders_at(path) {
        look_at_folder(rooms, &folder, out);
    }
}

/// Looks at all working folders.
pub(super) fn look_at_all_folders(rooms: &mut Rooms, out: &mut Vec<Output>) {
    for folder in rooms.witnesses.folders() {
        look_at_folder(rooms, &folder, out);
    }
}

/// Looks at one working folder, or asks for a look.
pub(super) fn look_at_folder(rooms: &mut Rooms, folder: &Path, out: &mut Vec<Output>) {
    if rooms.env.looks_elsewhere() {
        out.push(Output::LookAtFolder(folder.to_path_buf()));
        return;
    }
    let look = look(rooms.env.fs(), folder);
    take_looks(rooms, vec![look]);
}

/// Takes in what looks at working folders found.
pub(super) fn take_looks(rooms: &mut Rooms, looks: Vec<FolderLook>) {
    let Rooms { env, witnesses, sessions, chains, rows, pending, problems, schedule, .. } = rooms;
    let mut moved: BTreeSet<PathBuf> = BTreeSet::new();
    for look in looks {
        let change = witnesses.take_look(&look, env.now());
        if change.markers {
            chains.mark_all();
            pending.markers();
        }
        problems.touch();
        rows.mark_all(change.sessions);
        schedule.retry(&look.folder, Due::Folder(look.folder.clone()), change.again);
        if change.moved {
            moved.insert(look.folder);
        }
    }
    if !moved.is_empty() {
        let works_there = |cwd: &Arc<str>| moved.contains(&folder_of(cwd));
        let concerned = sessions.ids().filter(|id| {
            let fold = sessions.fold(id);
            fold.and_then(|fold| fold.cwd()).is_some_and(works_there)
        });
        rows.touch(concerned.cloned());
    }
}
