//! Sessions of our own: folds the reports of their hosts into the facts that a row needs.
//!
//! The engine turns the events of a host into [`fact::OwnFact`]s. [`fold::OwnFold`] keeps what they add up to, and
//! [`witness::OwnWitness`] is its witness in [`crate::evidence`].

pub mod fact;
pub mod fold;
pub mod resume;
mod turn;
pub mod witness;

pub use fact::{OwnFact, PromptPlace};
pub use fold::{HostState, OwnFold};
pub use witness::{OwnReading, OwnWay, OwnWitness};
