//! The history of Watchbill: stores transcripts as rows, on a thread of its own, and answers queries about them.
//!
//! [`reader`] follows one transcript line by line, for the live engine too. [`index`] makes rows of these lines, and
//! [`worker`] does so while the engine runs. [`archive`] keeps complete transcripts, [`removal`] removes what the
//! user forgets or excludes, and [`query`] answers queries. The engine is above this crate and keeps its own state in
//! the same store; the history reaches that state through [`live_state`].

#![forbid(unsafe_code)]

pub mod archive;
pub mod database_fs;
pub mod document_fs;
pub mod errors;
pub mod history_progress;
pub mod index;
mod lines;
pub mod live_state;
pub mod memory;
pub mod query;
pub mod reader;
pub mod removal;
pub mod shared_store;
pub mod size;
pub mod stall;
pub mod worker;

pub use history_progress::{HistoryProgress, HistoryState};
pub use live_state::LiveState;
pub use shared_store::SharedStore;
