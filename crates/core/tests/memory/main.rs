//! Memories: the rules find the planted facts and nothing else, and the chosen lines keep their laws.

#![allow(clippy::unwrap_used, missing_docs, reason = "a broken test should fail loudly")]

mod laws;
mod model;
mod queue;
mod rows;
mod rules;
mod summaries;
