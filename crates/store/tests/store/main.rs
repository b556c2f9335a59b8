//! Tests of the store through its public API, on real files.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a broken test should fail loudly")]

mod archive;
mod damage;
mod day;
mod document_views;
mod first;
mod folders;
mod forget;
mod history;
mod kill;
mod laws;
mod locks;
mod log;
mod memories;
mod mended;
mod rig;
#[cfg(unix)]
#[path = "../../../testkit/src/skipped.rs"]
mod skipped;
mod states;
mod strays;
mod trouble;
mod usage;
