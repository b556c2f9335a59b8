//! The timeline of a work chain, read on demand and kept for the last viewed chains.

mod agents;
mod newest;
mod part;
mod places;
mod plan;
mod reader;

pub use newest::newest;
pub use plan::{AgentFile, TimelinePlan};
pub use reader::{Stretch, TimelineReader};
