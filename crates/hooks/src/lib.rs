//! Hooks of the agent: the sender, which never delays the agent, the receiver, and the installer, which can undo
//! its work.
//!
//! The agent starts `watchbill hook` at each of its events. [`sender`] wraps the payload into an [`envelope`] and
//! sends it to every program that listens at an [`receiver_socket`]. If no program stores it, the sender puts it into the
//! [`spool`]. A [`receiver`] takes the events, stores them in a [`journal`], and delivers each event once.
//! [`status_line`] sends what the client says in its status line.
//! [`forget`](mod@forget) removes the events of forgotten sessions from both.

#![forbid(unsafe_code)]

pub mod ancestors;
#[cfg(unix)]
pub mod deliver;
pub mod envelope;
pub mod forget;
pub mod health;
pub mod install;
pub mod journal;
pub mod marker;
pub mod places;
pub mod plugin;
pub mod receiver;
#[cfg(unix)]
pub mod receiver_socket;
pub mod sender;
pub mod shorten;
pub mod spool;
pub mod status_line;
mod stdin;

/// A received event.
pub use watchbill_core::hook::HookMessage;

pub use receiver::{Options, Receiver, ReceiverError, ReceiverSetup, Tally};
