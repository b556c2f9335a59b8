//! The real program, run as a user or a script runs it.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(target_os = "linux")]
mod answers;
#[cfg(unix)]
mod beside;
mod demo;
mod errors;
mod exported;
mod faults;
#[cfg(unix)]
mod forget;
mod history;
mod home;
mod hostile;
mod interrupt;
#[cfg(unix)]
mod killed_holder;
mod large_pages;
#[cfg(target_os = "linux")]
#[path = "../../../testkit/src/left_out.rs"]
mod left_out;
mod pages;
mod past;
#[cfg(target_os = "linux")]
#[path = "../../../engine/tests/live/faults/process.rs"]
#[allow(dead_code, reason = "shared with the tests of the engine, which need more of it")]
mod process;
mod program;
#[cfg(unix)]
mod running;
mod settings;
mod tree;
mod user_commands;
mod watch;
mod window;
