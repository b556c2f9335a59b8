//! Removals for the user: forgotten sessions, and stored data that `exclude` names later.

pub mod exclude_later;
pub mod forget;
pub mod request;

pub use forget::carry_out_removal;
pub use request::{ForgetWhat, Removal, RemovalResult};
