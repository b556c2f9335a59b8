//! What is remembered of the records of files that nobody writes to: its memory is given back, since the store has it too,
//! and taken up again when the file grows. So memory follows those at work, and not those that ever were.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::tables::states::StateRow;

use super::Engine;
use crate::persist::kept::KeptFile;
use crate::transcripts::TrackedFile;

/// A file that nobody has written to for so long is put aside. To take it up again costs a look into the store, which is
/// less than what an agent does in the meantime.
const QUIET: Millis = Millis::from_secs(30);
/// So many files are looked at for each one that was kept: those that are quiet by now are found before others are as many.
const LOOKS: usize = 4;

/// Where the pieces of files lie that the engine has put aside.
pub trait Recall: Send + Sync {
    /// What is kept of a file now.
    fn recall(&self, path: &Path) -> Option<StateRow>;
}

/// Files whose memory may be given back.
#[derive(Default)]
pub(super) struct Aside {
    recall: Option<Arc<dyn Recall>>,
    /// They are kept, and were not put aside since they were read or taken up, in the order in which they are to be looked at.
    up: VecDeque<PathBuf>,
    /// What `up` holds.
    waiting: HashSet<PathBuf>,
    /// When they were taken up. Nobody need have written to them: with each request of a session that a copy shares some
    /// with, both are looked at.
    taken_up: HashMap<PathBuf, Timestamp>,
}

impl Engine {
    /// Files that were put aside are found there.
    pub fn set_recall(&mut self, recall: Arc<dyn Recall>) {
        self.aside.recall = Some(recall);
    }

    /// What was remembered of these files was kept just now, or, as the store is to hold nothing of them, was not. Gives the
    /// memory back for what nobody has written to lately, of them and of some that were kept before: to look at all of
    /// them each time would cost more than it gives.
    pub fn put_aside(&mut self, kept: impl IntoIterator<Item = (PathBuf, bool)>) {
        let mut looks = LOOKS;
        for (path, is_kept) in kept {
            looks += LOOKS;
            if !is_kept {
                self.aside.waiting.remove(&path);
            } else if !self.put_aside_if_quiet(&path) && self.aside.waiting.insert(path.clone()) {
                self.aside.up.push_back(path);
            }
        }
        for _ in 0..looks.min(self.aside.up.len()) {
            let Some(path) = self.aside.up.pop_front() else { return };
            if !self.aside.waiting.contains(&path) {
                continue;
            }
            if self.put_aside_if_quiet(&path) {
                self.aside.waiting.remove(&path);
            } else {
                self.aside.up.push_back(path);
            }
        }
    }

    /// Whether nothing of the file is in the way any more.
    fn put_aside_if_quiet(&mut self, path: &Path) -> bool {
        let quiet_since = self.now - QUIET;
        let Some(file) = self.files.get_mut(path) else {
            self.aside.taken_up.remove(path);
            return true;
        };
        let is_quiet = file.written_before(quiet_since)
            && self.aside.taken_up.get(path).is_none_or(|at| *at < quiet_since || *at > self.now);
        if is_quiet {
            file.put_aside();
            self.aside.taken_up.remove(path);
        }
        is_quiet
    }

    /// Before a file is read further, what is remembered of its records is taken up. `false` when there is no need to
    /// read it.
    pub(super) fn ready_to_read(&mut self, path: &Path) -> bool {
        let Some(file) = self.files.get_mut(path).filter(|file| file.is_aside()) else { return true };
        if self.world.fs.stat(path).is_ok_and(|stat| file.is_as(&stat)) {
            return false;
        }
        self.take_up(path);
        true
    }

    /// Takes up what is remembered of a file's records. Where that fails the file will be read from its beginning.
    pub(super) fn take_up(&mut self, path: &Path) {
        let keeps = self.keeps();
        let Some(file) = self.files.get_mut(path).filter(|file| file.is_aside()) else { return };
        let kept = self.aside.recall.as_ref().and_then(|recall| recall.recall(path));
        self.aside.taken_up.insert(path.to_path_buf(), self.now);
        if kept.as_ref().is_some_and(|kept| file.take_up(&kept.pieces).is_ok()) {
            // It may only be compared with another one, and not be kept again.
            if self.aside.waiting.insert(path.to_path_buf()) {
                self.aside.up.push_back(path.to_path_buf());
            }
            return;
        }
        // Another process may have kept more since we looked.
        let newer = kept.and_then(|StateRow { head, pieces }| {
            let kept = KeptFile::from_bytes(&head).ok()?;
            let newer = TrackedFile::restore(file.place.clone(), &kept, self.settings.timeouts).ok()?;
            let mut newer = newer.leaving_out(&self.settings.history.exclude);
            newer.take_up(&pieces).ok()?;
            newer.counted_with.clone_from(&file.counted_with);
            Some(newer)
        });
        let mut new = newer.unwrap_or_else(|| {
            tracing::debug!(path = %path.display(), "what was kept of a file is of no use; it is read anew");
            let new = TrackedFile::new(file.place.clone(), self.settings.timeouts, self.outlook.until);
            let mut new = new.leaving_out(&self.settings.history.exclude);
            new.counted_with.clone_from(&file.counted_with);
            new
        });
        if keeps {
            new.note_new();
        }
        if new.is_unread() {
            self.keeping.begun_anew.push(path.to_path_buf());
        }
        *file = new;
        self.problems.forget(&path.to_string_lossy());
        self.keeping.file(path);
    }
}
