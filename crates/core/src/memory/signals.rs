//! The rules: rows of one session in, findings out. No model takes part, and nothing is guessed.

mod corrections;
mod errors;
mod finding;
mod plans;
mod repeated;
mod session_rows;
mod turns;

pub(super) use finding::FindingParts;
use finding::join;
pub use finding::{Signal, memory_id};
pub use session_rows::{PlanRow, SessionRows};
pub(super) use session_rows::{command_of, is_edit, is_to_do};
pub(super) use turns::Turns;

/// All findings of one session, sorted by id. The same rows give the same findings.
///
/// Only turns that have ended count. What a subagent did does not count. A finding that may hold a secret is dropped.
pub fn signals(project: u64, rows: &SessionRows) -> Vec<Signal> {
    let mut found = Vec::new();
    let mut tell = |told: FindingParts| {
        if let Some(signal) = told.signal(project) {
            found.push(signal);
        }
    };
    let turns = &Turns::of(rows);
    errors::fixes(turns, &mut tell);
    corrections::corrections(turns, &mut tell);
    corrections::refusals(turns, &mut tell);
    corrections::marks(turns, &mut tell);
    repeated::commands(turns, &mut tell);
    repeated::hot_files(turns, &mut tell);
    plans::plans(turns, &mut tell);
    join(found)
}
