//! Transcripts into a real store: a history read in pieces equals one read at once.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a broken expectation should fail loudly")]

mod archived;
#[path = "../../../watch/tests/it/counting_fs.rs"]
#[allow(dead_code, reason = "shared with all tests that need a file system watched")]
mod counting_fs;
mod down;
mod forget;
mod found;
mod index_rig;
mod laws;
mod left_out;
mod nowhere;
mod people;
mod reasons;
mod recovery;
mod schemas;
mod second_index;
#[cfg(unix)]
mod spelled;
mod steps;
mod taken_up;
mod thread;
mod trouble;
mod untied;
mod worked_in;
