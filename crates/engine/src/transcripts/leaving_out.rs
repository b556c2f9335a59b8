//! What a tracked file does not take in, since it is not to be stored.

use watchbill_core::history::Exclude;

use super::{Fold, TrackedFile};

impl TrackedFile {
    /// The same file, of which this is not taken in from now on: what calls act on that name such a path.
    #[must_use]
    pub fn leaving_out(mut self, exclude: &Exclude) -> Self {
        self.exclude = exclude.clone();
        self
    }

    /// Other rules count from now on: what open calls act on is forgotten, since nobody can tell any more what else they name.
    pub(crate) fn leave_out(&mut self, exclude: &Exclude) {
        self.exclude = exclude.clone();
        self.forget_targets();
    }

    /// Forgets what open calls act on.
    pub(crate) fn forget_targets(&mut self) {
        match &mut self.fold {
            Fold::Main(fold) => fold.forget_targets(),
            Fold::Agent(fold) => drop(fold.forget_targets()),
        }
    }

    /// What is kept of its fold once nothing is known of what open calls act on; `None` where nothing is.
    pub fn without_targets(&mut self) -> Option<Vec<u8>> {
        match &mut self.fold {
            Fold::Main(fold) if fold.pending_tools().iter().all(|call| call.target.is_empty()) => None,
            Fold::Agent(fold) if fold.pending_tools().all(|call| call.target.is_empty()) => None,
            Fold::Main(fold) => {
                fold.forget_targets();
                Some(fold.snapshot())
            }
            Fold::Agent(fold) => {
                fold.forget_targets();
                Some(fold.snapshot())
            }
        }
    }
}
