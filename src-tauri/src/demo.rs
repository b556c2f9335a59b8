//! The made-up sessions that the window can show in place of the real ones.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether made-up sessions are shown. No settings apply to them.
pub struct Demo {
    is_on: AtomicBool,
    /// The program was started for them.
    is_all: bool,
}

impl Demo {
    /// `is_all`: the program was started for them.
    pub fn new(is_all: bool) -> Self {
        Self { is_on: AtomicBool::new(is_all), is_all }
    }

    /// Whether they are shown.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// Shows them from now on, or the real ones.
    pub fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Release);
    }

    /// Whether the real sessions can come back. A program that was started for the demo alone runs beside the one that shows them.
    pub fn may_be_left(&self) -> bool {
        self.is_on() && !self.is_all
    }
}
