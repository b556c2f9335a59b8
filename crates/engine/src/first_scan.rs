//! The first reading of everything: newest files first, on several threads.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use watchbill_core::problem::Problem;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Found, Scan, scan};

use crate::transcripts::{Loaded, Terms, load};

/// More threads than this only fight for the disk.
const MOST_THREADS: usize = 4;

/// What is to be read, newest first.
pub struct FirstScan {
    /// Where among all that was found they stand.
    files: Vec<usize>,
    /// Everything that was found, to be compared with what is known once the files are read.
    pub found: Vec<Found>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
    /// The first so many files were written lately.
    pub recent: usize,
}

impl FirstScan {
    /// Finds everything below `roots`. The transcripts that are not `known` are to be read; those written after
    /// `recent_since` are the recent ones.
    pub fn find(
        fs: &dyn Fs,
        roots: &[PathBuf],
        recent_since: Timestamp,
        known: &dyn Fn(&Path) -> bool,
    ) -> Self {
        Self::of(scan(fs, roots), recent_since, known)
    }

    /// The same of a scan that was taken already.
    pub fn of(scan: Scan, recent_since: Timestamp, known: &dyn Fn(&Path) -> bool) -> Self {
        let Scan { found, problems } = scan;
        let new = |found: &Found| found.kind.is_transcript() && !known(&found.path);
        let files: Vec<usize> = (0..found.len()).filter(|&at| new(&found[at])).collect();
        let recent = files.iter().take_while(|&&at| found[at].stat.mtime >= recent_since).count();
        Self { files, found, problems, recent }
    }

    /// A scan that finds nothing, for when there is no thread to scan in: everything is looked at afterwards.
    pub fn none() -> Self {
        Self { files: Vec::new(), found: Vec::new(), problems: Vec::new(), recent: 0 }
    }

    /// Takes the files of these numbers out of what was found. To be called when all are read.
    pub fn forget(&mut self, numbers: &HashSet<usize>) {
        let out: HashSet<usize> =
            numbers.iter().filter_map(|&number| self.files.get(number)).copied().collect();
        self.files = Vec::new();
        let mut at = 0..;
        self.found.retain(|_| at.next().is_none_or(|at| !out.contains(&at)));
        self.found.shrink_to_fit();
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Reads all files and hands each over with its number, from any thread and in any order.
    ///
    /// `take` says `false` when nobody wants the rest any more; `wanted` is asked the same amid a long file.
    pub fn read(
        &self,
        fs: &Arc<dyn Fs>,
        terms: Terms,
        wanted: &(dyn Fn() -> bool + Sync),
        take: &(dyn Fn(usize, Loaded) -> bool + Sync),
    ) {
        let threads =
            std::thread::available_parallelism().map_or(2, usize::from).min(MOST_THREADS).min(self.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch = Vec::new();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(found) = self.files.get(n).and_then(|&at| self.found.get(at)) else { return };
                let place = found.place();
                let loaded = place
                    .map(|place| load(&**fs, found.path.clone(), place, terms.clone(), &mut scratch, wanted));
                if !loaded.is_none_or(|loaded| take(n, loaded)) {
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    return;
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }
}
