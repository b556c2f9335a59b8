//! Reads one transcript or its companion, and takes in files that workers have read.

use std::path::Path;

use watchbill_agents::layout::ClientPath;
use watchbill_watch::tail::TailError;

use super::after_read::{after_agent_read, after_read, forget_file};
use super::rooms::Rooms;
use crate::step::input::Output;
use crate::transcripts::{Fold, Loaded};

/// A file of so many names is faulty.
const NAMES_LIMIT: u64 = 16 << 20;

/// Reads the companion of a subagent's transcript.
pub(super) fn read_meta(rooms: &mut Rooms, path: &Path) {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
    let Some(stem) = name.strip_suffix(".meta.json") else { return };
    let transcript = path.with_file_name(format!("{stem}.jsonl"));
    if let Some(file) = rooms.sessions.files_mut().get_mut(&transcript) {
        file.read_meta(rooms.env.fs(), &transcript);
        after_agent_read(rooms, &transcript);
    }
}

/// Reads the file with the names of sessions. A missing file takes the names away.
pub(super) fn read_names(rooms: &mut Rooms, path: &Path) {
    let Some((root, _)) = rooms.env.place_of(path) else { return };
    let Some(names) = root.names() else { return };
    let bytes = rooms.env.fs().read_small(path, NAMES_LIMIT).unwrap_or_default();
    let changed = rooms.witnesses.names_mut().set(path, (names.read)(&bytes));
    rooms.rows.touch(changed);
}

/// Reads the new bytes of a transcript.
pub(super) fn read_transcript(rooms: &mut Rooms, path: &Path, place: ClientPath, out: &mut Vec<Output>) {
    let new = !rooms.sessions.files().contains(path);
    // Leave a new file to the first scan, if that still runs.
    if new && rooms.startup.defer(path) {
        return;
    }
    if let Some(twin) = new.then(|| rooms.sessions.known_path_of(path, &place, rooms.env.fs())).flatten() {
        return read_transcript(rooms, &twin, place, out);
    }
    if !ready_to_read(rooms, path) {
        return rooms.problems.can_be_read(path);
    }
    let Rooms { env, sessions, pending, problems, work, .. } = rooms;
    let make = || {
        let mut file = env.new_file(place);
        if pending.is_on() {
            file.collect_records();
        }
        file
    };
    work.reads += 1;
    let (before, read) = sessions.read(path, new, make, env.fs(), problems);
    match read {
        Ok(count) => {
            work.count(count);
            if count.more {
                out.push(Output::Again(vec![path.to_path_buf()]));
            }
            problems.can_be_read(path);
            if new || count.bytes > 0 || count.restarted {
                after_read(rooms, path, new || count.restarted, before);
            }
        }
        Err(TailError::Gone) => forget_file(rooms, path),
        Err(error) => {
            if new {
                sessions.files_mut().remove(path);
            } else {
                // The records from before the error count. If the file was rewritten, its old records no longer do.
                after_read(rooms, path, true, None);
            }
            rooms.problems.met_mut().note_tail(path, &error);
            rooms.problems.touch();
        }
    }
}

/// Restores a file's record memory before a read. `false` if the file is unchanged, so there is nothing to read.
fn ready_to_read(rooms: &mut Rooms, path: &Path) -> bool {
    let Rooms { env, sessions, evicted, pending, problems, .. } = rooms;
    let files = sessions.files_mut();
    let Some(file) = files.get_mut(path).filter(|file| file.is_evicted()) else { return true };
    if env.fs().stat(path).is_ok_and(|stat| file.is_as(&stat)) {
        return false;
    }
    evicted.restore(path, files, env, pending, problems);
    true
}

/// Restores a file's record memory, if only the store has it.
pub(super) fn restore_fold(rooms: &mut Rooms, path: &Path) {
    let Rooms { env, sessions, evicted, pending, problems, .. } = rooms;
    evicted.restore(path, sessions.files_mut(), env, pending, problems);
}

/// Takes in a file that a worker has read.
pub(super) fn take_loaded(rooms: &mut Rooms, loaded: Loaded) {
    let Loaded { path, file, problems, count } = loaded;
    rooms.work.reads += 1;
    rooms.work.count(count);
    rooms.problems.absorb(problems);
    let Some(file) = file else { return };
    // Records without a time belong to the first later record with one. If that is after the limit, the session had not
    // begun.
    let begun = match file.fold() {
        Fold::Main(fold) => fold.lineage().started_at.is_some(),
        Fold::Agent(fold) => fold.started_at().is_some(),
    };
    if rooms.env.until().is_some() && !begun {
        return;
    }
    rooms.sessions.files_mut().insert(path.as_path().into(), file);
    after_read(rooms, &path, true, None);
}
