//! What a model is asked about one ended turn, or about a session at its end, and the check of its reply.
//!
//! [`job()`] makes the question from stored rows, [`schema`] the form of the reply. [`check`] makes findings from a reply, and
//! [`check_summary`] a title and a summary. All are pure. A reply is text that others may have steered: what it says is a proposal,
//! and what it invents is refused. [`queue`] says which question is next, and when.

mod job;
pub mod queue;
mod reply;
mod schema;

pub use job::{Job, LONGEST_INPUT, Label, SYSTEM, job, tokens};
pub use reply::{Checked, Refused, check, check_summary};
pub use schema::schema;

/// The findings of one reply.
pub const MOST_FINDINGS: usize = 3;
/// The most tokens of a reply. Small models repeat themselves until some limit.
pub const MOST_OUTPUT: u64 = 600;
