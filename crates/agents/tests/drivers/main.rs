//! The drivers over the recorded talks of the real agents.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]
#![allow(clippy::disallowed_methods, reason = "the crate reads no files, its tests do")]

mod acp;
mod agents;
mod claude;
mod codex;
mod fuzzed;
mod laws;
mod talk;
