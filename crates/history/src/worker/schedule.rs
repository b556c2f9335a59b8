//! The clock of the history's thread: what is to be done at a time is done when so much has passed, also when the clock was
//! set back meanwhile.

use watchbill_core::time::{Millis, Timestamp};

/// Some seconds are the usual correction of a clock.
const CORRECTION: Millis = Millis::from_secs(5);

/// What is to be done at a time.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// When it was last looked at the clock.
    looked_at: Option<Timestamp>,
    /// To look for turns that nobody has ended.
    pub(super) recover: Option<Timestamp>,
    /// To look at what is to be archived.
    pub(super) archive: Option<Timestamp>,
}

impl Schedule {
    /// Takes what is planned back by as much as the clock went back.
    pub(super) fn follow_clock(&mut self, now: Timestamp) {
        let back = self.looked_at.replace(now).map(|before| before.since(now));
        if let Some(by) = back.filter(|by| *by > CORRECTION) {
            for planned in [&mut self.recover, &mut self.archive].into_iter().flatten() {
                *planned = *planned - by;
            }
        }
    }

    /// What comes first.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.recover.into_iter().chain(self.archive).min()
    }
}
