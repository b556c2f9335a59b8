//! Own sessions through the real host: real processes, real terminals, real deaths.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a failure ends the test; measurements print")]

mod bounds;
mod cases;
mod deaths;
mod stage;
mod stream;
mod terminal;
