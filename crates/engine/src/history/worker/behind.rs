//! What was missed while nobody looked: files that have grown or changed since they were stored.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::Builder;

use watchbill_core::time::Timestamp;
use watchbill_watch::fs::FileStat;
use watchbill_watch::scan::{Found, scan};

use super::{Refusal, Worker, writer};
use crate::history::historian::HistorianParts;
use crate::history::reach::Reached;

/// With more files behind than these, the index is put in order when all of them are read.
const MANY_FILES: usize = 8 * super::SLICE_FILES;

impl Drop for Worker {
    /// Nobody keeps the history from here on, also where it ends in a panic.
    fn drop(&mut self) {
        self.parts.reach.set(Reached::Unknown);
    }
}

impl Worker {
    /// Says how far the history goes. Where a file could not be read, whoever asks has to look.
    pub(super) fn say_reach(&self) {
        let unsure = self.at_rest || self.missed || self.damage.is_some() || self.retry.until().is_some();
        self.parts.reach.set(if unsure {
            Reached::Unknown
        } else if self.everything || !(self.behind.is_empty() && self.grown.is_empty()) {
            Reached::Behind
        } else {
            Reached::Current
        });
    }

    /// Files that have grown or changed since they were stored: what was missed while nobody looked.
    pub(super) fn find_what_is_behind(&mut self, now: Timestamp) -> Result<(), Refusal> {
        // Before anything is read: what the person has excluded since is not there any more.
        self.leave_out(now)?;
        // What is stored is not held beside what was found: each is as large as the other, and there may be thousands.
        let mut behind = self.transcripts_there();
        let mut shelf = self.parts.shelf.in_turn("history: what is behind");
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
        if behind.len() > MANY_FILES {
            writer(&mut self.parts.shelf.in_turn("history: much is behind"))?.merge_by_and_by()?;
            self.untidy = true;
        }
        self.behind = behind.into_iter().map(|(_, path)| path).collect();
        self.may_get_stuck(now);
        Ok(())
    }

    /// All transcripts of which anything is to be stored, and how they stand. A thread of its own looks, since the memory that this takes is given back with
    /// the thread, and else never is.
    fn transcripts_there(&self) -> HashMap<PathBuf, FileStat> {
        let HistorianParts { fs, roots, settings, .. } = &self.parts;
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
}
