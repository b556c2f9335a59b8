//! Removals for the user: forgotten sessions, and stored data that `exclude` names later.

pub mod forget;
pub mod left_out;
pub mod request;

pub use forget::carry_out;
pub use request::{ForgetWhat, Outcome, Removal};
