//! Sessions of our own: the specification, events and commands, and the messages between a host and its readers.
//!
//! A *host* is the small process that keeps one own session: the agent's pipes or terminal, the queue, the log. The window,
//! the engine and the command line attach to it. The types are the same for every agent.

pub mod command;
pub mod event;
pub mod facts;
pub mod host;
pub mod spec;
pub mod view;
