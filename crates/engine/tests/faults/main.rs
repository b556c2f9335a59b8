//! Faults of the disk, of the store and of the clock, met by a running engine: each is said, nobody waits for its end,
//! nothing that was stored is lost, and afterwards everything is stored.
#![cfg(target_os = "linux")]
// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod clock;
mod disk;
#[path = "../live/ear.rs"]
#[allow(dead_code, reason = "shared with the tests of the running engine, which need more of it")]
mod ear;
mod house;
mod index;
#[path = "../../../testkit/src/left_out.rs"]
mod left_out;
mod locked;
mod process;
#[path = "../laws/records.rs"]
#[allow(dead_code, reason = "shared with the laws, which need more of it")]
mod records;
mod removed;
