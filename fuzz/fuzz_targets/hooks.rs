//! Any bytes as an envelope, and any text as settings: nothing panics, a read envelope is written the same, and an
//! installation can be undone completely.

#![no_main]

#[path = "../bodies/hooks.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
