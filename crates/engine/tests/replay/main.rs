//! Every recording of the real client, replayed through files into states, compared with checked-in timelines.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used)]

mod golden;
mod killed;
mod play;
mod same_history;
mod timeline;
mod truth;
