//! The inputs of a host's loop.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use watchbill_protocol::error::ApiError;
use watchbill_protocol::own::command::OwnCommand;

use super::mailbox::Mailbox;
use crate::log::Direction;

/// An input of a host's loop.
pub enum Input {
    /// A line of the agent.
    Line {
        /// `Out` or `Err`.
        direction: Direction,
        /// Without its line feed.
        bytes: Vec<u8>,
    },
    /// Output of the terminal.
    Output(Vec<u8>),
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
