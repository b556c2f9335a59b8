//! Hooks of the agent: the sender that never holds the agent up, the receiver, the installer that can be undone.
//!
//! An agent starts `watchbill hook` at each of its events. [`sender`] wraps the payload into an [`envelope`] and hands
//! it to every program that listens at an [`ear`]; where nobody keeps it, the [`spool`] does. A [`receiver`]
//! hears, keeps a [`journal`], and tells each event once. What is to be forgotten leaves both: [`forget`](mod@forget).

#![forbid(unsafe_code)]

pub mod ancestors;
pub mod clock;
#[cfg(unix)]
pub mod deliver;
#[cfg(unix)]
pub mod ear;
pub mod envelope;
pub mod forget;
pub mod health;
pub mod install;
pub mod journal;
pub mod marker;
pub mod places;
pub mod plugin;
pub mod receiver;
pub mod sender;
mod shorten;
pub mod spool;
mod stdin;

/// What a receiver tells.
pub use watchbill_core::hook::HookMessage;

pub use receiver::{Listener, Options, Receiver, ReceiverError, Tally};
