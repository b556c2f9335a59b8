//! Any lines: the timeline never panics, and reading a file twice changes nothing that has an id.

#![no_main]

#[path = "../bodies/timeline.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
