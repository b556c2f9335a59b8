//! Files that grew or changed while no thread watched them.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use watchbill_watch::fs::FileStat;
use watchbill_watch::scan::{Found, scan};

use super::queues::SLICE_FILES;
use super::refusal::{SliceError, require_writer};
use super::task::HistoryParts;

/// With more files behind than this, the index is tidied after all of them are read.
const MANY_FILES: usize = 8 * SLICE_FILES;

/// Files that grew or changed since they were stored, older first, and whether they are so many that the index must
/// be tidied after them.
pub(super) fn find_behind(parts: &HistoryParts) -> Result<(Vec<PathBuf>, bool), SliceError> {
    // Stored files are not collected beside the files on disk: both lists have the same size and may have thousands
    // of entries.
    let mut behind = transcripts_there(parts);
    let mut shared_store = parts.shared_store.in_turn("history: what is behind");
    let store = require_writer(&mut shared_store)?;
    store.files(&mut |_, file| {
        // A path that is not UTF-8 never matches, and is read again at each start. That is rare enough.
        let (path, cursor) = (Path::new(&file.path), file.cursor);
        let stored = (cursor.size, cursor.mtime, cursor.inode);
        if behind.get(path).is_some_and(|stat| (stat.len, stat.mtime, stat.id.ino) == stored) {
            behind.remove(path);
        }
    })?;
    drop(shared_store);
    let mut behind: Vec<_> = behind.into_iter().map(|(path, stat)| (stat.mtime, path)).collect();
    behind.sort();
    let many = behind.len() > MANY_FILES;
    if many {
        require_writer(&mut parts.shared_store.in_turn("history: much is behind"))?.merge_in_small_parts()?;
    }
    Ok((behind.into_iter().map(|(_, path)| path).collect(), many))
}

/// All transcripts that may be stored, with their `stat`. A thread of its own scans for them: the memory of the scan
/// is given back when that thread ends, and never on a thread that goes on.
fn transcripts_there(parts: &HistoryParts) -> HashMap<PathBuf, FileStat> {
    let HistoryParts { fs, roots, settings, .. } = parts;
    let look = || {
        let is_wanted = |found: &Found| {
            found.kind.is_transcript() && !settings.exclude.excludes(&found.path.to_string_lossy())
        };
        let found = scan(&**fs, roots).found.into_iter().filter(is_wanted);
        found.map(|found| (found.path, found.stat)).collect()
    };
    std::thread::scope(|scope| {
        let thread = Builder::new().name("watchbill-history-look".to_owned());
        match thread.spawn_scoped(scope, look) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system cannot start another thread. The scan then only costs more memory.
            Err(_) => look(),
        }
    })
}
