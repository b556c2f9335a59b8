//! How long the shell waits for a terminal's answer whether the user looks at it.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// A terminal that has not answered by then counts as not in front: a needless alert is better than a missing one.
const TIMEOUT: Duration = Duration::from_secs(3);
/// How long no terminal is asked after one did not answer. Mostly all of them hang for the same cause, and while the
/// shell waits it neither shows nor closes anything else.
const REST: Duration = Duration::from_secs(10);

/// The state of asking terminals.
#[derive(Debug, Default)]
pub struct Terminals {
    rest_until: Option<Instant>,
}

impl Terminals {
    /// The deadline for an answer to a question asked now.
    pub fn patience(&self) -> Instant {
        Instant::now() + TIMEOUT
    }

    /// Whether the terminal says before the deadline that the user looks at it.
    pub async fn is_seen(&mut self, asked: impl Future<Output = Option<bool>>, until: Instant) -> bool {
        if self.rest_until.is_some_and(|rest| Instant::now() < rest) {
            return false;
        }
        match tokio::time::timeout_at(until, asked).await {
            Ok(answer) => answer == Some(true),
            Err(_) => {
                self.rest_until = Some(Instant::now() + REST);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn after_a_terminal_that_hangs_no_other_is_asked_for_a_while() {
        let mut terminals = Terminals::default();
        let begun = Instant::now();
        let until = terminals.patience();
        assert!(terminals.is_seen(async { Some(true) }, until).await);
        assert!(!terminals.is_seen(async { None }, until).await);
        for _ in 0..10 {
            let until = terminals.patience();
            assert!(!terminals.is_seen(std::future::pending(), until).await);
        }
        assert_eq!(begun.elapsed(), TIMEOUT);
        assert!(!terminals.is_seen(async { Some(true) }, terminals.patience()).await, "not asked");
        tokio::time::advance(REST).await;
        let until = terminals.patience();
        assert!(terminals.is_seen(async { Some(true) }, until).await);
    }
}
