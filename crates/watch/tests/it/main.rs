//! The watching crate from outside: on real files, real processes and the file system in memory.

mod process;
mod scan;
mod tail;
mod tail_model;
mod watcher;
