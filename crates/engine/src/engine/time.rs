//! The engine's time, and what has to be done when the clock was wrong.

use std::sync::Arc;

use watchbill_core::problem::ProblemKind;
use watchbill_core::time::{Millis, Timestamp};

use super::{Due, Engine};

/// Some seconds are the usual correction of a clock; an hour is a person or a broken battery.
const SMALL_CORRECTION: Millis = Millis::from_secs(5);
/// The place that problems with the clock are noted at.
const CLOCK: &str = "clock";

impl Engine {
    pub(super) fn tell_time(&mut self, now: Timestamp) {
        if now + SMALL_CORRECTION < self.now {
            self.turn_back(now);
        }
        self.now = self.now.max(now);
        if self.behind.is_some_and(|ahead| now >= ahead) {
            self.behind = None;
            self.problems_dirty |= self.problems.clear(CLOCK, ProblemKind::ClockWentBack);
        }
    }

    /// The clock was wrong and has been set right. To hold on to the wrong time would show every session as
    /// idle for as long as the clock was ahead, and hide the old ones.
    fn turn_back(&mut self, now: Timestamp) {
        self.problems.count(&Arc::from(CLOCK), ProblemKind::ClockWentBack);
        self.problems_dirty = true;
        self.behind = self.behind.max(Some(self.now));
        self.now = now;
        for file in self.files.values_mut() {
            file.turn_back(now);
        }
        self.dirty.extend(self.sessions.keys().cloned());
        self.dirty.extend(self.registry.all().map(|witness| witness.entry.session.clone()));
        for path in std::mem::take(&mut self.retries).into_keys() {
            let due = if self.folders.contains(&path) {
                Due::Folder(path.clone())
            } else {
                Due::RegistryFile(path.clone())
            };
            self.retry(&path, due, Some(now));
        }
    }
}
