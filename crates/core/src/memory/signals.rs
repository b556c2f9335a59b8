//! The rules: rows of one session in, findings out. No model takes part, and nothing is guessed.

mod corrections;
mod errors;
mod finding;
mod plans;
mod repeated;
mod rule_state;
mod session_rows;
mod turns;

pub(super) use finding::FindingParts;
pub use finding::{Signal, join, memory_id};
pub use rule_state::RuleState;
pub use session_rows::{PlanRow, SessionRows};
pub(super) use session_rows::{command_of, is_edit};
pub(super) use turns::Turns;

/// All findings of one session, sorted by id. The same rows give the same findings.
///
/// Only turns that have ended count. What a subagent did does not count. A finding that may hold a secret is dropped.
pub fn signals(project: u64, rows: &SessionRows) -> Vec<Signal> {
    join(RuleState::default().follow(project, rows))
}
