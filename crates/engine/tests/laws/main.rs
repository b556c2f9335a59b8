//! The laws of the engine, driven step by step on files in memory, without waiting.

// A test that cannot go on panics.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bad_input;
mod chains;
mod clock;
#[path = "../../../watch/tests/it/counting_fs.rs"]
#[allow(dead_code, reason = "shared with all tests that need a file system watched")]
mod counting_fs;
mod distant;
mod edge_cases;
mod first_rows;
mod house;
mod interleavings;
mod order_of_reading;
#[allow(dead_code, reason = "shared with the tests on real files, which need more of it")]
mod records;
mod registry;
mod restart;
mod same_folder;
mod sessions_at_rest;
mod subscribers;
mod user_commands;
mod work_counts;
