//! The inputs of a host's loop.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use watchbill_drive::log::Direction;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::own::command::OwnCommand;

use crate::mailbox::Mailbox;

/// The most bytes of the agent's output that wait for the loop. A longer line waits alone.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// The bytes of output that wait for the loop. The threads that read the agent wait for room, and the agent for them.
#[derive(Default)]
pub struct Room {
    used: Mutex<usize>,
    freed: Condvar,
}

/// A part of the room. It is given back when this is dropped.
pub struct Share {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    /// Waits until there is room for so many bytes.
    pub fn share(self: &Arc<Self>, bytes: usize) -> Share {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = |used: &mut usize| *used > 0 && *used + bytes > MAX_WAITING_BYTES;
        let mut used = self.freed.wait_while(used, is_full).unwrap_or_else(PoisonError::into_inner);
        *used += bytes;
        Share { room: Arc::clone(self), bytes }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.room.used.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.room.freed.notify_all();
    }
}

/// An input of a host's loop.
pub enum Input {
    /// A line of the agent.
    Line {
        /// `Out` or `Err`.
        direction: Direction,
        /// Without its line feed.
        bytes: Vec<u8>,
        /// The line was too long: this is its beginning.
        is_cut: bool,
        /// Its room.
        share: Share,
    },
    /// Output of the terminal.
    Output(Vec<u8>, Share),
    /// One of the agent's outputs has ended.
    Closed,
    /// A command of a reader.
    Call(Call),
    /// A reader wants all events from now on.
    Attach {
        /// Where they go.
        mailbox: Arc<Mailbox>,
        /// Gets the number of the next record.
        reply: SyncSender<u64>,
    },
    /// A slow reader has room again.
    Redraw(Arc<Mailbox>),
    /// A child process has ended.
    Children,
    /// The system ends this host.
    Terminate,
    /// The folder of the session is gone.
    FolderGone,
}

/// A command of a reader.
pub struct Call {
    /// The reader's id of it.
    pub id: String,
    /// The command.
    pub command: OwnCommand,
    /// The line as it came.
    pub line: Vec<u8>,
    /// Gets the answer.
    pub reply: SyncSender<Result<(), ApiError>>,
}
