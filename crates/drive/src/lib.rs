//! Sessions of our own: their folders and logs, and the client of their hosts.
//!
//! A *driver* ([`watchbill_agents::driver`]) is a pure fold over the lines of one agent, in both directions. A *host* is the process that runs the agent,
//! appends each line to its log before it folds it, and serves readers. Replaying the log through the driver gives the same
//! events, so a log of a dead host can be read as well.
//!
//! [`start`] starts sessions, [`client`] talks to their hosts, [`sessions`] finds them, [`replay`] reads their logs, [`summary`]
//! says what those of ended ones add up to.

#![forbid(unsafe_code)]

pub mod client;
pub mod context;
pub mod fold;
pub mod folder;
pub mod host_process;
pub mod log;
pub mod replay;
pub mod sessions;
pub mod socket;
pub mod start;
pub mod summary;
pub mod transcript;
mod turn;
