//! Hooks with the real program: a client starts it, and receivers listen, are killed, hang, or are missing.
#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod bounds;
mod copies;
mod installing;
mod of_codex;
mod ownership;
mod receivers;
mod restarting_receivers;
mod sending;
#[path = "../../../testkit/src/skipped.rs"]
mod skipped;
