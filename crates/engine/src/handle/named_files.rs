//! The files that a request names, as they are now: a command that was shown may run a script that was changed since.

use std::path::Path;
use std::sync::Arc;

use watchbill_agents::named_paths::{MAX_FILES, named_paths};
use watchbill_core::requests::request::{Digest, FileState, NamedFile, NamedFiles, Request};
use watchbill_core::requests::visible::visible_line;
use watchbill_watch::fs::{FileKind, Fs};

/// The longest file that is hashed, in bytes. Of a longer one, size and time count.
const HASHED: u64 = 1 << 20;

/// The most names of files that are not compared. More are counted.
const MAX_NAMES: usize = 8;

/// The files that a request names and that are there.
pub(crate) fn look(request: &Request, fs: &dyn Fs) -> NamedFiles {
    let named = named_paths(request);
    let mut paths = named.paths;
    paths.extend(named.patterns.iter().flat_map(|pattern| matching(pattern, fs)));
    let mut compared = Vec::new();
    let mut rest = named.unresolved;
    for path in paths {
        if !is_file(&path, fs) || compared.iter().any(|file: &NamedFile| *file.path == *path) {
            continue;
        }
        if compared.len() < MAX_FILES {
            compared.push(look_at(&path, fs));
        } else {
            rest.push(visible_line(&path, 200));
        }
    }
    let outside = named.outside.iter().filter(|path| is_file(path, fs));
    rest.extend(outside.map(|path| visible_line(path, 200)));
    if rest.len() > MAX_NAMES {
        let more = rest.len() - MAX_NAMES;
        rest.truncate(MAX_NAMES);
        rest.push(format!("{more} more"));
    }
    NamedFiles { compared, not_compared: rest.into_iter().map(Arc::from).collect() }
}

/// The same files, looked at again; `None` if none of them has changed, and none is new.
pub(crate) fn changed(request: &Request, fs: &dyn Fs) -> Option<NamedFiles> {
    let before = request.files.as_ref()?;
    let mut now = look(request, fs);
    let is_gone = |file: &&NamedFile| now.compared.iter().all(|other| other.path != file.path);
    let gone: Vec<_> = before.iter().filter(is_gone).map(|file| look_at(&file.path, fs)).collect();
    now.compared.extend(gone);
    let differs = now.changed_since(before).next().is_some();
    differs.then_some(now)
}

fn is_file(path: &str, fs: &dyn Fs) -> bool {
    fs.stat(Path::new(path)).is_ok_and(|stat| stat.kind == FileKind::File)
}

fn look_at(path: &str, fs: &dyn Fs) -> NamedFile {
    let file = Path::new(path);
    let state = || {
        let stat = fs.stat(file).ok().filter(|stat| stat.kind == FileKind::File)?;
        let is_short = stat.len <= HASHED;
        let hash =
            is_short.then(|| fs.read_small(file, HASHED).ok().map(|bytes| Digest::of(&bytes))).flatten();
        let modified = if is_short { stat.mtime } else { fs.changed_at(file).unwrap_or(stat.mtime) };
        Some(FileState { length: stat.len, modified, hash })
    };
    NamedFile { path: path.into(), state: state() }
}

/// The paths that match a pattern, as a shell without options takes it.
fn matching(pattern: &str, fs: &dyn Fs) -> Vec<String> {
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    let mut found = vec![String::new()];
    for part in pattern.split('/').skip(1) {
        if !part.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| *path += &format!("/{part}"));
            continue;
        }
        // A shell reads a malformed pattern as a name.
        let Ok(wanted) = glob::Pattern::new(part) else { return vec![pattern.to_owned()] };
        let names_in = |folder: &String| fs.list(Path::new(&format!("{folder}/"))).unwrap_or_default();
        let fits = |name: &str| wanted.matches_with(name, options);
        let below = |folder: &String| {
            let names = names_in(folder).into_iter().filter_map(|name| name.name.into_string().ok());
            names.filter(|name| fits(name)).map(|name| format!("{folder}/{name}")).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(below).take(16 * MAX_FILES).collect();
    }
    found
}
