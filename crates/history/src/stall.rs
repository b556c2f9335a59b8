//! Logs work that keeps others waiting, under the target `watchbill::stall`. A stall can so be found where it happens
//! (`WATCHBILL_LOG=watchbill::stall=debug`).

use std::time::{Duration, Instant};

/// No work that another thread or the user waits for should take longer than this.
const LONG: Duration = Duration::from_millis(20);

/// A span of work that others may wait for. When it is dropped, it logs its duration if that was too long.
pub struct StallTimer {
    kind: &'static str,
    what: &'static str,
    began: Instant,
}

impl StallTimer {
    /// Begins now.
    pub fn begin(kind: &'static str, what: &'static str) -> Self {
        Self { kind, what, began: Instant::now() }
    }
}

impl Drop for StallTimer {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        if took >= LONG {
            let ms = took.as_millis();
            tracing::debug!(target: "watchbill::stall", kind = self.kind, what = self.what, ms, "took long");
        }
    }
}
