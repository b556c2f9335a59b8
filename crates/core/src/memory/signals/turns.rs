//! The rows of a session by turn and by call, so that a rule looks each up at once, however long the session is.

use std::collections::{BTreeSet, HashMap};

use super::session_rows::{SessionRows, command_of};
use crate::history::rows::{Activity, Batch, BatchId, BatchStatus};
use crate::tool::ToolKind;

/// The rows of one session, and where each is.
pub(in crate::memory) struct Turns<'r> {
    pub(in crate::memory) rows: &'r SessionRows,
    /// The turns that ended and may be looked at.
    finished: HashMap<&'r str, &'r Batch>,
    /// The calls of each turn, in order, with those of subagents.
    calls: HashMap<&'r str, Vec<&'r Activity>>,
    /// All files of the session, once each.
    files: BTreeSet<String>,
}

impl<'r> Turns<'r> {
    pub(in crate::memory) fn of(rows: &'r SessionRows) -> Self {
        let is_over = |batch: &&Batch| {
            batch.ended.as_ref().is_some_and(|ended| ended.status != BatchStatus::Active) && !batch.private
        };
        let mut turns = Self {
            rows,
            finished: HashMap::new(),
            calls: HashMap::new(),
            files: rows.calls.iter().filter_map(|call| rows.relative(call.file.as_deref()?)).collect(),
        };
        for batch in rows.batches.iter().filter(is_over) {
            turns.finished.entry(&batch.id).or_insert(batch);
        }
        for call in &rows.calls {
            if let Some(batch) = &call.batch {
                turns.calls.entry(batch).or_default().push(call);
            }
        }
        turns
    }

    /// The turn of an id, if it ended and is not private.
    pub(in crate::memory) fn turn(&self, id: Option<&BatchId>) -> Option<&'r Batch> {
        self.finished.get(&**id?).copied()
    }

    /// The calls of the session's own agent in a turn.
    pub(in crate::memory) fn calls_of(
        &self,
        batch: &BatchId,
    ) -> impl DoubleEndedIterator<Item = &'r Activity> {
        let calls = self.calls.get(&**batch).map_or(&[][..], Vec::as_slice);
        calls.iter().copied().filter(|call| call.agent.is_none())
    }

    /// Whether text of others was in the turn: a page of the web, a subagent, a server of tools.
    pub(in crate::memory) fn has_foreign_text(&self, batch: &BatchId) -> bool {
        self.calls.get(&**batch).into_iter().flatten().any(|call| {
            call.agent.is_some()
                || call.tool.as_deref().is_some_and(|tool| ToolKind::of(tool).returns_foreign_text())
                || command_of(call).is_some_and(loads)
        })
    }

    /// The files of the session, relative to its root.
    pub(in crate::memory) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }
}

/// Programs whose output comes from other machines.
const LOADERS: &[&str] = &["curl", "wget", "gh", "glab", "http", "https", "xh", "lynx", "w3m", "ssh"];

/// Whether a command line runs such a program.
fn loads(command: &str) -> bool {
    command
        .split(|c: char| c.is_whitespace() || "|;&()`$".contains(c))
        .any(|word| LOADERS.contains(&word.rsplit('/').next().unwrap_or_default()))
}
