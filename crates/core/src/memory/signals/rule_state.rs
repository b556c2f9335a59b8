//! What the rules keep of earlier turns. So a turn is looked at once, and its cost is the same in a session of any length.

use serde::{Deserialize, Serialize};

use super::session_rows::is_edit;
use super::turns::Turn;
use crate::history::rows::{BatchStatus, CallOutcome};
use crate::memory::open_ends::OpenEnds;

/// The most files that a prompt can name: those that were touched last.
const MOST_FILES: usize = 256;
/// The most changed files that are counted since a failure.
const MOST_CHANGED: usize = 32;

/// What the rules keep of the turns so far. Its size has a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleState {
    /// Commands that failed and did not pass since, the oldest first.
    pub(super) failed: Vec<Failed>,
    /// How many successful changes of a file there were.
    pub(super) changes: u64,
    /// The changed files, each with the number of its last change, the last one at the end.
    changed: Vec<(u64, String)>,
    /// The last changed file, if no command has passed since.
    pub(super) edited: Option<String>,
    /// The touched files, relative to the root. The last one was touched last.
    files: Vec<String>,
    /// The turn before.
    pub(super) before: Option<Before>,
    /// What the turns left open.
    pub(super) open: OpenEnds,
}

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failed {
    /// Hash of the command line.
    pub(super) command: u64,
    pub(super) error: String,
    /// How many changes there were before.
    pub(super) changes: u64,
}

/// What the rules keep of the turn before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Before {
    /// The user stopped it, or refused a call.
    pub(super) was_stopped: bool,
    /// Its last edited file, relative to the root.
    pub(super) edited: Option<String>,
}

impl RuleState {
    /// Raise it when a rule or this form changes: then stored states of other versions no longer count.
    pub const VERSION: u32 = 3;

    /// Notes the files of a turn.
    pub(super) fn touch(&mut self, turn: &Turn<'_>) {
        for file in turn.calls.iter().filter_map(|call| turn.rows.relative(call.file.as_deref()?)) {
            if self.files.last() == Some(&file) {
                continue;
            }
            self.files.retain(|known| *known != file);
            self.files.push(file);
            if self.files.len() > MOST_FILES {
                self.files.remove(0);
            }
        }
    }

    /// Notes a successful change of a file.
    pub(super) fn note_change(&mut self, file: String) {
        self.changes += 1;
        self.changed.retain(|(_, known)| *known != file);
        self.changed.push((self.changes, file));
        if self.changed.len() > MOST_CHANGED {
            self.changed.remove(0);
        }
    }

    /// The files that were changed since a command failed.
    pub(super) fn changed_since(&self, failed: &Failed) -> Vec<&str> {
        self.changed.iter().filter(|(at, _)| *at > failed.changes).map(|(_, file)| &**file).collect()
    }

    /// What the turns so far left open, a line each.
    pub fn open_ends(&self) -> Vec<String> {
        self.open.told()
    }

    /// Keeps what the next turn needs of this one.
    pub(super) fn end_turn(&mut self, turn: &Turn<'_>) {
        self.open.follow(turn);
        let mut edited = turn.own_calls().rev().filter(|call| is_edit(call));
        self.before = Some(Before {
            was_stopped: turn.batch.ended.as_ref().is_some_and(|end| end.status == BatchStatus::Interrupted)
                || turn.own_calls().any(|call| call.outcome == Some(CallOutcome::Denied)),
            edited: edited.find_map(|call| call.file.as_deref()).and_then(|path| turn.rows.relative(path)),
        });
    }

    /// The file of the session that a text names: by its path, or by its name.
    pub(super) fn file_in(&self, text: &str) -> Option<String> {
        let named = self.files.iter().filter(|file| {
            let name = file.rsplit('/').next().unwrap_or_default();
            text.contains(&***file) || (name.len() >= 5 && name.contains('.') && text.contains(name))
        });
        named.min_by_key(|file| (!text.contains(&***file), file.len(), *file)).cloned()
    }
}
