//! How far the history goes that this process keeps, for whoever looks into it on another thread.

use std::sync::atomic::{AtomicU8, Ordering};

/// What is known of the transcripts that are not stored, or not to their ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Reached {
    /// Nobody here knows: another process keeps the history, the store refuses, or nothing was looked at yet.
    #[default]
    Unknown,
    /// Some are still to be read.
    Behind,
    /// All were read as far as can be; what is said from now on follows within a moment.
    Current,
}

/// The place where it is said. Clones of an `Arc` share it.
#[derive(Debug, Default)]
pub struct Reach(AtomicU8);

impl Reach {
    /// From now on it is so.
    pub fn set(&self, reached: Reached) {
        self.0.store(reached as u8, Ordering::Relaxed);
    }

    /// How it was said to be last.
    pub fn get(&self) -> Reached {
        match self.0.load(Ordering::Relaxed) {
            at if at == Reached::Behind as u8 => Reached::Behind,
            at if at == Reached::Current as u8 => Reached::Current,
            _ => Reached::Unknown,
        }
    }
}
