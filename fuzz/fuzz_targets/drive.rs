//! Any lines between Watchbill and an agent: nothing panics, the same lines give the same events, and nothing happens twice.

#![no_main]

#[path = "../bodies/drive.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
