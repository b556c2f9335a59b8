//! The sockets of the engine and of the hosts: who is at the other end.

pub mod caller;
pub mod engine;
