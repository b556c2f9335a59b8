//! Sessions of our own: the drivers of the agents, the host that keeps a session, and its client.
//!
//! A *driver* is a pure fold over the lines of one agent, in both directions. A *host* is the process that runs the agent,
//! appends each line to its log before it folds it, and serves readers. Replaying the log through the driver gives the same
//! events, so a log of a dead host can be read as well.
//!
//! [`start`] starts sessions, [`client`] talks to their hosts, [`sessions`] finds them, [`replay`] reads their logs, [`summary`]
//! says what those of ended ones add up to.

#![forbid(unsafe_code)]

pub mod acp;
pub mod agents;
pub mod claude;
pub mod client;
pub mod codex;
pub mod context;
pub mod driver;
mod fold;
pub mod folder;
#[cfg(target_os = "linux")]
pub mod host;
mod host_process;
pub mod log;
pub mod replay;
pub mod sessions;
pub mod socket;
pub mod start;
pub mod summary;
pub mod transcript;
