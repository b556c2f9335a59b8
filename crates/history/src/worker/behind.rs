//! What was missed while nobody looked: files that have grown or changed since they were stored.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use watchbill_watch::fs::FileStat;
use watchbill_watch::scan::{Found, scan};

use super::queues::SLICE_FILES;
use super::refusal::{Refusal, writer};
use super::task::HistorianParts;

/// With more files behind than these, the index is put in order when all of them are read.
const MANY_FILES: usize = 8 * SLICE_FILES;

/// Files that have grown or changed since they were stored, older first, and whether they are so many that the index is to be
/// put in order behind them.
pub(super) fn find(parts: &HistorianParts) -> Result<(Vec<PathBuf>, bool), Refusal> {
    // What is stored is not held beside what was found: each is as large as the other, and there may be thousands.
    let mut behind = transcripts_there(parts);
    let mut shelf = parts.shelf.in_turn("history: what is behind");
    let store = writer(&mut shelf)?;
    store.files(&mut |_, file| {
        // A name that is no text is rare enough to be looked at at each start.
        let (path, cursor) = (Path::new(&file.path), file.cursor);
        let stored = (cursor.size, cursor.mtime, cursor.inode);
        if behind.get(path).is_some_and(|stat| (stat.len, stat.mtime, stat.id.ino) == stored) {
            behind.remove(path);
        }
    })?;
    drop(shelf);
    let mut behind: Vec<_> = behind.into_iter().map(|(path, stat)| (stat.mtime, path)).collect();
    behind.sort();
    let many = behind.len() > MANY_FILES;
    if many {
        writer(&mut parts.shelf.in_turn("history: much is behind"))?.merge_by_and_by()?;
    }
    Ok((behind.into_iter().map(|(_, path)| path).collect(), many))
}

/// All transcripts of which anything is to be stored, and how they stand. A thread of its own looks, since the memory that this
/// takes is given back with the thread, and else never is.
fn transcripts_there(parts: &HistorianParts) -> HashMap<PathBuf, FileStat> {
    let HistorianParts { fs, roots, settings, .. } = parts;
    let look = || {
        let is_wanted = |found: &Found| {
            found.kind.is_transcript() && !settings.exclude.leaves_out(&found.path.to_string_lossy())
        };
        let found = scan(&**fs, roots).found.into_iter().filter(is_wanted);
        found.map(|found| (found.path, found.stat)).collect()
    };
    std::thread::scope(|scope| {
        let thread = Builder::new().name("watchbill-history-look".to_owned());
        match thread.spawn_scoped(scope, look) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // The system has no thread left: it is a matter of memory alone.
            Err(_) => look(),
        }
    })
}
