//! The real program, run as a user or a script runs it.
#![forbid(unsafe_code)]
// Sessions of one's own, answers and the socket's callers are Linux's, and most tests have a part of them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod answer_guards;
mod answer_times;
mod answers;
mod answers_of_codex;
mod callers;
mod codex;
mod copilot;
mod cursor;
mod day;
mod demo;
mod documents;
mod errors;
mod exported;
mod faults;
mod forget;
mod gate;
mod gemini;
mod goose;
mod history;
mod home;
mod hostile;
mod index_with_holder;
mod interrupt;
mod killed_holder;
mod large_pages;
mod mcp;
mod memory;
mod model_queue;
mod opencode;
mod own;
mod own_cut;
mod own_ended;
mod own_forgotten;
mod own_goes_on;
mod pages;
mod people;
mod pi;
#[path = "../../../engine/tests/live/faults/process.rs"]
#[allow(dead_code, reason = "shared with the tests of the engine, which need more of it")]
mod process;
mod program;
mod prompts;
mod real_files;
mod roster_at;
mod search;
mod secrets;
mod seen;
mod service;
mod service_texts;
mod settings;
#[path = "../../../testkit/src/skipped.rs"]
mod skipped;
mod status_line;
mod told;
mod tree;
mod user_commands;
mod watch;
mod window;
mod with_serve;
