//! Sessions of our own: what starts one, what it tells, what can be said to it, and the talk with its host.
//!
//! A *host* is the small process that keeps one own session: the agent's pipes or terminal, the queue, the log. The window,
//! the engine and the command line attach to it. The types are the same for every agent.

pub mod command;
pub mod event;
pub mod facts;
pub mod host;
pub mod spec;
pub mod view;
