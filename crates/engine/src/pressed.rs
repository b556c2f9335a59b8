//! When the user answered. A late answer is refused: the user may have decided otherwise meanwhile.

use std::time::Duration;

use watchbill_platform::clock::since_boot;
use watchbill_protocol::error::{ApiError, ErrorCode};

/// How long an answer counts. The window says after the same time that the answer was not delivered.
const COUNTS: Duration = Duration::from_secs(5);

/// How much longer a caller waits, so that an answer that just counted is not reported as refused.
const REPLY: Duration = Duration::from_secs(1);

/// When the user answered, by the clock since boot. All programs of the machine have this clock in common.
#[derive(Debug, Clone, Copy)]
pub struct Pressed(u64);

impl Pressed {
    /// The user answers now.
    pub fn now() -> Self {
        Self(since_boot())
    }

    /// As a caller says it, in nanoseconds. No caller answers in the future.
    pub fn at(nanoseconds: u64) -> Self {
        Self(nanoseconds.min(since_boot()))
    }

    /// In nanoseconds.
    pub fn nanoseconds(self) -> u64 {
        self.0
    }

    /// Whether the answer counts no more.
    pub fn is_late(self) -> bool {
        self.age() > COUNTS
    }

    /// How long a caller waits for the outcome.
    pub fn wait(self) -> Duration {
        (COUNTS + REPLY).saturating_sub(self.age())
    }

    fn age(self) -> Duration {
        Duration::from_nanos(since_boot().saturating_sub(self.0))
    }
}

/// The refusal of a late answer.
pub(crate) fn too_late() -> ApiError {
    let seconds = COUNTS.as_secs();
    let message = format!(
        "nothing was answered: the answer did not arrive within {seconds} seconds and counts no more; \
         answer again, or in the terminal"
    );
    ApiError::new(ErrorCode::NotReady, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_for_five_seconds_and_no_caller_can_answer_in_the_future() {
        let ago = |seconds: u64| Pressed::at(since_boot().saturating_sub(seconds * 1_000_000_000));
        assert!(!ago(4).is_late() && ago(6).is_late());
        assert!(ago(4).wait() <= Duration::from_secs(2) && ago(60).wait().is_zero());
        assert!(Pressed::at(u64::MAX).nanoseconds() <= since_boot());
    }
}
