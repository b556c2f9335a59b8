//! What the rules keep of earlier turns. So a turn is looked at once, and its cost is the same in a session of any length.

use serde::{Deserialize, Serialize};

use super::finding::{FindingParts, Signal};
use super::session_rows::{SessionRows, is_edit};
use super::turns::{Turn, Turns};
use super::{corrections, errors, plans, repeated};
use crate::history::rows::{BatchStatus, CallOutcome};

/// The most files that a prompt can name: those that were touched last.
const MOST_FILES: usize = 256;

/// What the rules keep of the turns so far. Its size has a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleState {
    /// Commands that failed and did not pass since, the oldest first.
    pub(super) failed: Vec<errors::Failed>,
    /// The last changed file, if no command has passed since.
    pub(super) edited: Option<String>,
    /// The touched files, relative to the root. The last one was touched last.
    files: Vec<String>,
    /// The turn before.
    pub(super) before: Option<Before>,
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
        let mut edited = turn.own_calls().rev().filter(|call| is_edit(call));
        self.before = Some(Before {
            was_stopped: turn.batch.ended.as_ref().is_some_and(|end| end.status == BatchStatus::Interrupted)
                || turn.own_calls().any(|call| call.outcome == Some(CallOutcome::Denied)),
            edited: edited.find_map(|call| call.file.as_deref()).and_then(|path| turn.rows.relative(path)),
        });
    }

    fn touch(&mut self, turn: &Turn<'_>) {
        for file in turn.calls.iter().filter_map(|call| turn.rows.relative(call.file.as_deref()?)) {
            move_to_end(&mut self.files, file, MOST_FILES);
        }
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

/// Puts an item at the end of a list, once. The first ones go when there are more than `most`.
pub(super) fn move_to_end(list: &mut Vec<String>, item: String, most: usize) {
    if list.last() == Some(&item) {
        return;
    }
    list.retain(|known| *known != item);
    list.push(item);
    if list.len() > most {
        list.remove(0);
    }
}
