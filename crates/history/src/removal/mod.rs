//! Removals for the person: sessions to be forgotten, and what `exclude` names since it was stored.

pub mod forget;
pub mod left_out;
pub mod request;

pub use forget::carry_out;
pub use request::{ForgetWhat, Outcome, Removal};
