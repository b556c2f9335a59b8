//! The progress of the first look at everything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The three stages of a start.
pub(crate) enum FirstScanProgress {
    /// The first scan is reading files.
    Reading {
        /// New files that changed before the scan read them.
        put_off: BTreeSet<PathBuf>,
        /// The new files concern very many sessions. Linking them into chains now would take too long.
        chains_pending: bool,
    },
    /// The scan ended within this step. Changes in this step are no news.
    Ending,
    /// From now on, changes are news.
    Over,
}

impl Default for FirstScanProgress {
    fn default() -> Self {
        Self::Reading { put_off: BTreeSet::new(), chains_pending: false }
    }
}

impl FirstScanProgress {
    /// Whether the first scan is reading.
    pub fn is_reading(&self) -> bool {
        matches!(self, Self::Reading { .. })
    }

    /// Whether changes are news.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Over)
    }

    /// Postpones a new file until the first scan reads it. Returns `false` when the scan is over.
    pub fn defer(&mut self, path: &Path) -> bool {
        let Self::Reading { put_off, .. } = self else { return false };
        put_off.insert(path.to_path_buf());
        true
    }

    /// The first scan delivered this file. Says whether it had a hint meanwhile.
    pub fn was_put_off(&mut self, path: &Path) -> bool {
        let Self::Reading { put_off, .. } = self else { return false };
        put_off.remove(path)
    }

    /// Postpones the chains to a later part of the scan.
    pub fn put_off_chains(&mut self) {
        if let Self::Reading { chains_pending, .. } = self {
            *chains_pending = true;
        }
    }

    /// Whether chains are postponed.
    pub fn chains_pending(&self) -> bool {
        matches!(self, Self::Reading { chains_pending: true, .. })
    }

    /// Whether chains were postponed; ends the postponement.
    pub fn take_chains_pending(&mut self) -> bool {
        let Self::Reading { chains_pending, .. } = self else { return false };
        std::mem::take(chains_pending)
    }

    /// The first scan ended. Gives the files with hints that it never delivered.
    pub fn end_scan(&mut self) -> BTreeSet<PathBuf> {
        let Self::Reading { put_off, .. } = self else { return BTreeSet::new() };
        let put_off = std::mem::take(put_off);
        *self = Self::Ending;
        put_off
    }

    /// A step is over.
    pub fn end_step(&mut self) {
        if matches!(self, Self::Ending) {
            *self = Self::Over;
        }
    }
}
