//! How far the first look at everything has come.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The three stages of a start.
pub(crate) enum Startup {
    /// The first scan reads.
    Reading {
        /// Files that were hinted at before the scan handed them over.
        put_off: BTreeSet<PathBuf>,
        /// Files that bear on very many sessions have come; to tie all of these is not worth while yet.
        chains_pending: bool,
    },
    /// The scan has ended within this step. What the step finds is no news.
    Ending,
    /// What changes from now on has just happened.
    Over,
}

impl Default for Startup {
    fn default() -> Self {
        Self::Reading { put_off: BTreeSet::new(), chains_pending: false }
    }
}

impl Startup {
    /// The first scan goes on.
    pub fn is_reading(&self) -> bool {
        matches!(self, Self::Reading { .. })
    }

    /// What changes is news.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Leaves a new file to the first scan. `false` when that is over.
    pub fn put_off(&mut self, path: &Path) -> bool {
        let Self::Reading { put_off, .. } = self else { return false };
        put_off.insert(path.to_path_buf());
        true
    }

    /// The first scan has handed this file over. Says whether it was hinted at meanwhile.
    pub fn was_put_off(&mut self, path: &Path) -> bool {
        let Self::Reading { put_off, .. } = self else { return false };
        put_off.remove(path)
    }

    /// Chains are to be resolved later in the scan.
    pub fn put_off_chains(&mut self) {
        if let Self::Reading { chains_pending, .. } = self {
            *chains_pending = true;
        }
    }

    /// Whether chains wait for the scan to go on.
    pub fn chains_pending(&self) -> bool {
        matches!(self, Self::Reading { chains_pending: true, .. })
    }

    /// The same, and from now on they wait no longer.
    pub fn take_chains_pending(&mut self) -> bool {
        let Self::Reading { chains_pending, .. } = self else { return false };
        std::mem::take(chains_pending)
    }

    /// The first scan has ended. Gives the files that it never handed over.
    pub fn end_scan(&mut self) -> BTreeSet<PathBuf> {
        let Self::Reading { put_off, .. } = self else { return BTreeSet::new() };
        let put_off = std::mem::take(put_off);
        *self = Self::Ending;
        put_off
    }

    /// A step is done.
    pub fn end_step(&mut self) {
        if matches!(self, Self::Ending) {
            *self = Self::Over;
        }
    }
}
