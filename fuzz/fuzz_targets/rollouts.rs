//! Any lines of a rollout: parser, fold and timeline never panic, and the report counts the records.

#![no_main]

#[path = "../bodies/rollouts.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
