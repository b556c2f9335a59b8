//! Counters of a receiver.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts of a receiver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events delivered to the consumer.
    pub delivered: u64,
    /// Files and messages that were no events, or incomplete ones.
    pub damaged: u64,
    /// Connections of other users, which were refused.
    pub refused: u64,
    /// How often the journal or the spool became unusable.
    pub unkept: u64,
    /// Whether they cannot be written or read now.
    pub in_trouble: bool,
}

/// [`Tally`], shared between the threads.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub delivered: AtomicU64,
    pub damaged: AtomicU64,
    pub refused: AtomicU64,
    pub unkept: AtomicU64,
    pub in_trouble: AtomicBool,
}

impl Counts {
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub fn tally(&self) -> Tally {
        let Self { delivered, damaged, refused, unkept, in_trouble } = self;
        Tally {
            delivered: delivered.load(Ordering::Relaxed),
            damaged: damaged.load(Ordering::Relaxed),
            refused: refused.load(Ordering::Relaxed),
            unkept: unkept.load(Ordering::Relaxed),
            in_trouble: in_trouble.load(Ordering::Relaxed),
        }
    }
}
