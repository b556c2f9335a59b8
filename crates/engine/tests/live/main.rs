//! The running engine on real files, with real notifications and real processes.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod alerts;
mod ear;
mod files;
mod hooks;
mod looking;
mod processes;
#[path = "../laws/records.rs"]
#[allow(dead_code, reason = "shared with the laws, which need more of it")]
mod records;
mod running;
mod settings;
mod words;
