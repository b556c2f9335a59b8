//! What stands around the drivers: texts that cross to another agent, transcripts, later processes.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]

mod context;
mod own;
mod replay;
mod transcript;
