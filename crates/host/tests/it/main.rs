//! Own sessions through the real host: real processes, real terminals, real deaths.

#![cfg(target_os = "linux")]

mod stage;
mod stream;
mod terminal;
