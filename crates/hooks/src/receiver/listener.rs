//! Who listens: how, what is told, and what is not to be kept.

use std::path::PathBuf;
use std::time::Duration;

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;

/// How a receiver listens.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Events of the journal that are no older than this are told again at the start.
    pub recent: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { recent: Duration::from_secs(600) }
    }
}

/// Who listens, and what is not to be kept.
pub struct Listener {
    /// What is told again at the start.
    pub options: Options,
    /// Events that tell of these paths are told, and not kept: neither in the journal nor in the spool. See
    /// [`Receiver::leave_out`](super::Receiver::leave_out).
    pub exclude: Exclude,
    /// A file that names sessions of which nothing is to be kept, one a line behind a time. It may change at any time.
    pub forgotten: Option<PathBuf>,
    /// Is called with each event on the receiver's thread; while it runs, senders spool.
    pub on_event: Box<dyn FnMut(HookMessage) + Send>,
    /// Is called on the same thread when keeping begins to fail, and when it works again: see [`Tally::in_trouble`](super::Tally::in_trouble).
    pub on_trouble: Box<dyn FnMut() + Send>,
}
