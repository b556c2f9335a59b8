//! The real program, run as a person or a script runs it.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod demo;
mod errors;
mod history;
mod hostile;
mod interrupt;
mod pages;
mod past;
mod program;
mod settings;
mod tree;
mod watch;
mod window;
mod words;
