//! Another process writes until it ends: then this one does.

use std::time::{Duration, Instant};

use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::{Mode, Store, StoreError};

use super::{Begun, Known, Persist, TAKE_OVER};
use crate::engine::Engine;

/// To try may mean to look through gigabytes, or to make an index anew for which there is no room: no more than such a part
/// of the time is spent on it.
const SHARE: i64 = 50;
/// But then it is tried after so much time at the latest.
const LATEST: Millis = Millis::from_secs(300);
impl Persist {
    /// Another process wrote when this one started. It may have ended since.
    pub(super) fn take_over(&mut self, engine: &mut Engine, now: Timestamp) -> bool {
        if self.again_at.is_some_and(|at| now < at && at.since(now) <= self.pause) {
            return false;
        }
        let began = Instant::now();
        let took_over = self.open_to_write(engine);
        self.pause = pause_after(began.elapsed());
        self.again_at = (!took_over).then_some(now + self.pause);
        took_over
    }

    fn open_to_write(&mut self, engine: &mut Engine) -> bool {
        let reads = self.trouble.is_none() && self.shelf.at_once("take over").is_some();
        // Nothing is opened anew while the other one still writes.
        if reads && matches!(self.try_take_over(), Ok(false)) {
            return false;
        }
        if !self.writes {
            self.try_open(Mode::WriteOrRead);
        }
        if self.writes {
            // What the other one has kept lately is not ours: everything is kept anew.
            engine.keep_everything();
            self.restore_words(engine);
            self.begun = Some(Begun::TookOver);
        }
        engine.note_store(self.trouble());
        self.writes
    }

    fn try_take_over(&mut self) -> Result<bool, StoreError> {
        let Some(store) = Store::take_over(&self.folder)? else { return Ok(false) };
        let known = Known::of(store)?;
        self.opened(known);
        Ok(true)
    }
}

/// How long the store is left alone after a try that took so long.
fn pause_after(took: Duration) -> Millis {
    let took = i64::try_from(took.as_millis()).unwrap_or(LATEST.0);
    Millis(took.saturating_mul(SHARE)).clamp(TAKE_OVER, LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_to_try_is_tried_seldom() {
        for (took, pause) in [(0, 5), (100, 5), (1_000, 50), (60_000, 300), (u64::MAX, 300)] {
            assert_eq!(pause_after(Duration::from_millis(took)), Millis::from_secs(pause), "{took} ms");
        }
    }
}
