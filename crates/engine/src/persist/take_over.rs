//! Takes over the store when the process that writes it has ended.

use std::time::{Duration, Instant};

use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::{OpenMode, Store, StoreError};

use super::{NewStore, OpenedStore, Persist, TAKE_OVER};
use crate::engine::Engine;

/// An attempt may read gigabytes, or build an index for which the disk has no room. The pause after it is so many times
/// as long.
const SHARE: i64 = 50;
/// The longest pause.
const LATEST: Millis = Millis::from_secs(300);
impl Persist {
    /// Tries to take over from the process that wrote when this one started.
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
        let reads = self.trouble.is_none() && self.shared_store.lock_urgent("take over").is_some();
        // Open nothing again while the other process still writes.
        if reads && matches!(self.try_take_over(), Ok(false)) {
            return false;
        }
        if !self.writes {
            self.try_open(OpenMode::WriteOrRead);
        }
        if self.writes {
            // The other process's last changes are not known here, so store everything again.
            engine.requeue_everything();
            self.restore_user_edits(engine);
            self.begun = Some(NewStore::TookOver);
        }
        engine.note_store(self.trouble());
        self.writes
    }

    fn try_take_over(&mut self) -> Result<bool, StoreError> {
        let Some(store) = Store::take_over(&self.folder)? else { return Ok(false) };
        let known = OpenedStore::of(store)?;
        self.opened(known);
        Ok(true)
    }
}

/// The pause after an attempt of this length.
fn pause_after(took: Duration) -> Millis {
    let took = i64::try_from(took.as_millis()).unwrap_or(LATEST.0);
    Millis(took.saturating_mul(SHARE)).clamp(TAKE_OVER, LATEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_attempt_is_followed_by_a_long_pause() {
        for (took, pause) in [(0, 5), (100, 5), (1_000, 50), (60_000, 300), (u64::MAX, 300)] {
            assert_eq!(pause_after(Duration::from_millis(took)), Millis::from_secs(pause), "{took} ms");
        }
    }
}
