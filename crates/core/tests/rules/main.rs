//! The rules of the core: which sessions need the user, verdicts, order and visibility, and odd input.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture should fail loudly"
)]
#![allow(clippy::disallowed_methods, reason = "the core reads no files, its tests do")]

mod attention;
mod day;
mod evidence;
mod evidence_laws;
mod evidence_registry;
mod fuzzed;
mod hook_payloads;
mod roster;
mod row;
mod status_file;
mod user;
