//! The clock of the history's thread: what is to be done at a time is done when so much has passed, also when the clock was
//! set back meanwhile.

use watchbill_core::time::{Millis, Timestamp};

use super::worker::Worker;

/// Some seconds are the usual correction of a clock.
const CORRECTION: Millis = Millis::from_secs(5);

impl Worker {
    /// Takes what is planned back by as much as the clock went back.
    pub(super) fn follow_clock(&mut self, now: Timestamp) {
        let back = self.looked_at.replace(now).map(|before| before.since(now));
        if let Some(by) = back.filter(|by| *by > CORRECTION) {
            for planned in [&mut self.recover_at, &mut self.archive_at].into_iter().flatten() {
                *planned = *planned - by;
            }
        }
    }
}
