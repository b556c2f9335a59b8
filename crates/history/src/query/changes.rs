//! What changed in the repository of a work chain since it began, and which of it the chain edited.

mod git;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use watchbill_core::time::Timestamp;
use watchbill_core::tool::ToolKind;
use watchbill_platform::files::{open_ordinary, real_path};
use watchbill_protocol::changes::{ChangedFile, Changes, FileFate, Hunk};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::hooks::DiffKind;
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

use self::git::{Candidate, WorkingTree};
use crate::errors::{data_dir, store_api_error};
use crate::query::Gate;
use crate::query::diff::hunks;

/// The most files that are shown.
const MOST_FILES: usize = 200;

/// The largest file whose lines are compared, in bytes.
const MOST_BYTES: u64 = 1 << 20;

const TOO_LARGE: &str = "It has more than 1 MB, which is too much to compare.";

/// After this time further files are named alone.
const LONGEST: Duration = Duration::from_secs(5);

/// The most lines of all files. More would hold the window up.
const MOST_LINES: usize = 20_000;

/// The edits of one file.
#[derive(Debug, Clone, Copy, Default)]
struct Edits {
    count: u64,
    newest: Option<Timestamp>,
}

/// The changes in the repository at `root`, with the edits of a work chain told apart. Blocks for as long as git and the disk do.
///
/// # Errors
/// When nothing is stored, an `exclude` rule names the folder, or git cannot read the repository.
pub fn changes(settings: &Settings, chain: &str, root: &Path) -> Result<Changes, ApiError> {
    let gate = Gate::of(settings)?;
    if gate.exclude().excludes(&root.to_string_lossy()) {
        return Err(ApiError::new(
            ErrorCode::NotFound,
            "`exclude` names this folder, so nothing of it is shown",
        ));
    }
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let since = store.chain_began(chain).map_err(|error| store_api_error(&error))?;
    let (mut edits, elsewhere) = edits(&store, chain, root)?;
    let tree = WorkingTree::at(root)?;
    let base = tree.base(since)?;
    let shown = |path: &str| !gate.exclude().excludes(&root.join(path).to_string_lossy());
    let mut candidates = merged(tree.candidates(&base)?);
    candidates.retain(|file| shown(&file.path));
    candidates.sort_by_cached_key(|file| {
        (Reverse(edits.get(&file.path).and_then(|it| it.newest)), file.path.clone())
    });
    let mut files = Vec::new();
    let mut room = Room { lines: MOST_LINES, until: Instant::now() + LONGEST };
    let mut left_out = 0;
    for candidate in candidates {
        if files.len() == MOST_FILES {
            left_out += 1;
        } else if let Some(file) = compare(&tree, candidate, &mut edits, &mut room) {
            files.push(file);
        }
    }
    Ok(Changes {
        root: root.to_string_lossy().into_owned(),
        since: since.map(|at| at.to_string()),
        base: base.is_commit.then(|| base.name.chars().take(10).collect()),
        files,
        left_out,
        elsewhere: elsewhere.into_iter().filter(|path| !gate.exclude().excludes(path)).collect(),
    })
}

/// A file that was taken out of git and is still there was removed and is new. It has changed, if anything.
fn merged(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.sort_by(|a, b| a.path.cmp(&b.path));
    let mut merged: Vec<Candidate> = Vec::new();
    for file in candidates {
        match merged.last_mut() {
            Some(last) if last.path == file.path => {
                last.before = last.before.take().or(file.before);
                last.fate = FileFate::Changed;
            }
            _ => merged.push(file),
        }
    }
    merged
}

/// The edits of a chain: by the path below `root`, and the paths outside.
fn edits(
    store: &Store,
    chain: &str,
    root: &Path,
) -> Result<(BTreeMap<String, Edits>, Vec<String>), ApiError> {
    let mut inside: BTreeMap<String, Edits> = BTreeMap::new();
    let mut outside = Vec::new();
    // The agent may name the repository by another way than `root` does.
    let real = |path: &Path| real_path(path).unwrap_or_else(|_| path.to_owned());
    for call in store.file_calls(chain).map_err(|error| store_api_error(&error))? {
        if !ToolKind::of(&call.tool).changes_file() {
            continue;
        }
        let path = without_dots(&Path::new(call.cwd.as_deref().unwrap_or_default()).join(&call.path));
        let below = path.strip_prefix(root).map(Path::to_owned).or_else(|_| {
            let folder = real(path.parent().unwrap_or(&path));
            folder.join(path.file_name().unwrap_or_default()).strip_prefix(real(root)).map(Path::to_owned)
        });
        match below {
            Ok(below) => {
                let edits = inside.entry(below.to_string_lossy().replace('\\', "/")).or_default();
                edits.count += call.count;
                edits.newest = edits.newest.max(call.newest);
            }
            Err(_) => outside.push(path.to_string_lossy().into_owned()),
        }
    }
    outside.sort();
    outside.dedup();
    Ok((inside, outside))
}

