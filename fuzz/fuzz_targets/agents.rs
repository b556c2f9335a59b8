//! Any lines as the transcript of any agent, and as what it tells a hook: nothing panics.

#![no_main]

#[path = "../bodies/agents.rs"]
mod body;

libfuzzer_sys::fuzz_target!(|data: &[u8]| body::check(data));
