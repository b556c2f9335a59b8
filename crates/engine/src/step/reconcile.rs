//! Finds the files to read after a hint or a scan.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use watchbill_agents::document::shown_at;
use watchbill_agents::layout::{ClientPath, ClientPathKind, TRANSCRIPTS};
use watchbill_core::hook::HookMessage;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Found, Scan, scan, scan_path};

use super::after_read::forget_file;
use super::ingest::{read_meta, read_names, read_transcript};
use super::processes::{
    forget_registry, look_at_free_lock, look_at_lock, note_registry_folders, read_registry, recheck,
    take_hook,
};
use super::rooms::Rooms;
use super::working_folders::{look_around, look_at_all_folders};
use crate::persist::stored_transcript::MetaStamp;
use crate::step::input::Output;

/// Looks at all hinted paths.
pub(super) fn take_hints(rooms: &mut Rooms, hints: BTreeSet<Hint>, out: &mut Vec<Output>) {
    if hints.contains(&Hint::Everything) {
        return rescan(rooms, out);
    }
    for hint in hints {
        match hint {
            Hint::Everything => {}
            Hint::Tree(path) => {
                // A user may work in the folder that contains a root. Then it is a working folder too.
                look_around(rooms, &path, out);
                look_at_tree(rooms, &path, out);
            }
            Hint::File(path) => {
                look_around(rooms, &path, out);
                if rooms.problems.scan_failed_below(&path) {
                    // A path that a scan could not list may be gone or readable now.
                    look_at_tree(rooms, &path, out);
                } else {
                    look_at_file(rooms, &path, out);
                }
            }
        }
    }
}

/// Looks at one file, by its place.
pub(super) fn look_at_file(rooms: &mut Rooms, path: &Path, out: &mut Vec<Output>) {
    let Some((root, place)) = rooms.env.place_of(path) else {
        // A folder whose permissions have changed gets a file's hint, and a copy of a transcript has a problem.
        if rooms.env.is_folder_below_a_root(path) || rooms.env.is_copy(path) {
            look_at_tree(rooms, path, out);
        }
        return;
    };
    match place {
        ClientPath::Registry { .. } => read_registry(rooms, path, out),
        ClientPath::Lock { session, pid, .. } => look_at_lock(rooms, path, session, pid, out),
        // Its sessions are shown below the database. The log of its changes lies beside it.
        ClientPath::Database { .. } => {
            if let Some((_, database)) = root.database() {
                look_at_tree(rooms, &database, out);
            }
        }
        ClientPath::Document { .. } => {
            if let Some(transcript) = shown_at(path) {
                look_at_file(rooms, &transcript, out);
            }
        }
        ClientPath::SubagentMeta { .. } => read_meta(rooms, path),
        ClientPath::Names { .. } => read_names(rooms, path),
        ClientPath::Transcript { ref session, .. } => {
            if root.keeps_locks() {
                let root = root.clone();
                look_at_free_lock(rooms, &root, session, out);
            }
            read_transcript(rooms, path, place, out);
        }
        ClientPath::Subagent { .. } | ClientPath::FlatSubagent { .. } => {
            read_transcript(rooms, path, place, out);
        }
        ClientPath::Marker { .. } | ClientPath::StatusFile { .. } => {}
    }
}

/// Looks at everything at or below `path`, and at known files there that may be gone.
fn look_at_tree(rooms: &mut Rooms, path: &Path, out: &mut Vec<Output>) {
    if !rooms.env.is_below_a_root(path) {
        // A missing root may have another canonical path now that it exists. A folder around a root may contain any
        // part of it.
        if rooms.env.is_near_a_root(path) {
            rescan(rooms, out);
        }
        return;
    }
    let found = scan_path(rooms.env.fs(), rooms.env.roots(), path);
    rooms.problems.renew_scan(path, found.problems);
    let missing = missing(rooms, &found.found, &|file| file.starts_with(path));
    let is_project = path.parent().is_some_and(|above| above.ends_with(TRANSCRIPTS));
    if is_project && !missing.is_empty() && rooms.env.fs().stat(path).is_err() {
        // If it was a link, its files may exist under another name, and no hint will tell.
        return rescan(rooms, out);
    }
    note_registry_folders(rooms);
    look_at_found(rooms, found.found, missing, out);
    forget_unreadable(rooms, &|file| file.starts_with(path));
}

