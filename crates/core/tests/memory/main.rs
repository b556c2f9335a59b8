//! Memories: the rules find what they should and nothing else, and what is told keeps its laws.

#![allow(clippy::unwrap_used, missing_docs, reason = "a broken test should fail loudly")]

mod laws;
mod rows;
mod rules;
mod summaries;
