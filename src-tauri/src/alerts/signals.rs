//! What the rest of the program tells the task that shows alerts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// How long the end of the program waits for what stands to be taken away.
const LAST_PATIENCE: Duration = Duration::from_secs(1);

/// The task that shows alerts, as the rest of the program has it.
#[derive(Default)]
pub struct Alerts {
    /// Another engine is to be listened to.
    pub(super) astray: AtomicBool,
    pub(super) changed: Notify,
    pub(super) quitting: Notify,
    /// The task is there, so that something may stand on the screen.
    at_work: Mutex<bool>,
    pub(super) left_work: Condvar,
}

impl Alerts {
    /// Alerts that listen to nobody yet.
    pub fn new() -> Self {
        Self { astray: AtomicBool::new(true), ..Self::default() }
    }

    /// The engine has been exchanged: what stands is of the one before.
    pub fn engine_changed(&self) {
        self.astray.store(true, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// The program ends: takes away what stands, whose buttons would lead nowhere. Waits for that, but not for long.
    pub fn quit(&self) {
        self.quitting.notify_one();
        let at_work = self.at_work();
        // Either way the program ends now.
        let _ = self.left_work.wait_timeout_while(at_work, LAST_PATIENCE, |at_work| *at_work);
    }

    pub(super) fn at_work(&self) -> MutexGuard<'_, bool> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
