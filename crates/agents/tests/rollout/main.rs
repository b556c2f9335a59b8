//! The reading of Codex rollouts: those of real clients, and those that no client should write.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]
#![allow(clippy::disallowed_methods, reason = "the crate reads no files, its tests do")]

mod fixtures;
mod folded;
mod fuzzed;
mod lines;
mod properties;
mod states;
mod timeline;
