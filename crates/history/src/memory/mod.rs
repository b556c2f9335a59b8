//! What was learned: the rules run over stored sessions, the user's decisions are stored, questions are answered.
//!
//! [`learn`] lets the rules of `core::memory` see sessions with new ended turns. [`change`] carries out what the user decides. [`context`]
//! chooses what a hook process tells the agent. [`query`] lists, explains and summarizes; [`page`] shows the memory of a
//! chain, and what an agent would be told.

pub mod change;
pub mod context;
mod ids;
pub mod learn;
pub mod page;
mod project;
pub mod query;
