//! The drivers over the recorded talks of the real agents.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]

mod acp;
mod agents;
mod claude;
mod codex;
mod fuzzed;
mod laws;
mod talk;
