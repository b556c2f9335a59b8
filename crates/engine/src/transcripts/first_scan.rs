//! The first reading of everything: newest files first, on several threads.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use watchbill_core::problem::Problem;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Found, Scan};

use crate::transcripts::{LoadOptions, Loaded, load};

/// More threads only compete for the disk.
const MAX_THREADS: usize = 4;

/// The files to read, newest first.
pub struct FirstScan {
    /// Indexes into `found`.
    files: Vec<usize>,
    /// All found files. The engine compares them with the known ones after the reading.
    pub found: Vec<Found>,
    /// Folders and files that could not be listed.
    pub problems: Vec<Problem>,
    /// The number of recently written files; they come first.
    pub recent: usize,
}

impl FirstScan {
    /// The transcripts of a scan that are not known yet. A file that was written since `recent_since` is recent.
    pub fn of(scan: Scan, recent_since: Timestamp, known: &dyn Fn(&Path) -> bool) -> Self {
        let Scan { found, problems } = scan;
        let new = |found: &Found| found.kind.is_transcript() && !known(&found.path);
        let files: Vec<usize> = (0..found.len()).filter(|&at| new(&found[at])).collect();
        let recent = files.iter().take_while(|&&at| found[at].stat.mtime >= recent_since).count();
        Self { files, found, problems, recent }
    }

    /// An empty scan, for when no thread can scan. The loop looks at everything later.
    pub fn none() -> Self {
        Self { files: Vec::new(), found: Vec::new(), problems: Vec::new(), recent: 0 }
    }

    /// Removes the files with these numbers from `found`. Call it after all files are read.
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

    /// Reads all files. Calls `take` with each file and its number, from any thread and in any order.
    ///
    /// `take` returns `false` to end the reading. `wanted` returns `false` to end it in the middle of a long file.
    pub fn read(
        &self,
        fs: &Arc<dyn Fs>,
        terms: LoadOptions,
        wanted: &(dyn Fn() -> bool + Sync),
        take: &(dyn Fn(usize, Loaded) -> bool + Sync),
    ) {
        let threads =
            std::thread::available_parallelism().map_or(2, usize::from).min(MAX_THREADS).min(self.len());
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
