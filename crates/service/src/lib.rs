//! The roster and the history over HTTP, for editors, scripts and viewers on this machine. Off until the user turns it on.
//!
//! It reads, and if the user allows it, it accepts what clients of the claude-recall document send: as hook events, for the history
//! alone. It listens on loopback alone, and loopback alone protects from nobody: web pages, other users and containers
//! reach it. So each request is checked by `guard` before anything else: its `Host`, its `Origin`, and a token that only this
//! user can read. Our own hooks never use it.

#![forbid(unsafe_code)]

mod accept;
mod address_file;
mod app;
mod documents;
mod endpoints;
mod events;
mod follow;
mod guard;
mod server;

pub use follow::HttpService;
