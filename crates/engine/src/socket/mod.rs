//! The local socket: how programs of one person reach the one that holds the store.
//!
//! That program listens ([`server`]); every other one asks it ([`client`]) and does the work itself where nobody listens. The
//! lines are those of [`watchbill_protocol::socket`]. On Windows the socket is a named pipe, which nobody has tried yet.

pub mod access;
mod address;
mod caller;
pub mod client;
mod connection;
pub(crate) mod holder;
pub(crate) mod mailbox;
pub mod server;
