//! What keeps others waiting: said in the log under the target `watchbill::stall`, so that a stall can be found
//! where it happens (`WATCHBILL_LOG=watchbill::stall=debug`).

use std::time::{Duration, Instant};

/// Longer than this nothing should take that somebody waits for.
const LONG: Duration = Duration::from_millis(20);

/// A span of work that somebody may wait for. Says how long it took when it is dropped, if that was too long.
pub struct Watched {
    kind: &'static str,
    what: &'static str,
    began: Instant,
}

impl Watched {
    /// Begins now.
    pub fn begin(kind: &'static str, what: &'static str) -> Self {
        Self { kind, what, began: Instant::now() }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        if took >= LONG {
            let ms = took.as_millis();
            tracing::debug!(target: "watchbill::stall", kind = self.kind, what = self.what, ms, "took long");
        }
    }
}
