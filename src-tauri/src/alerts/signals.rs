//! How the rest of the program controls the task that shows alerts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// How long the end of the program waits for notifications to be closed.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The handle of the alerts task for the rest of the program.
#[derive(Default)]
pub struct Alerts {
    /// The task has to subscribe to another engine.
    pub(super) needs_subscription: AtomicBool,
    pub(super) changed: Notify,
    pub(super) quitting: Notify,
    /// The task runs, so a notification may be on the screen.
    at_work: Mutex<bool>,
    pub(super) left_work: Condvar,
}

impl Alerts {
    /// Alerts without a subscription yet.
    pub fn new() -> Self {
        Self { needs_subscription: AtomicBool::new(true), ..Self::default() }
    }

    /// The engine was replaced: the notifications are of the old one.
    pub fn engine_changed(&self) {
        self.needs_subscription.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// The program ends. Closes the notifications, whose buttons would do nothing. Waits for that, but not for long.
    pub fn quit(&self) {
        self.quitting.notify_one();
        let at_work = self.at_work();
        // The program ends in any case.
        let _ = self.left_work.wait_timeout_while(at_work, SHUTDOWN_TIMEOUT, |at_work| *at_work);
    }

    pub(super) fn at_work(&self) -> MutexGuard<'_, bool> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
