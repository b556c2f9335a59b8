//! The files in the working folders of sessions: markers and status files. Also the repository around each folder.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rooms::Rooms;
use crate::model::schedule::Due;
use crate::step::input::Output;
use crate::witnesses::folders::{FolderLook, folder_of, look};

/// Adds the working folders of due sessions. All may hold markers and status files; folders in use may get new ones.
pub(super) fn add_folders(rooms: &mut Rooms, out: &mut Vec<Output>) {
    let Rooms { env, witnesses, sessions, rows, .. } = rooms;
    let oldest = env.recent_since();
    let mut looks = Vec::new();
    // Many sessions work in one folder, and finding a folder is slower than comparing names.
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
    // No session works in the folders of sessions at rest, so they are not in use.
    for cwd in rows.resting_mut().take_cwds_due() {
        looks.extend(witnesses.add_folder(&cwd, false, env.now()).look);
    }
    for folder in looks {
        look_at_folder(rooms, &folder, out);
    }
}

/// Looks at the working folders that a change at `path` may concern.
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

/// Looks at one working folder, or asks another thread to do it.
pub(super) fn look_at_folder(rooms: &mut Rooms, folder: &Path, out: &mut Vec<Output>) {
    if rooms.env.looks_elsewhere() {
        out.push(Output::LookAtFolder(folder.to_path_buf()));
        return;
    }
    let look = look(rooms.env.fs(), folder);
    take_looks(rooms, vec![look]);
}

/// Takes in the results of looks at working folders.
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
