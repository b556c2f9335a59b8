//! Keeps the history up to date while the engine runs, on a thread of its own.

mod apart;
mod archiving;
mod behind;
mod grown;
mod historian;
mod intake;
mod log;
mod pace;
mod queues;
mod recoverer;
mod refusal;
mod retry;
mod schedule;
pub mod task;
mod turns;

pub use historian::Historian;
pub use recoverer::Recoverer;
pub use task::{HistorianParts, OnRemoved, Settled};
