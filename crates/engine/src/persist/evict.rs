//! Evicts the record memory of files that no process writes to: the store holds it too. Restores it when the file
//! grows. So memory grows with the sessions at work, not with all sessions ever.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::tables::engine_states::StateRow;

use crate::model::files::Files;
use crate::model::problem_report::ProblemReport;
use crate::persist::pending::Pending;
use crate::persist::stored_transcript::StoredTranscript;
use crate::transcripts::TrackedFile;
use crate::world::environment::StepContext;

/// After this long without writes, the record data of a file is freed. Restoring is one store read, so a short limit is
/// enough.
const EVICT_AFTER: Millis = Millis::from_secs(30);
/// Checks for each stored file: enough that the queue cannot grow without end.
const CHECKS_PER_STORED_FILE: usize = 4;

/// The source of the pieces of evicted files.
pub trait StoredStates: Send + Sync {
    /// The stored state of a file.
    fn recall(&self, path: &Path) -> Option<StateRow>;
}

/// Files that may be evicted.
#[derive(Default)]
pub(crate) struct Eviction {
    recall: Option<Arc<dyn StoredStates>>,
    /// Stored files that are in memory, in the order of the checks.
    in_memory: VecDeque<PathBuf>,
    /// Those still to check; the queue may hold others.
    waiting: HashSet<PathBuf>,
    /// The times of the restores. A file may be restored only to compare it with another, so its restore time is noted too.
    restored: HashMap<PathBuf, Timestamp>,
}

impl Eviction {
    /// Sets the source of evicted files.
    pub fn set_recall(&mut self, recall: Arc<dyn StoredStates>) {
        self.recall = Some(recall);
    }

    /// Evicts the record memory of quiet files. `kept`: files of this save, and whether the store now holds their
    /// record memory (not so for excluded files). Checks these and some earlier files; checking all files each time is too slow.
    pub fn evict(
        &mut self,
        kept: impl IntoIterator<Item = (PathBuf, bool)>,
        files: &mut Files,
        now: Timestamp,
    ) {
        let mut looks = CHECKS_PER_STORED_FILE;
        for (path, is_kept) in kept {
            looks += CHECKS_PER_STORED_FILE;
            if !is_kept {
                self.waiting.remove(&path);
            } else if !self.evict_if_quiet(&path, files, now) && self.waiting.insert(path.clone()) {
                self.in_memory.push_back(path);
            }
        }
        for _ in 0..looks.min(self.in_memory.len()) {
            let Some(path) = self.in_memory.pop_front() else { return };
            if !self.waiting.contains(&path) {
                continue;
            }
            if self.evict_if_quiet(&path, files, now) {
                self.waiting.remove(&path);
            } else {
                self.in_memory.push_back(path);
            }
        }
    }

    /// Evicts a quiet file. Says whether it needs no more checks.
    fn evict_if_quiet(&mut self, path: &Path, files: &mut Files, now: Timestamp) -> bool {
        let quiet_since = now - EVICT_AFTER;
        let Some(file) = files.get_mut(path) else {
            self.restored.remove(path);
            return true;
        };
        let is_quiet = file.written_before(quiet_since)
            && self.restored.get(path).is_none_or(|at| *at < quiet_since || *at > now);
        if is_quiet {
            file.evict_records();
            self.restored.remove(path);
        }
        is_quiet
    }

    /// Restores a file's record memory. If that fails, the file will be read from its beginning.
    pub fn restore(
        &mut self,
        path: &Path,
        files: &mut Files,
        env: &StepContext,
        pending: &mut Pending,
        problems: &mut ProblemReport,
    ) {
        let Some(file) = files.get_mut(path).filter(|file| file.is_evicted()) else { return };
        let kept = self.recall.as_ref().and_then(|recall| recall.recall(path));
        self.restored.insert(path.to_path_buf(), env.now());
        if kept.as_ref().is_some_and(|kept| file.restore_records(&kept.pieces).is_ok()) {
            // The caller may only compare the file with another one, and not store it again.
            if self.waiting.insert(path.to_path_buf()) {
                self.in_memory.push_back(path.to_path_buf());
            }
            return;
        }
        // Another process may have stored a newer state since.
        let newer = kept.and_then(|StateRow { head, pieces }| {
            let kept = StoredTranscript::from_bytes(&head).ok()?;
            let newer = TrackedFile::restore(file.place.clone(), &kept, env.settings().timeouts).ok()?;
            let mut newer = newer.with_exclude(&env.settings().history.exclude);
            newer.restore_records(&pieces).ok()?;
            Some(newer)
        });
        let mut new = newer.unwrap_or_else(|| {
            tracing::debug!(path = %path.display(), "the stored state of a file is unusable; the file is read again");
            env.new_file(file.place.clone())
        });
        new.counted_with.clone_from(&file.counted_with);
        if pending.is_on() {
            new.collect_records();
        }
        if new.is_unread() {
            pending.read_from_start(path);
        }
        *file = new;
        problems.met_mut().forget(&path.to_string_lossy());
        pending.file(path);
    }
}
