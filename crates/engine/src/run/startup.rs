//! The loop's view of the first scan: when the first snapshot is ready, and which look ends the scan.

use watchbill_core::time::{Millis, Timestamp};

use crate::run::message::LookStart;

/// The first snapshot waits at most this long for a dead mount.
const FOLDERS_PATIENCE: Millis = Millis::from_secs(1);

/// When the user turns to the window, nothing shown is older than this.
const FRESH: Millis = Millis::from_secs(1);

/// The stages of the first scan.
enum Stage {
    /// The scan lists folders. If the store knew sessions (`known`), there are rows to show already.
    Listing { known: bool },
    /// Files are read, the `recent` ones first. The first snapshot waits for the `missing` ones.
    Reading { recent: usize, missing: usize },
    /// All files were read. A look at everything that begins after this ends the scan.
    ReadAll { folders_until: Timestamp },
    /// The scan is over. The last complete look began at `looked`.
    Over { folders_until: Timestamp, looked: Timestamp },
}

/// The loop's startup state.
pub(super) struct LoopStartup {
    stage: Stage,
    /// All watches are installed, and the loop is catching up with earlier changes.
    caught_up: bool,
}

impl LoopStartup {
    /// Nothing was read yet. `known`: the store knew sessions.
    pub fn new(known: bool) -> Self {
        Self { stage: Stage::Listing { known }, caught_up: false }
    }

    /// The scan has listed the folders, and reads this many recent files first.
    pub fn scan_began(&mut self, recent: usize) {
        if let Stage::Listing { known } = self.stage {
            self.stage = Stage::Reading { recent, missing: if known { 0 } else { recent } };
        }
    }

    /// File `n` has come. Says whether it is a recent file whose last records the watches may have missed.
    pub fn loaded(&mut self, n: usize) -> bool {
        let Stage::Reading { recent, missing } = &mut self.stage else { return false };
        let is_recent = n < *recent;
        if is_recent {
            *missing = missing.saturating_sub(1);
        }
        is_recent && self.caught_up
    }

    /// The scan has read all its files.
    pub fn scan_ended(&mut self, now: Timestamp) {
        self.stage = Stage::ReadAll { folders_until: now + FOLDERS_PATIENCE };
    }

    /// All watches are installed.
    pub fn catch_up(&mut self) {
        self.caught_up = true;
    }

    /// Whether all watches are installed and the loop is catching up.
    pub fn caught_up(&self) -> bool {
        self.caught_up
    }

    /// The start of a look at everything.
    pub fn look(&self, began: Timestamp) -> LookStart {
        LookStart { began, had_read_all: self.has_read_all() }
    }

    /// Whether the first scan has read all its files.
    pub fn has_read_all(&self) -> bool {
        matches!(self.stage, Stage::ReadAll { .. } | Stage::Over { .. })
    }

    /// A look at everything is complete. Says whether it ends the first scan.
    pub fn look_ended(&mut self, look: LookStart) -> bool {
        match &mut self.stage {
            Stage::ReadAll { folders_until } if look.had_read_all => {
                self.stage = Stage::Over { folders_until: *folders_until, looked: look.began };
                true
            }
            Stage::Over { looked, .. } => {
                *looked = look.began;
                false
            }
            _ => false,
        }
    }

    /// Whether a look at everything is too recent for another one, or the first scan still runs. If the clock went
    /// back, the last look counts as old.
    pub fn is_fresh(&self, now: Timestamp) -> bool {
        match self.stage {
            Stage::Over { looked, .. } => looked <= now && now < looked + FRESH,
            _ => true,
        }
    }

    /// The time until which the first snapshot waits for looks at working folders. `under_way` counts these looks; it
    /// is called in the first second only.
    pub fn waits_for_folders(&self, now: Timestamp, under_way: impl FnOnce() -> usize) -> Option<Timestamp> {
        match self.stage {
            Stage::ReadAll { folders_until } | Stage::Over { folders_until, .. } => {
                Some(folders_until).filter(|until| now < *until && under_way() > 0)
            }
            Stage::Listing { .. } | Stage::Reading { .. } => None,
        }
    }

    /// Whether everything in the first snapshot was read.
    pub fn has_recent(&self) -> bool {
        match self.stage {
            Stage::Listing { known } => known,
            Stage::Reading { missing, .. } => missing == 0,
            Stage::ReadAll { .. } | Stage::Over { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    #[test]
    fn a_look_ends_the_scan_only_if_it_began_after_all_files_were_read() {
        let mut startup = LoopStartup::new(false);
        startup.scan_began(2);
        let early = startup.look(NOW);
        startup.scan_ended(NOW);
        assert!(!startup.look_ended(early), "files may have grown behind it");
        assert!(startup.is_fresh(NOW + Millis(60_000)), "the end of the scan is a look");
        let late = startup.look(NOW);
        assert!(startup.look_ended(late));
        assert!(!startup.look_ended(startup.look(NOW)), "a scan ends once");
        assert!(startup.is_fresh(NOW + Millis(999)) && !startup.is_fresh(NOW + Millis(1_000)));
        assert!(!startup.is_fresh(NOW - Millis(1)), "a clock that went back");
    }

    #[test]
    fn the_first_snapshot_waits_for_recent_files_unless_the_store_knew_some() {
        let mut startup = LoopStartup::new(false);
        startup.scan_began(2);
        for n in [0, 5, 1] {
            assert!(!startup.has_recent());
            startup.loaded(n);
        }
        assert!(startup.has_recent());
        let mut startup = LoopStartup::new(true);
        assert!(startup.has_recent());
        startup.scan_began(2);
        assert!(startup.has_recent());
        assert!(startup.waits_for_folders(NOW, || 1).is_none());
        startup.scan_ended(NOW);
        assert_eq!(startup.waits_for_folders(NOW, || 1), Some(NOW + FOLDERS_PATIENCE));
        assert!(startup.waits_for_folders(NOW, || 0).is_none());
        assert!(startup.waits_for_folders(NOW + FOLDERS_PATIENCE, || 1).is_none());
    }
}
