//! Work chains: which session goes on in which, and how that is known.

pub mod lineage;
pub mod link;
