//! Grown files on their way to the history's thread. Lines in quick succession arrive together.
//!
//! A step of the store costs as much as a dozen lines: two threads wake, the index writes a piece, and the log gets a
//! copy of each page. So the thread takes grown files at once, and then pauses. Files that grow during the pause wait
//! here and wake no thread.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pause after grown files were taken. The first line never waits for it. A user who searches does not notice that a
/// line of this moment is found a fifth of a second later.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// Files that have grown since the last take.
#[derive(Debug, Default)]
pub struct GrownFiles(Mutex<BTreeSet<PathBuf>>);

impl GrownFiles {
    /// Adds files. Returns whether there were none before, so that the caller must wake the thread.
    pub fn add(&self, paths: Vec<PathBuf>) -> bool {
        let mut grown = self.lock();
        let first = grown.is_empty();
        grown.extend(paths);
        first && !grown.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        // A panic cannot leave a set of paths half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The receiving end of [`GrownFiles`].
#[derive(Debug)]
pub struct GrownFilesReceiver {
    from: Arc<GrownFiles>,
    /// Files are waiting.
    waiting: bool,
    taken_at: Option<Instant>,
}

impl GrownFilesReceiver {
    /// Takes files from `from`.
    pub fn new(from: Arc<GrownFiles>) -> Self {
        Self { from, waiting: false, taken_at: None }
    }

    /// Notes that files are waiting.
    pub fn tell(&mut self) {
        self.waiting = true;
    }

    /// How long until files are to be taken; `None` if none are waiting.
    pub fn time_left(&self) -> Option<Duration> {
        let pause = || self.taken_at.map_or(Duration::ZERO, |at| PAUSE.saturating_sub(at.elapsed()));
        self.waiting.then(pause)
    }

    /// All grown files, if the pause is over.
    pub fn take(&mut self) -> BTreeSet<PathBuf> {
        if self.time_left() != Some(Duration::ZERO) {
            return BTreeSet::new();
        }
        self.taken_at = Some(Instant::now());
        self.take_all()
    }

    /// All grown files, also during the pause.
    pub fn take_all(&mut self) -> BTreeSet<PathBuf> {
        // A file added from here on is announced again.
        self.waiting = false;
        std::mem::take(&mut *self.from.lock())
    }

    /// Sets the time of the last take.
    #[cfg(test)]
    pub fn set_taken_at(&mut self, at: Option<Instant>) {
        self.taken_at = at;
    }
}