/// Removes the problems of files that could not be read and no longer exist.
fn forget_unreadable(rooms: &mut Rooms, below: &dyn Fn(&Path) -> bool) {
    let Rooms { env, sessions, problems, .. } = rooms;
    let is_gone = |file: &Path| !sessions.files().contains(file) && env.fs().stat(file).is_err();
    problems.met_mut().forget_unreadable(&|file| below(file) && is_gone(file));
}

/// Compares everything with the known files, after lost events, a new root or a long sleep.
fn rescan(rooms: &mut Rooms, out: &mut Vec<Output>) {
    rooms.problems.begin_scan();
    if rooms.env.looks_elsewhere() {
        out.push(Output::Rescan);
    } else {
        let found = scan(rooms.env.fs(), &rooms.env.roots_now());
        take_rescan(rooms, found, out);
    }
}

/// Compares the result of a full scan with the known files. Hints may be newer than the scan, so its entries are only a
/// reason to look at a file.
pub(super) fn take_rescan(rooms: &mut Rooms, found: Scan, out: &mut Vec<Output>) {
    rooms.rows.resting_mut().begin_waking(&rooms.sessions);
    rooms.env.renew_roots();
    if !rooms.problems.take_scan(found.problems) {
        return rescan(rooms, out);
    }
    note_registry_folders(rooms);
    reconcile(rooms, found.found, out);
    forget_unreadable(rooms, &|_| true);
    look_at_all_folders(rooms, out);
    recheck(rooms, None, out);
}

/// Compares the result of a scan with the known files. Skips unchanged files.
pub(super) fn reconcile(rooms: &mut Rooms, mut found: Vec<Found>, out: &mut Vec<Output>) {
    // At most starts, every file exists and is unchanged. Then each needs one lookup, and no search for missing files.
    let is_meta = |found: &Found| found.kind == ClientPathKind::SubagentMeta;
    let unchanged: Vec<bool> =
        found.iter().map(|found| !is_meta(found) && is_unchanged(rooms, found)).collect();
    let known = |(found, unchanged): &(&Found, &bool)| **unchanged || is_known(rooms, found);
    let here = found.iter().zip(&unchanged).filter(known).count();
    let all_here = here == rooms.sessions.files().len() + rooms.witnesses.registry().count();
    let mut missing = if all_here { BTreeSet::new() } else { missing(rooms, &found, &|_| true) };
    forget_linked_copies(rooms, &found, &mut missing);
    let metas: HashSet<PathBuf> = found
        .iter()
        .filter(|found| is_meta(found))
        .map(|found| found.path.with_extension("").with_extension("jsonl"))
        .collect();
    let files = rooms.sessions.files();
    let vanished: Vec<PathBuf> = files
        .iter()
        .filter(|(path, file)| file.meta().is_some() && !metas.contains(*path))
        .map(|(path, _)| path.with_extension("meta.json"))
        .collect();
    if !rooms.problems.met().any_unreadable() {
        let mut unchanged = unchanged.into_iter();
        found.retain(|_| !unchanged.next().unwrap_or(false));
    }
    look_at_found(rooms, found, missing, out);
    for meta in vanished {
        read_meta(rooms, &meta);
    }
}

fn is_known(rooms: &Rooms, found: &Found) -> bool {
    match found.kind {
        ClientPathKind::Registry | ClientPathKind::Lock => rooms.witnesses.registry().contains(&found.path),
        _ => rooms.sessions.files().contains(&found.path),
    }
}

