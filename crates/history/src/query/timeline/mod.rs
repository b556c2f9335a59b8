//! The timeline of a work chain, read on demand and kept for the last viewed chains.

mod agents;
mod item_order;
mod newest;
mod part;
mod plan;
mod reader;

pub use newest::read_newest;
pub use plan::{AgentFile, TimelinePlan};
pub use reader::{ItemRange, TimelineReader};
