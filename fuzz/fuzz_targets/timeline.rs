//! Any lines: the timeline never panics, and reading a file twice does not change the items that have an id.

#![no_main]

#[path = "../bodies/timeline.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