/// A path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => (),
            part => plain.push(part),
        }
    }
    plain
}

/// What may still be shown.
struct Room {
    lines: usize,
    until: Instant,
}

/// Compares a file with its content from before. `None` if they are equal: git had seen another time alone.
fn compare(
    tree: &WorkingTree,
    candidate: Candidate,
    edits: &mut BTreeMap<String, Edits>,
    room: &mut Room,
) -> Option<ChangedFile> {
    let own = edits.remove(&candidate.path).unwrap_or_default();
    let mut file = ChangedFile {
        edits: own.count,
        edited_at: own.newest.map(|at| at.to_string()),
        fate: candidate.fate,
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        note: candidate.mode_changed.then(|| "Its mode changed.".to_owned()),
        path: candidate.path,
    };
    let place = tree.place(&file.path);
    let is_same = || {
        let object = candidate.before.as_deref().filter(|_| file.fate == FileFate::Changed);
        object.zip(place.as_deref()).is_some_and(|(object, place)| tree.is_same(place, object))
    };
    if Instant::now() > room.until {
        file.note = Some("It was not compared: that would have taken too long.".to_owned());
        return Some(file);
    }
    match texts(tree, candidate.before.as_deref(), file.fate, place.as_deref()) {
        Ok((before, after)) if before != after => {
            let mut hunks = hunks(&before, &after);
            let count =
                |kind| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|it| it.kind == kind).count() as u64;
            (file.added, file.removed) = (count(DiffKind::Added), count(DiffKind::Removed));
            if cut(&mut hunks, &mut room.lines) {
                file.note = Some("The rest is left out: there are too many lines.".to_owned());
            }
            file.hunks = hunks;
        }
        _ if file.note.is_none() && is_same() => return None,
        Ok(_) if file.fate == FileFate::Changed && file.note.is_none() => {
            file.note = Some("Only the ends of its lines differ.".to_owned());
        }
        Ok(_) => (),
        Err(note) => file.note = Some(note),
    }
    Some(file)
}

/// The texts of a file before and now, with the ends of lines that git stores. The error says why they cannot be compared.
fn texts(
    tree: &WorkingTree,
    before: Option<&str>,
    fate: FileFate,
    place: Option<&Path>,
) -> Result<(String, String), String> {
    let before = match (before, fate) {
        (Some(object), _) => tree.content(object).map_err(|error| format!("{}.", error.message))?,
        (None, FileFate::Added) => String::new(),
        (None, _) => return Err("It was no plain file before.".to_owned()),
    };
    if before.len() as u64 > MOST_BYTES {
        return Err(TOO_LARGE.to_owned());
    }
    let after = match (fate, place) {
        (FileFate::Removed, _) => String::new(),
        (_, None) => return Err("It lies behind a link that leads out of the repository.".to_owned()),
        (_, Some(place)) => read(place)?,
    };
    match [&before, &after].iter().any(|text| text.contains(['\0', '\u{fffd}'])) {
        true => Err("It is no text.".to_owned()),
        false => Ok((plain(before), plain(after))),
    }
}

/// The content of a plain file. A link is not followed: it may lead out of the repository.
fn read(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("It could not be read: {error}.");
    let about = std::fs::symlink_metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err("It is no plain file.".to_owned());
    }
    if about.len() > MOST_BYTES {
        return Err(TOO_LARGE.to_owned());
    }
    let mut bytes = Vec::new();
    let file = open_ordinary(OpenOptions::new().read(true), path).map_err(failed)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A text with the ends of lines that git stores. Git may write others into the working tree.
fn plain(text: String) -> String {
    if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text }
}

/// Leaves as many lines as there is room for. Returns whether some are gone.
fn cut(hunks: &mut Vec<Hunk>, room: &mut usize) -> bool {
    let all: usize = hunks.iter().map(|hunk| hunk.lines.len()).sum();
    for hunk in hunks.iter_mut() {
        hunk.lines.truncate(*room);
        *room -= hunk.lines.len();
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() < all
}
