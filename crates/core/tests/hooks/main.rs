//! Hooks as a witness: how they are folded, what they decide, and what they report in the recordings.

#![allow(clippy::disallowed_methods, reason = "the core reads no files, its tests do")]
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a broken fixture should fail loudly"
)]

mod fold;
mod recorded;
mod stage;
mod verdicts;
