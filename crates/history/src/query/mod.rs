//! Queries over stored data: search, statistics, timelines, exports, context, health.

pub mod alerts;
pub mod changes;
pub mod context;
pub mod day;
pub mod diff;
pub mod export;
pub mod gate;
pub mod health;
pub mod lag;
pub mod limits;
pub mod named;
pub(crate) mod owner;
pub mod prices;
pub mod search;
pub mod stats;
pub(crate) mod sums;
pub mod timeline;
pub mod usage;

pub use gate::Gate;
pub use health::{health, schema};
pub use lag::{Lag, lag};
pub use search::Searcher;
pub use stats::{StatsBy, stats};
pub use watchbill_store::process_label;
