//! Files that have grown, on their way to the history's thread: lines that come in quick succession arrive together.
//!
//! A step of the store costs as much as a dozen lines do: two threads wake, the index writes a piece, the log a copy of
//! each page. So the thread takes what has grown at once, and then pauses. What grows meanwhile lies here, and wakes nobody.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two times at which what has grown is taken: never a wait before the first line, and a person who searches
/// does not notice that they found a line of this moment a fifth of a second later.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// What has grown since it was last taken.
#[derive(Debug, Default)]
pub struct Grown(Mutex<BTreeSet<PathBuf>>);

impl Grown {
    /// Adds files. Says whether there were none, so that the thread has to be told.
    pub fn add(&self, paths: Vec<PathBuf>) -> bool {
        let mut grown = self.lock();
        let first = grown.is_empty();
        grown.extend(paths);
        first && !grown.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<PathBuf>> {
        // A set of paths is whole after any panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end at which it is taken.
#[derive(Debug)]
pub struct Takes {
    from: Arc<Grown>,
    /// There is something.
    told: bool,
    taken_at: Option<Instant>,
}

impl Takes {
    /// Takes from there.
    pub fn new(from: Arc<Grown>) -> Self {
        Self { from, told: false, taken_at: None }
    }

    /// There is something to be taken.
    pub fn tell(&mut self) {
        self.told = true;
    }

    /// How long until something is to be taken; `None`: there is nothing.
    pub fn patience(&self) -> Option<Duration> {
        let pause = || self.taken_at.map_or(Duration::ZERO, |at| PAUSE.saturating_sub(at.elapsed()));
        self.told.then(pause)
    }

    /// Everything that has grown, when its time has come.
    pub fn take(&mut self) -> BTreeSet<PathBuf> {
        if self.patience() != Some(Duration::ZERO) {
            return BTreeSet::new();
        }
        self.taken_at = Some(Instant::now());
        self.take_all()
    }

    /// The same, whatever the time.
    pub fn take_all(&mut self) -> BTreeSet<PathBuf> {
        // Whatever is added from here on is told of anew.
        self.told = false;
        std::mem::take(&mut *self.from.lock())
    }

    /// As if it had been taken at that moment.
    #[cfg(test)]
    pub fn was_taken(&mut self, at: Option<Instant>) {
        self.taken_at = at;
    }
}
