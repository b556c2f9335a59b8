//! Keeps the history up to date while the engine runs, on a thread of its own.

mod archiving;
mod behind_files;
mod grown_files;
mod historian;
mod intake;
mod long_work;
mod pace;
mod queues;
mod recoverer;
mod refusal;
mod retry;
mod schedule;
pub mod task;
mod wal_copy;
mod worker_loop;

pub use historian::Historian;
pub use recoverer::Recoverer;
pub use task::{HistorianParts, OnRemoved, OnSettled};
