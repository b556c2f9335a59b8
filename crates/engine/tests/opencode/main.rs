//! Sessions of opencode: the rows of a real client, written into a real database, and what the engine says of them.

#![allow(clippy::unwrap_used, reason = "a broken recording should fail loudly")]

mod faults;
mod house;
mod states;
mod walks;
