//! Any bytes in chunks of any length: they give the same lines as in one piece, and no line makes the parser panic.
//!
//! The first byte of the input sets the length of the chunks, the second the length limit of a line.

#![no_main]

#[path = "../bodies/lines.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