/// Whether a found file, or its companion, is unchanged since its last read.
fn is_unchanged(rooms: &mut Rooms, found: &Found) -> bool {
    let files = rooms.sessions.files_mut();
    if found.kind == ClientPathKind::SubagentMeta {
        let transcript = found.path.with_extension("").with_extension("jsonl");
        let stamp = MetaStamp { mtime: found.stat.mtime, len: found.stat.len };
        return files.get(&transcript).is_some_and(|file| file.meta() == Some(stamp));
    }
    files.get_mut(&found.path).is_some_and(|file| file.is_as(&found.stat))
}

/// If a link gives one file two names, only the name that a scan finds first counts.
fn forget_linked_copies(rooms: &mut Rooms, found: &[Found], missing: &mut BTreeSet<PathBuf>) {
    if missing.is_empty() {
        return;
    }
    let ids: HashMap<_, _> =
        found.iter().map(|found| ((found.stat.id, found.path.file_name()), &found.path)).collect();
    let id = |path: &Path| rooms.env.fs().stat(path).ok().map(|stat| stat.id);
    let is_linked_copy = |path: &&PathBuf| {
        let Some(id_now) = id(path).filter(|_| rooms.sessions.files().contains(path)) else { return false };
        // A file that was moved since the scan has only its new name.
        ids.get(&(id_now, path.file_name())).is_some_and(|other| id(other) == Some(id_now))
    };
    let copies: Vec<PathBuf> = missing.iter().filter(is_linked_copy).cloned().collect();
    for path in copies {
        forget_file(rooms, &path);
        missing.remove(&path);
    }
}

/// The known transcripts and registry files that the scan did not find. `below` limits the result to the scanned paths.
fn missing(rooms: &Rooms, found: &[Found], below: &dyn Fn(&Path) -> bool) -> BTreeSet<PathBuf> {
    // Compared as bytes: splitting paths into components would cost more than all the rest.
    let here: FxHashSet<&OsStr> = found.iter().map(|found| found.path.as_os_str()).collect();
    let gone = |path: &&Path| !here.contains(path.as_os_str()) && below(path);
    let registry = rooms.witnesses.registry().paths();
    let known = rooms.sessions.files().paths().chain(registry.iter().map(PathBuf::as_path));
    known.filter(gone).map(Path::to_path_buf).collect()
}

fn look_at_found(rooms: &mut Rooms, found: Vec<Found>, missing: BTreeSet<PathBuf>, out: &mut Vec<Output>) {
    let any_unreadable = rooms.problems.met().any_unreadable();
    for found in found {
        if is_unchanged(rooms, &found) {
            if any_unreadable {
                rooms.problems.can_be_read(&found.path);
            }
            continue;
        }
        match found.place() {
            Some(ClientPath::Registry { .. }) => read_registry(rooms, &found.path, out),
            Some(ClientPath::Lock { session, pid, .. }) => {
                look_at_lock(rooms, &found.path, session, pid, out);
            }
            Some(ClientPath::SubagentMeta { .. }) => read_meta(rooms, &found.path),
            Some(ClientPath::Names { .. }) => read_names(rooms, &found.path),
            Some(ClientPath::Marker { .. } | ClientPath::StatusFile { .. }) | None => {}
            Some(place) => read_transcript(rooms, &found.path, place, out),
        }
    }
    for path in missing {
        if rooms.env.place_of(&path).is_some() {
            look_at_file(rooms, &path, out);
            continue;
        }
        // The root's link now leads elsewhere.
        forget_file(rooms, &path);
        forget_registry(rooms, &path, out);
    }
}

/// Takes in hook events, in any order.
pub(super) fn take_hooks(rooms: &mut Rooms, messages: &[HookMessage], out: &mut Vec<Output>) {
    if !rooms.env.is_live() {
        return;
    }
    for message in messages {
        if let Some(path) = take_hook(rooms, message, out) {
            look_at_file(rooms, Path::new(&*path), out);
        }
    }
}
