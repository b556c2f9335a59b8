//! Files to read: those that have just grown, and after them those that were behind at the last comparison.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::time::Duration;

use super::grown_files::GrownFilesReceiver;

/// Files in one slice.
pub(super) const SLICE_FILES: usize = 16;

/// The files to read.
pub(super) struct Queues {
    pub(super) receiver: GrownFilesReceiver,
    /// Grown files that were taken.
    grown: VecDeque<PathBuf>,
    /// The same files as in `grown`.
    waiting: HashSet<PathBuf>,
    /// Older files first, so that the newest texts are the last in the store.
    behind: VecDeque<PathBuf>,
}

/// The files of one slice.
pub(super) struct Slice {
    pub(super) paths: Vec<PathBuf>,
    /// The files have just grown.
    urgent: bool,
}

impl Queues {
    pub(super) fn new(receiver: GrownFilesReceiver) -> Self {
        Self { receiver, grown: VecDeque::new(), waiting: HashSet::new(), behind: VecDeque::new() }
    }

    /// Replaces the files that are behind, older first.
    pub(super) fn set_behind(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        self.behind = paths.into_iter().collect();
    }

    /// Adds a file that has just grown.
    pub(super) fn add(&mut self, path: PathBuf) {
        if self.waiting.insert(path.clone()) {
            self.grown.push_back(path);
        }
    }

    /// The next files; grown ones come first.
    pub(super) fn next(&mut self) -> Slice {
        self.receiver.take().into_iter().for_each(|path| self.add(path));
        let urgent = !self.grown.is_empty();
        let queue = self.queue(urgent);
        let paths = queue.drain(..queue.len().min(SLICE_FILES)).collect();
        Slice { paths, urgent }
    }

    /// The first `count` files of the batch were read to their ends. The others are read next.
    pub(super) fn done(&mut self, mut batch: Slice, count: usize) {
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

    /// Whether no file is to be read now.
    pub(super) fn are_empty(&self) -> bool {
        self.grown.is_empty() && self.behind.is_empty()
    }

    /// How long until grown files are to be taken; `None` if there are none.
    pub(super) fn time_left(&self) -> Option<Duration> {
        self.receiver.time_left()
    }

    /// Drops all files.
    pub(super) fn clear(&mut self) {
        (self.grown, self.behind) = Default::default();
        self.waiting.clear();
        self.receiver.take_all();
    }
}
