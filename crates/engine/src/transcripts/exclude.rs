//! Excluded paths: a tracked file does not take them in, because they must not be stored.

use watchbill_core::history::Exclude;

use super::{Fold, TrackedFile};

impl TrackedFile {
    /// The same file with these rules. From now on, a call on an excluded path has no target in the fold.
    #[must_use]
    pub fn with_exclude(mut self, exclude: &Exclude) -> Self {
        self.exclude = exclude.clone();
        self
    }

    /// Sets other rules. Forgets the targets of open and of refused calls, because the fold does not know which other
    /// paths the calls name.
    pub(crate) fn set_exclude(&mut self, exclude: &Exclude) {
        self.exclude = exclude.clone();
        self.forget_targets();
    }

    /// Forgets the targets of open and of refused calls.
    pub(crate) fn forget_targets(&mut self) {
        match &mut self.fold {
            Fold::Main(fold) => fold.forget_targets(),
            Fold::Agent(fold) => drop(fold.forget_targets()),
        }
    }

    /// The stored fold without the targets of open and of refused calls; `None` if it has none.
    pub fn without_targets(&mut self) -> Option<Vec<u8>> {
        match &mut self.fold {
            Fold::Main(fold) if fold.has_targets() => {
                fold.forget_targets();
                Some(fold.snapshot())
            }
            Fold::Agent(fold) => fold.forget_targets().then(|| fold.snapshot()),
            Fold::Main(_) => None,
        }
    }
}
