//! The receiver: one thread that takes each hook event once, in order, and stores it before it delivers it.
//!
//! Each program opens a receiver of its own, and each receiver gets all events:
//!
//! - An event ends in the journal or stays in the spool. The first receiver of a data folder writes the journal. Only
//!   its acknowledgement lets a sender drop the event. When that program ends, another receiver takes over at its next
//!   event.
//! - One round takes the complete connections, then the spool, then (if another program writes) the journal's new
//!   events. It drops known events and delivers the rest by the senders' clocks. It reads the spool after the
//!   connections: an event whose sender ended before another sender began is never delivered after the other's.
//! - A receiver delivers an event once. After a restart, a program gets the latest events again, marked as replayed,
//!   because the receiver does not know how far the program had come. The program can tell them by their ids.
//! - A slow consumer delays only this thread; senders spool meanwhile.

mod counts;
mod forgotten;
mod not_stored;
mod options;
mod round;
mod seen_events;
mod thread;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;

use crate::places::HookPaths;
use counts::Counts;

pub use counts::Tally;
pub use options::{Options, ReceiverSetup};

/// Why a receiver cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ReceiverError {
    /// The folder for sockets, or the socket, cannot be made.
    #[error(
        "hook events cannot be received in {}: {source}; make the folder writable, or name another one with --data-dir",
        folder.display()
    )]
    Ear {
        /// The folder of the hooks.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no thread.
    #[error("no thread for receiving hook events: {0}")]
    Thread(io::Error),
}

/// A running receiver. Dropping it stops the thread, and waits for the consumer to return.
#[derive(Debug)]
pub struct Receiver {
    waker: thread::Waker,
    counts: Arc<Counts>,
    exclude: Arc<RwLock<Exclude>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Receiver {
    /// Starts a receiver for the given places.
    ///
    /// # Errors
    /// When the folder cannot be used, or the system gives no thread.
    pub fn open_at(
        places: HookPaths,
        options: Options,
        on_event: impl FnMut(HookMessage) + Send + 'static,
    ) -> Result<Self, ReceiverError> {
        let (on_event, on_trouble) = (Box::new(on_event), Box::new(|| {}));
        let (exclude, forgotten) = (Exclude::default(), None);
        Self::open_for(places, ReceiverSetup { options, exclude, forgotten, on_event, on_trouble })
    }

    /// Starts a receiver for the given places, with all options and callbacks of [`ReceiverSetup`].
    ///
    /// # Errors
    /// When the folder cannot be used, or the system gives no thread.
    pub fn open_for(places: HookPaths, listener: ReceiverSetup) -> Result<Self, ReceiverError> {
        let counts = Arc::new(Counts::default());
        let exclude = Arc::new(RwLock::new(listener.exclude.clone()));
        let folder = places.root().to_path_buf();
        let (door, waker) =
            thread::Inlet::open(&places).map_err(|source| ReceiverError::Ear { folder, source })?;
        let state = round::ReceiverState::new(places, listener, Arc::clone(&exclude), Arc::clone(&counts));
        let thread = std::thread::Builder::new()
            .name("watchbill-hooks".into())
            .spawn(move || door.run(state))
            .map_err(ReceiverError::Thread)?;
        Ok(Self { waker, counts, exclude, thread: Some(thread) })
    }

    /// From now on, events that name these paths are delivered but not stored. [`crate::forget::remove_excluded`] removes
    /// the ones stored before.
    pub fn set_exclude(&self, exclude: Exclude) {
        *self.exclude.write().unwrap_or_else(PoisonError::into_inner) = exclude;
    }

    /// Reads the spool and the journal now. A caller that watches the folder uses it after a change.
    pub fn run_round(&self) {
        self.waker.wake();
    }

    /// Counts of received events and of failures.
    pub fn counts(&self) -> Tally {
        self.counts.tally()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.waker.stop();
        let Some(thread) = self.thread.take() else { return };
        // The consumer itself may drop the receiver, on this thread.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("the hook receiver's thread had panicked");
        }
    }
}
