//! Keeps the history up to date while the engine runs, on a thread of its own.

mod archiving;
mod behind_files;
mod grown_files;
mod history_thread;
mod hook_queue;
mod intake;
mod long_work;
mod model_asker;
pub mod model_queue;
mod pace;
mod queues;
mod recoverer;
mod refusal;
mod retry;
mod schedule;
pub mod task;
mod wal_copy;
mod worker_loop;

pub use history_thread::HistoryThread;
pub use recoverer::Recoverer;
pub use task::{HistoryParts, OnRemoved, OnSettled};
