//! Requests of agents to the user: permissions, questions and plans, and the answers to them.
//!
//! [`request`] reads a request from a hook payload, [`decision`] turns the user's decision into the agent's words, and
//! [`open`] is the state machine that decides each request at most once. [`visible`] draws invisible characters.

pub mod decision;
pub mod open;
mod repeats;
pub mod request;
pub mod visible;
