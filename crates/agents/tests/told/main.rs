//! The reading of agents whose lines are told in the form of Claude Code's.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]
#![allow(clippy::disallowed_methods, reason = "the crate reads no files, its tests do")]

mod cursor;
mod ends;
mod files;
mod gemini;
mod history_only;
mod page;
mod pi;
mod properties;
mod said;
