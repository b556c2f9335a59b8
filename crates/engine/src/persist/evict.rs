//! What is remembered of the records of files that nobody writes to: its memory is given back, since the store has it too,
//! and taken up again when the file grows. So memory follows those at work, and not those that ever were.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::tables::states::StateRow;

use crate::environment::Environment;
use crate::model::files::Files;
use crate::model::problem_report::ProblemReport;
use crate::persist::kept::KeptFile;
use crate::persist::pending::Pending;
use crate::transcripts::TrackedFile;

/// A file that nobody has written to for so long is evicted. To restore it costs a look into the store, which is
/// less than what an agent does in the meantime.
const QUIET: Millis = Millis::from_secs(30);
/// So many files are looked at for each one that was kept: those that are quiet by now are found before others are as many.
const LOOKS: usize = 4;

/// Where the pieces of evicted files lie.
pub trait Recall: Send + Sync {
    /// What is kept of a file now.
    fn recall(&self, path: &Path) -> Option<StateRow>;
}

/// Files whose memory may be given back.
#[derive(Default)]
pub(crate) struct EvictedFolds {
    recall: Option<Arc<dyn Recall>>,
    /// They are kept, and were not evicted since they were read or restored, in the order in which they are to be looked at.
    up: VecDeque<PathBuf>,
    /// What `up` holds.
    waiting: HashSet<PathBuf>,
    /// When they were restored. Nobody need have written to them: with each request of a session that a copy shares some
    /// with, both are looked at.
    restored: HashMap<PathBuf, Timestamp>,
}

impl EvictedFolds {
    /// Files that were evicted are found there.
    pub fn set_recall(&mut self, recall: Arc<dyn Recall>) {
        self.recall = Some(recall);
    }

    /// What was remembered of these files was kept just now, or, as the store is to hold nothing of them, was not. Gives the
    /// memory back for what nobody has written to lately, of them and of some that were kept before: to look at all of
    /// them each time would cost more than it gives.
    pub fn evict(
        &mut self,
        kept: impl IntoIterator<Item = (PathBuf, bool)>,
        files: &mut Files,
        now: Timestamp,
    ) {
        let mut looks = LOOKS;
        for (path, is_kept) in kept {
            looks += LOOKS;
            if !is_kept {
                self.waiting.remove(&path);
            } else if !self.evict_if_quiet(&path, files, now) && self.waiting.insert(path.clone()) {
                self.up.push_back(path);
            }
        }
        for _ in 0..looks.min(self.up.len()) {
            let Some(path) = self.up.pop_front() else { return };
            if !self.waiting.contains(&path) {
                continue;
            }
            if self.evict_if_quiet(&path, files, now) {
                self.waiting.remove(&path);
            } else {
                self.up.push_back(path);
            }
        }
    }

    /// Whether nothing of the file is in the way any more.
    fn evict_if_quiet(&mut self, path: &Path, files: &mut Files, now: Timestamp) -> bool {
        let quiet_since = now - QUIET;
        let Some(file) = files.get_mut(path) else {
            self.restored.remove(path);
            return true;
        };
        let is_quiet = file.written_before(quiet_since)
            && self.restored.get(path).is_none_or(|at| *at < quiet_since || *at > now);
        if is_quiet {
            file.put_aside();
            self.restored.remove(path);
        }
        is_quiet
    }

    /// Takes up what is remembered of a file's records. Where that fails the file will be read from its beginning.
    pub fn restore(
        &mut self,
        path: &Path,
        files: &mut Files,
        env: &Environment,
        pending: &mut Pending,
        problems: &mut ProblemReport,
    ) {
        let Some(file) = files.get_mut(path).filter(|file| file.is_aside()) else { return };
        let kept = self.recall.as_ref().and_then(|recall| recall.recall(path));
        self.restored.insert(path.to_path_buf(), env.now());
        if kept.as_ref().is_some_and(|kept| file.take_up(&kept.pieces).is_ok()) {
            // It may only be compared with another one, and not be kept again.
            if self.waiting.insert(path.to_path_buf()) {
                self.up.push_back(path.to_path_buf());
            }
            return;
        }
        // Another process may have kept more since we looked.
        let newer = kept.and_then(|StateRow { head, pieces }| {
            let kept = KeptFile::from_bytes(&head).ok()?;
            let newer = TrackedFile::restore(file.place.clone(), &kept, env.settings().timeouts).ok()?;
            let mut newer = newer.leaving_out(&env.settings().history.exclude);
            newer.take_up(&pieces).ok()?;
            Some(newer)
        });
        let mut new = newer.unwrap_or_else(|| {
            tracing::debug!(path = %path.display(), "what was kept of a file is of no use; it is read anew");
            env.new_file(file.place.clone())
        });
        new.counted_with.clone_from(&file.counted_with);
        if pending.is_on() {
            new.note_new();
        }
        if new.is_unread() {
            pending.begin_anew(path);
        }
        *file = new;
        problems.met_mut().forget(&path.to_string_lossy());
        pending.file(path);
    }
}
