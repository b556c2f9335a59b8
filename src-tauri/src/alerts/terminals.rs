//! How long terminals are waited for that are asked whether the person looks at them.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// A terminal that does not say whether it is in front by then counts as not in front: an alert too many is a nuisance, one
/// too few a betrayal.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long nobody is asked after one did not answer. What hangs is mostly what all of them hang on, and while it is waited
/// for nothing else is shown or taken away.
const REST: Duration = Duration::from_secs(10);

/// The terminals, as far as they answer.
#[derive(Debug, Default)]
pub struct Terminals {
    rest_until: Option<Instant>,
}

impl Terminals {
    /// By when an answer must have come that is asked for now.
    pub fn patience(&self) -> Instant {
        Instant::now() + PATIENCE
    }

    /// Whether the terminal says in time that the person looks at it.
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
    async fn one_that_hangs_is_waited_for_once_and_those_after_it_are_not_asked_for_a_while() {
        let mut terminals = Terminals::default();
        let begun = Instant::now();
        let until = terminals.patience();
        assert!(terminals.is_seen(async { Some(true) }, until).await);
        assert!(!terminals.is_seen(async { None }, until).await);
        for _ in 0..10 {
            let until = terminals.patience();
            assert!(!terminals.is_seen(std::future::pending(), until).await);
        }
        assert_eq!(begun.elapsed(), PATIENCE);
        assert!(!terminals.is_seen(async { Some(true) }, terminals.patience()).await, "not asked");
        tokio::time::advance(REST).await;
        let until = terminals.patience();
        assert!(terminals.is_seen(async { Some(true) }, until).await);
    }
}
