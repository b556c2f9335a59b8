//! Tests of the crate from outside: on real files, real processes and the file system in memory.

// All of this is test code, also the functions that several tests share.
#![allow(clippy::expect_used)]

#[allow(dead_code, reason = "shared with the engine's tests, which need more of it")]
mod counting_fs;
#[cfg(target_os = "linux")]
mod kept_open;
mod process;
mod scan;
mod tail;
mod tail_model;
mod watcher;
