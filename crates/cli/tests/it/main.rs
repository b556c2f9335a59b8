//! The real program, run as a user or a script runs it.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[cfg(target_os = "linux")]
mod answer_guards;
mod answer_times;
#[cfg(target_os = "linux")]
mod answers;
mod answers_of_codex;
#[cfg(target_os = "linux")]
mod callers;
mod codex;
mod copilot;
mod cursor;
mod demo;
mod errors;
mod exported;
mod faults;
#[cfg(unix)]
mod forget;
mod gate;
mod gemini;
mod history;
mod home;
mod hostile;
#[cfg(unix)]
mod index_with_holder;
mod interrupt;
#[cfg(unix)]
mod killed_holder;
mod large_pages;
mod mcp;
mod memory;
#[cfg(target_os = "linux")]
mod model_queue;
#[cfg(target_os = "linux")]
mod opencode;
mod own;
#[cfg(target_os = "linux")]
mod own_cut;
mod own_ended;
#[cfg(target_os = "linux")]
mod own_forgotten;
#[cfg(target_os = "linux")]
mod own_goes_on;
mod pages;
mod people;
mod pi;
#[cfg(target_os = "linux")]
#[path = "../../../engine/tests/live/faults/process.rs"]
#[allow(dead_code, reason = "shared with the tests of the engine, which need more of it")]
mod process;
mod program;
#[cfg(target_os = "linux")]
mod prompts;
mod real_files;
mod roster_at;
#[cfg(target_os = "linux")]
mod search;
mod seen;
mod service;
mod service_texts;
mod settings;
#[cfg(target_os = "linux")]
#[path = "../../../testkit/src/skipped.rs"]
mod skipped;
mod told;
mod tree;
mod user_commands;
mod watch;
mod window;
#[cfg(unix)]
mod with_serve;
