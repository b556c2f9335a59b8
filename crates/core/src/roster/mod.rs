//! The roster: rows in order, and what changed between two revisions.

pub mod delta;
pub mod group;
pub mod order;
pub mod pending;
pub mod reason;
pub mod row;
pub mod shown_rows;

pub use delta::{Delta, Roster};
pub use group::{Group, group, group_of};
pub use order::OrderKey;
pub use shown_rows::Filter;
