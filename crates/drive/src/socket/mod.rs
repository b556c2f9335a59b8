//! Local sockets of one user, for the engine and for the hosts: their place, lines of JSON, who is at the other end.

pub mod address;
#[cfg(target_os = "linux")]
mod bounded;
pub mod caller;
pub mod connection;
pub mod engine;
