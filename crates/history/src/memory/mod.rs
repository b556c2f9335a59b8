//! Memories in the store: applies the rules to stored sessions, stores the user's decisions, and answers queries.
//!
//! [`learn`] lets the rules of `core::memory` see sessions with new ended turns. [`change`] carries out what the user decides. [`context`]
//! chooses what a hook process tells the agent. [`query`] lists, explains and summarizes; [`page`] shows the memory of a
//! chain, and what an agent would be told.

pub mod change;
pub mod context;
mod ids;
pub mod learn;
pub mod model;
pub mod page;
pub(crate) mod project;
pub mod query;
