//! What the thread that asks the model is told by other threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use watchbill_core::history::HistorySettings;
use watchbill_core::memory::MemorySettings;

use crate::memory::model::child::Stop;

/// The orders. Each change wakes the thread; nothing else does, except the time that it waits for.
pub struct ModelQueue {
    orders: Mutex<Orders>,
    bell: Condvar,
}

struct Orders {
    history: HistorySettings,
    memory: MemorySettings,
    is_busy: bool,
    has_begun: bool,
    has_ended: bool,
    settings_changed: bool,
    woken: bool,
    /// Ends the question that is asked now.
    question: Option<Stop>,
    /// The question was ended, or must not be asked, because its turn may be gone.
    is_cancelled: bool,
}

/// The orders at one moment.
pub struct Look {
    /// What may be asked about.
    pub history: HistorySettings,
    /// The model.
    pub memory: MemorySettings,
    /// A session works.
    pub is_busy: bool,
    /// The settings are new.
    pub settings_changed: bool,
    /// The thread is to end.
    pub has_ended: bool,
}

impl ModelQueue {
    /// The orders of a start. A session may work until the engine knows better.
    pub fn new(history: HistorySettings, memory: MemorySettings) -> Self {
        Self {
            orders: Mutex::new(Orders {
                history,
                memory,
                is_busy: true,
                has_begun: false,
                has_ended: false,
                settings_changed: false,
                woken: false,
                question: None,
                is_cancelled: false,
            }),
            bell: Condvar::new(),
        }
    }

    /// The roster is complete: turns may be asked about.
    pub fn begin(&self) {
        self.change(|orders| orders.has_begun = true);
    }

    /// Whether a session works now.
    pub fn set_busy(&self, is_busy: bool) {
        let was_busy = std::mem::replace(&mut self.lock().is_busy, is_busy);
        // Work that begins ends no question, so it wakes no thread.
        if was_busy && !is_busy {
            self.wake();
        }
    }

    /// Jobs or the pause may have changed.
    pub fn wake(&self) {
        self.change(|_| {});
    }

    /// These settings apply from now on, and end the present question. Returns whether a model is chosen.
    pub fn follow(&self, history: &HistorySettings, memory: &MemorySettings) -> bool {
        self.change(|orders| {
            (orders.history, orders.memory) = (history.clone(), memory.clone());
            orders.settings_changed = true;
        });
        self.cancel();
        memory.model.is_chosen()
    }

    /// Ends the present question: rows were removed, and its turn may be among them.
    pub fn cancel(&self) {
        self.change(|orders| {
            orders.is_cancelled = true;
            if let Some(question) = orders.question.take() {
                question.stop();
            }
        });
    }

    /// Ends the thread and its question.
    pub fn end(&self) {
        self.change(|orders| orders.has_ended = true);
        self.cancel();
    }

    /// Waits for a change, or until `span` has passed.
    pub(super) fn wait(&self, span: Option<Duration>) -> Look {
        let idle = |orders: &mut Orders| !(orders.has_ended || orders.woken && orders.has_begun);
        let held = self.lock();
        let mut orders = match span {
            None => self.bell.wait_while(held, idle).unwrap_or_else(PoisonError::into_inner),
            Some(span) => {
                self.bell.wait_timeout_while(held, span, idle).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        orders.woken = false;
        Look {
            history: orders.history.clone(),
            memory: orders.memory.clone(),
            is_busy: orders.is_busy,
            settings_changed: std::mem::take(&mut orders.settings_changed),
            has_ended: orders.has_ended,
        }
    }

    /// Rows are read for a question. What is removed from here on cancels it.
    pub(super) fn prepares(&self) {
        self.lock().is_cancelled = false;
    }

    /// A question is asked from now on.
    pub(super) fn asks(&self, question: Stop) {
        let mut orders = self.lock();
        if orders.has_ended || orders.is_cancelled {
            question.stop();
        } else {
            orders.question = Some(question);
        }
    }

    /// The question has ended. Returns whether it was cancelled.
    pub(super) fn asked(&self) -> bool {
        let mut orders = self.lock();
        orders.question = None;
        std::mem::take(&mut orders.is_cancelled)
    }

    fn change(&self, change: impl FnOnce(&mut Orders)) {
        let mut orders = self.lock();
        change(&mut orders);
        orders.woken = true;
        drop(orders);
        self.bell.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Orders> {
        // A panic cannot leave these values half changed.
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
