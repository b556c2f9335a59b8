//! The history: records and hook events in, rows out.

#![allow(clippy::expect_used, reason = "a broken expectation should fail loudly")]

mod hooks;
mod hooks_of_others;
mod laws;
mod model;
mod private;
mod recordings;
mod recovery;
mod shapes;

#[path = "../../../agents/tests/transcript/fixtures.rs"]
#[allow(dead_code, reason = "shared with the tests of the reader")]
mod fixtures;
