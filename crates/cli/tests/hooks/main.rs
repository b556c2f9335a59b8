//! Hooks with the real program: a client starts it, and receivers listen, are killed, hang, or are missing.
#![cfg(unix)]
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod agent;
mod bounds;
mod copies;
mod hearing;
mod installing;
#[path = "../../../testkit/src/left_out.rs"]
mod left_out;
mod ownership;
mod sending;
mod storm;
