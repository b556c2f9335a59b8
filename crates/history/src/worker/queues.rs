//! Files to be read: those that have just grown, and behind them those that grew before the thread looked.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use super::grown::Takes;

/// Files in one slice.
pub(super) const SLICE_FILES: usize = 16;

/// The files that are to be read.
pub(super) struct Queues {
    pub(super) takes: Takes,
    /// What has grown and was taken.
    grown: VecDeque<PathBuf>,
    /// What `grown` holds.
    waiting: HashSet<PathBuf>,
    /// Older first, so that the newest texts are the last in the store.
    behind: VecDeque<PathBuf>,
}

/// The files of one slice.
pub(super) struct Batch {
    pub(super) paths: Vec<PathBuf>,
    /// They have grown just now.
    urgent: bool,
}

impl Queues {
    pub(super) fn new(takes: Takes) -> Self {
        Self { takes, grown: VecDeque::new(), waiting: HashSet::new(), behind: VecDeque::new() }
    }

    /// Replaces the files that are behind, older first.
    pub(super) fn set_behind(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.behind = paths.into_iter().collect();
    }

    /// The next files, those that have grown first.
    pub(super) fn next(&mut self) -> Batch {
        for path in self.takes.take() {
            if self.waiting.insert(path.clone()) {
                self.grown.push_back(path);
            }
        }
        let urgent = !self.grown.is_empty();
        let queue = self.queue(urgent);
        let paths = queue.drain(..queue.len().min(SLICE_FILES)).collect();
        Batch { paths, urgent }
    }

    /// The first `count` files of the batch were read to their ends. The others come next.
    pub(super) fn done(&mut self, mut batch: Batch, count: usize) {
        let rest = batch.paths.split_off(count);
        for path in &batch.paths {
            self.waiting.remove(path);
        }
        let queue = self.queue(batch.urgent);
        rest.into_iter().rev().for_each(|path| queue.push_front(path));
    }

    fn queue(&mut self, urgent: bool) -> &mut VecDeque<PathBuf> {
        if urgent { &mut self.grown } else { &mut self.behind }
    }

    /// Whether nothing is to be read now.
    pub(super) fn are_empty(&self) -> bool {
        self.grown.is_empty() && self.behind.is_empty()
    }

    /// How long until files that have grown are to be taken; `None` when there are none.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.takes.patience()
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        (self.grown, self.behind) = Default::default();
        self.waiting.clear();
        self.takes.take_all();
    }
}
