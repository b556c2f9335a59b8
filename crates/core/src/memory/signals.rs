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
pub(super) use session_rows::{command_of, is_edit, is_to_do};
pub(super) use turns::{Turn, Turns};

/// All findings of one session, sorted by id. The same rows give the same findings.
///
/// Only turns that have ended count. What a subagent did does not count. A finding that may hold a secret is dropped.
pub fn signals(project: u64, rows: &SessionRows) -> Vec<Signal> {
    join(RuleState::default().follow(project, rows))
}

impl RuleState {
    /// The findings of the ended turns among these rows, which follow those so far. They are not joined.
    pub fn follow(&mut self, project: u64, rows: &SessionRows) -> Vec<Signal> {
        let mut found = Vec::new();
        for turn in Turns::of(rows).ended() {
            self.follow_turn(&turn, &mut |told| found.extend(told.signal(project)));
        }
        found
    }

    fn follow_turn(&mut self, turn: &Turn<'_>, tell: &mut dyn FnMut(FindingParts<'_>)) {
        if !turn.batch.private {
            self.touch(turn);
            errors::fixes(self, turn, tell);
            corrections::corrections(self, turn, tell);
            corrections::refusals(turn, tell);
            corrections::marks(self, turn, tell);
            repeated::commands(turn, tell);
            repeated::hot_files(self, turn, tell);
            plans::plans(turn, tell);
        }
        self.end_turn(turn);
    }
}
