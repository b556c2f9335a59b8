//! Every recording of the real client, replayed through files into states, compared with checked-in timelines.

mod golden;
mod killed;
mod play;
mod same_history;
mod timeline;
mod truth;
