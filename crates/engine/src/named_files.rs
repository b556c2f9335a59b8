//! The files that a request names, as they are now: a command that was shown may run a script that was changed since.

use std::path::Path;

use watchbill_agents::claude::requests::files::{MAX_FILES, named_paths};
use watchbill_core::requests::request::{Digest, FileState, NamedFile, Request};
use watchbill_watch::fs::{FileKind, Fs};

/// The longest file that is hashed, in bytes. Of a longer one, size and time count.
const HASHED: u64 = 1 << 20;

/// The files of the project that a request names and that are there.
pub(crate) fn of(request: &Request, fs: &dyn Fs) -> Vec<NamedFile> {
    let files = named_paths(request).into_iter().map(|path| look(&path, fs));
    files.filter(|file| file.state.is_some()).take(MAX_FILES).collect()
}

/// The same files, looked at again; `None` if none of them has changed.
pub(crate) fn changed(files: &[NamedFile], fs: &dyn Fs) -> Option<Vec<NamedFile>> {
    let now: Vec<_> = files.iter().map(|file| look(&file.path, fs)).collect();
    (now != files).then_some(now)
}

fn look(path: &str, fs: &dyn Fs) -> NamedFile {
    let state = || {
        let stat = fs.stat(Path::new(path)).ok().filter(|stat| stat.kind == FileKind::File)?;
        let hash = || fs.read_small(Path::new(path), HASHED).ok().map(|bytes| Digest::of(&bytes));
        let hash = if stat.len <= HASHED { hash() } else { None };
        Some(FileState { length: stat.len, modified: stat.mtime, hash })
    };
    NamedFile { path: path.into(), state: state() }
}
