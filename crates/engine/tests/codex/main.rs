//! Sessions of Codex: recordings of the real client, replayed with the witnesses beside its rollouts.

#![allow(clippy::unwrap_used, reason = "a broken recording should fail loudly")]

mod house;
mod limits;
mod locks;
mod own;
mod states;
mod subagents;
