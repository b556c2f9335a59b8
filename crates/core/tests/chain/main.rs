//! Work chains from facts: what the documents say, the numbered edge cases, recorded facts, and properties.

#![forbid(unsafe_code)]
// Helpers of a test may fail it; clippy excuses only the functions marked as tests.
#![allow(clippy::expect_used)]

mod compaction;
mod edges;
mod facts;
mod forks;
mod hooks;
mod in_process;
mod manual_links;
mod named_links;
mod properties;
mod recorded;
