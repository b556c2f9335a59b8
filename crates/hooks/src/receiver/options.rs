//! The options and callbacks of a receiver.

use std::path::PathBuf;
use std::time::Duration;

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;

/// How a receiver listens.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// At the start, events of the journal that are no older than this are delivered again.
    pub recent: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { recent: Duration::from_secs(600) }
    }
}

/// The options and callbacks of a receiver, and the events that it must not store.
pub struct ReceiverSetup {
    /// Which events are delivered again at the start.
    pub options: Options,
    /// Events that name these paths are delivered, but not stored: neither in the journal nor in the spool. See
    /// [`Receiver::leave_out`](super::Receiver::set_exclude).
    pub exclude: Exclude,
    /// The file that lists forgotten sessions: a time and a session on each line. It may change at any time.
    pub forgotten: Option<PathBuf>,
    /// Called with each event on the receiver's thread. While it runs, senders spool.
    pub on_event: Box<dyn FnMut(HookMessage) + Send>,
    /// Called on the same thread when storing begins to fail, and when it works again: see
    /// [`Tally::in_trouble`](super::Tally::in_trouble).
    pub on_trouble: Box<dyn FnMut() + Send>,
}
