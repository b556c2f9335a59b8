//! Hooks through the real program: an agent starts it, receivers listen, are killed, hang, or are not there.
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
