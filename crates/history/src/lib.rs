//! The history of Watchbill: transcripts into stored rows, on a thread of its own, and what people ask of them.
//!
//! [`reader`] follows one transcript line by line, for the live engine too. [`index`] makes rows of what it reads, [`worker`]
//! does so while the engine runs, [`archive`] keeps transcripts whole, [`removal`] takes away what the person wants removed,
//! [`query`] answers what they ask. The engine is above: what it keeps in the same store is asked for by [`live_state`].

#![forbid(unsafe_code)]

pub mod archive;
pub mod errors;
pub mod index;
mod lines;
pub mod live_state;
pub mod query;
pub mod reach;
pub mod reader;
pub mod removal;
pub mod shelf;
pub mod size;
pub mod stall;
pub mod worker;

pub use live_state::LiveState;
pub use reach::{Reach, Reached};
pub use shelf::Shelf;
