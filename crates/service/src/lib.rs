//! The roster and the history over HTTP, for editors, scripts and viewers on this machine. Off until the user turns it on.
//!
//! It reads. If the user allows it, it also accepts events of clients of the claude-recall document, for the history alone. It
//! listens on loopback alone. That is no protection: web pages, other users and containers reach loopback. So `guard` checks
//! each request before anything else: its `Host`, its `Origin`, and a token that only this user can read. Our own hooks never
//! use it.

#![forbid(unsafe_code)]

mod accept;
mod address_file;
mod app;
mod endpoints;
mod events;
mod follow;
mod guard;
mod recall_api;
mod server;

pub use follow::HttpService;
