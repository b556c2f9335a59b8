//! Any bytes as an envelope, and any text as settings: nothing panics, what is read is written the same, and what is
//! installed goes without a trace.

#![no_main]

#[path = "../bodies/hooks.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
