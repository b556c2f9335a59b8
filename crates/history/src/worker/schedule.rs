//! Timed work of the history's thread. It is done when its time span has passed, even if the clock was set back
//! meanwhile.

use watchbill_core::time::{Millis, Timestamp};

/// A usual correction of a clock is some seconds.
const CORRECTION: Millis = Millis::from_secs(5);

/// Work planned for a time.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Time of the last look at the clock.
    looked_at: Option<Timestamp>,
    /// Check for turns that never ended.
    pub(super) recover: Option<Timestamp>,
    /// Look for transcripts to archive.
    pub(super) archive: Option<Timestamp>,
}

impl Schedule {
    /// If the clock went back, moves the planned times back by as much.
    pub(super) fn follow_clock(&mut self, now: Timestamp) {
        let back = self.looked_at.replace(now).map(|before| before.since(now));
        if let Some(by) = back.filter(|by| *by > CORRECTION) {
            for planned in [&mut self.recover, &mut self.archive].into_iter().flatten() {
                *planned = *planned - by;
            }
        }
    }

    /// The earliest planned time.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.recover.into_iter().chain(self.archive).min()
    }
}
