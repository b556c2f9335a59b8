//! How far the history goes that this process keeps, for whoever looks into it on another thread.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What is known of the transcripts that are not stored, or not to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Reached {
    /// Nobody here knows: another process keeps the history, the store refuses, or nothing was looked at yet.
    #[default]
    Unknown,
    /// Some are still to be read.
    Behind,
    /// All were read; what is said from now on follows within a moment.
    Current,
}

/// The place where it is said. Whoever asks the store reads it first: what was stored before it was said is there then.
#[derive(Debug, Default)]
pub struct Reach {
    history: AtomicU8,
    owed: AtomicBool,
}

impl Reach {
    /// The history is so far from now on.
    pub fn set(&self, reached: Reached) {
        self.history.store(reached as u8, Ordering::Release);
    }

    /// Whether files have grown of which the history is not told yet, since the store could not be written.
    pub fn set_owed(&self, owed: bool) {
        self.owed.store(owed, Ordering::Release);
    }

    /// How it was said to be last.
    pub fn get(&self) -> Reached {
        match self.history.load(Ordering::Acquire) {
            _ if self.owed.load(Ordering::Acquire) => Reached::Unknown,
            at if at == Reached::Behind as u8 => Reached::Behind,
            at if at == Reached::Current as u8 => Reached::Current,
            _ => Reached::Unknown,
        }
    }
}
