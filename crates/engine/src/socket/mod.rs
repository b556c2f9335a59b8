//! The local socket: programs of one user reach the holder of the store through it.
//!
//! The holder listens ([`server`]). Every other program connects ([`client`]), and does the work itself if no program
//! listens. [`watchbill_protocol::socket`] defines the lines. On Windows the socket is a named pipe; that is untested.

pub mod access;
mod ask;
pub mod client;
pub(crate) mod holder;
pub(crate) mod mailbox;
pub mod server;
mod unreadable_call;

use watchbill_drive::socket::engine::address_of;
