//! When to try again after the store has refused: soon, or after growing pauses if a try costs seconds.

use watchbill_core::time::{Millis, Timestamp};

/// Pause after a refusal.
pub(super) const RETRY_PAUSE: Millis = Millis::from_secs(2);
/// Longest pause. A user who has made room on the disk waits no longer than this.
const LATEST: Millis = Millis::from_secs(300);

/// The last refusal, and the time of the next try.
#[derive(Debug, Default)]
pub(super) struct Retry {
    until: Option<Timestamp>,
    /// Length of the current or the last pause.
    span: Millis,
    /// The last try was a costly one.
    costly: bool,
}

impl Retry {
    /// Notes a refusal. `is_costly`: the try cost seconds of work, and the next one will too.
    pub fn refused(&mut self, now: Timestamp, is_costly: bool) {
        self.span = if is_costly && self.costly { Millis(self.span.0 * 2).min(LATEST) } else { RETRY_PAUSE };
        self.costly = is_costly;
        self.until = Some(now + self.span);
    }

    /// Whether the pause goes on. A clock that goes back ends it.
    pub fn waits(&mut self, now: Timestamp) -> bool {
        self.until = self.until.filter(|until| now < *until && until.since(now) <= self.span);
        self.until.is_some()
    }

    /// The end of the pause.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Whether no costly work was refused since the last one succeeded.
    pub fn is_first(&self) -> bool {
        !self.costly
    }

    /// Costly work has succeeded.
    pub fn done(&mut self) {
        self.costly = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(retry: &mut Retry, now: &mut Timestamp, is_costly: &[bool]) -> Vec<i64> {
        let span = |is_costly: &bool| {
            let began = *now;
            retry.refused(*now, *is_costly);
            while retry.waits(*now) {
                *now = *now + Millis::from_secs(1);
            }
            now.since(began).0 / 1_000
        };
        is_costly.iter().map(span).collect()
    }

    #[test]
    fn costly_work_is_retried_after_growing_pauses_and_other_work_soon() {
        let mut retry = Retry::default();
        let mut now = Timestamp::from_millis(1_795_262_400_000);
        assert_eq!(spans(&mut retry, &mut now, &[false; 4]), [2, 2, 2, 2]);
        assert_eq!(spans(&mut retry, &mut now, &[true; 10]), [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(!retry.is_first());
        retry.done();
        assert!(retry.is_first());
        assert_eq!(spans(&mut retry, &mut now, &[true, true, false, true]), [2, 4, 2, 2]);
    }

    #[test]
    fn a_clock_that_goes_back_ends_the_pause() {
        let mut retry = Retry::default();
        let now = Timestamp::from_millis(1_795_262_400_000);
        retry.refused(now, true);
        assert!(retry.waits(now));
        assert_eq!(retry.until(), Some(now + RETRY_PAUSE));
        assert!(!retry.waits(now - Millis(1)));
        assert_eq!(retry.until(), None);
    }
}
