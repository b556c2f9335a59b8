//! When something that the store has refused is tried again: soon, and ever later where a try costs seconds.

use watchbill_core::time::{Millis, Timestamp};

/// After a refusal the store is left alone for so long.
pub(super) const SOON: Millis = Millis::from_secs(2);
/// And for so long at most: whoever has made room waits no longer for what had none.
const LATEST: Millis = Millis::from_secs(300);

/// What was refused, and when it is tried again.
#[derive(Debug, Default)]
pub(super) struct Retry {
    until: Option<Timestamp>,
    /// How long it waits, or has waited.
    span: Millis,
    /// The last try, and those right before it, were dear ones.
    dear: bool,
}

impl Retry {
    /// It was refused now. `dear`: it had cost seconds of work, and would again.
    pub fn refused(&mut self, now: Timestamp, dear: bool) {
        self.span = if dear && self.dear { Millis(self.span.0 * 2).min(LATEST) } else { SOON };
        self.dear = dear;
        self.until = Some(now + self.span);
    }

    /// Whether to go on waiting. A clock that went back keeps nobody waiting.
    pub fn waits(&mut self, now: Timestamp) -> bool {
        self.until = self.until.filter(|until| now < *until && until.since(now) <= self.span);
        self.until.is_some()
    }

    /// Until when, while it waits.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// Whether nothing dear was refused since something dear was done.
    pub fn is_first(&self) -> bool {
        !self.dear
    }

    /// What is dear was done.
    pub fn done(&mut self) {
        self.dear = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(retry: &mut Retry, now: &mut Timestamp, dear: &[bool]) -> Vec<i64> {
        let span = |dear: &bool| {
            let began = *now;
            retry.refused(*now, *dear);
            while retry.waits(*now) {
                *now = *now + Millis::from_secs(1);
            }
            now.since(began).0 / 1_000
        };
        dear.iter().map(span).collect()
    }

    #[test]
    fn what_costs_seconds_is_tried_ever_later_and_everything_else_soon() {
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
    fn a_clock_that_goes_back_keeps_nobody_waiting() {
        let mut retry = Retry::default();
        let now = Timestamp::from_millis(1_795_262_400_000);
        retry.refused(now, true);
        assert!(retry.waits(now));
        assert_eq!(retry.until(), Some(now + SOON));
        assert!(!retry.waits(now - Millis(1)));
        assert_eq!(retry.until(), None);
    }
}
