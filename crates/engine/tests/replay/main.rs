//! Every recording of the real client, replayed through files into states, and compared with checked-in timelines.

#![allow(clippy::unwrap_used, reason = "a broken recording should fail loudly")]

mod codex;
mod copilot;
mod gemini;
mod golden;
mod killed;
mod play;
mod same_history;
mod subagents;
mod timeline;
mod told;
mod truth;
