//! Sessions of our own: the host that keeps a session, and its client.
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
#[cfg(target_os = "linux")]
pub mod host;
mod host_process;
pub mod log;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "hosts run on Linux only"))]
mod pictures;
pub mod replay;
pub mod sessions;
pub mod socket;
pub mod start;
pub mod summary;
pub mod transcript;
mod turn;
