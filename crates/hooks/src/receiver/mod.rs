//! The receiver: one thread that hears every hook event once, in order, and keeps it before it is told.
//!
//! Each program that wants to know opens a receiver of its own, and each hears everything. What is told and when:
//!
//! - An event ends in the journal or stays in the spool. The first receiver of a data folder writes the journal, and only
//!   its acknowledgement lets a sender forget; when that program ends, another one takes over at its next event.
//! - One round takes the connections that are complete, then what lies in the spool, then (where another program writes) what
//!   the journal has gained, drops what is known, and hands the rest over by the senders' clocks. The spool is
//!   looked at after the connections: an event whose sender has ended before another one's began is never told after it.
//! - To one receiver an event is told once. A program that starts again hears the latest ones again, marked as replayed,
//!   because nobody here knows how far it had come: ids let it tell.
//! - A consumer that takes its time holds up this thread and nobody else: senders spool instead.

mod counts;
mod forgotten;
mod known;
mod left_out;
mod listener;
mod round;
mod thread;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;

use crate::places::Places;
use counts::Counts;

pub use counts::Tally;
pub use listener::{Listener, Options};

/// Why nothing can be heard.
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
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no thread.
    #[error("no thread for receiving hook events: {0}")]
    Thread(io::Error),
}

/// A running receiver. It stops when it is dropped, and then waits for the consumer to return.
#[derive(Debug)]
pub struct Receiver {
    waker: thread::Waker,
    counts: Arc<Counts>,
    exclude: Arc<RwLock<Exclude>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Receiver {
    /// Listens at a data folder. `on_event` is called on the receiver's thread; while it runs, senders spool.
    ///
    /// # Errors
    /// When the folder cannot be used, or the system gives no thread.
    pub fn open(
        data_dir: &Path,
        options: Options,
        on_event: impl FnMut(HookMessage) + Send + 'static,
    ) -> Result<Self, ReceiverError> {
        Self::open_at(Places::new(data_dir), options, on_event)
    }

    /// Listens at places of choice.
    ///
    /// # Errors
    /// As [`Receiver::open`].
    pub fn open_at(
        places: Places,
        options: Options,
        on_event: impl FnMut(HookMessage) + Send + 'static,
    ) -> Result<Self, ReceiverError> {
        let (on_event, on_trouble) = (Box::new(on_event), Box::new(|| {}));
        let (exclude, forgotten) = (Exclude::default(), None);
        Self::open_for(places, Listener { options, exclude, forgotten, on_event, on_trouble })
    }

    /// Listens at places of choice for somebody who also wants to know of trouble, and does not want everything kept.
    ///
    /// # Errors
    /// As [`Receiver::open`].
    pub fn open_for(places: Places, listener: Listener) -> Result<Self, ReceiverError> {
        let counts = Arc::new(Counts::default());
        let exclude = Arc::new(RwLock::new(listener.exclude.clone()));
        let folder = places.root().to_path_buf();
        let (door, waker) =
            thread::Door::open(&places).map_err(|source| ReceiverError::Ear { folder, source })?;
        let hearing = round::Hearing::new(places, listener, Arc::clone(&exclude), Arc::clone(&counts));
        let thread = std::thread::Builder::new()
            .name("watchbill-hooks".into())
            .spawn(move || door.run(hearing))
            .map_err(ReceiverError::Thread)?;
        Ok(Self { waker, counts, exclude, thread: Some(thread) })
    }

    /// From now on events that tell of these paths are told and not kept. What was kept before goes by
    /// [`crate::forget::leave_out`].
    pub fn leave_out(&self, exclude: Exclude) {
        *self.exclude.write().unwrap_or_else(PoisonError::into_inner) = exclude;
    }

    /// Looks into the spool and the journal now: for whoever watches the folder and saw something come.
    pub fn sweep(&self) {
        self.waker.wake();
    }

    /// What has been heard so far, and what could not be.
    pub fn counts(&self) -> Tally {
        self.counts.tally()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.waker.stop();
        let Some(thread) = self.thread.take() else { return };
        // The consumer itself may hold the last receiver.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("the hook receiver's thread had panicked");
        }
    }
}
