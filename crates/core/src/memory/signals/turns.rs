//! The rows of a session by turn and by call, so that a rule looks each up at once, however long the session is.

use std::collections::{BTreeSet, HashMap};

use super::session_rows::SessionRows;
use crate::history::rows::{Activity, Batch, BatchId, BatchStatus};

/// The rows of one session, and where each is.
pub(super) struct Turns<'r> {
    pub(super) rows: &'r SessionRows,
    /// The turns that ended and may be looked at.
    finished: HashMap<&'r str, &'r Batch>,
    /// The calls of each turn, in order, with those of subagents.
    calls: HashMap<&'r str, Vec<&'r Activity>>,
    by_call: HashMap<&'r str, &'r Activity>,
    /// All files of the session, once each.
    files: BTreeSet<String>,
}

impl<'r> Turns<'r> {
    pub(super) fn of(rows: &'r SessionRows) -> Self {
        let is_over = |batch: &&Batch| {
            batch.ended.as_ref().is_some_and(|ended| ended.status != BatchStatus::Active) && !batch.private
        };
        let mut turns = Self {
            rows,
            finished: HashMap::new(),
            calls: HashMap::new(),
            by_call: HashMap::new(),
            files: rows.calls.iter().filter_map(|call| rows.relative(call.file.as_deref()?)).collect(),
        };
        for batch in rows.batches.iter().filter(is_over) {
            turns.finished.entry(&batch.id).or_insert(batch);
        }
        for call in &rows.calls {
            turns.by_call.entry(&call.id).or_insert(call);
            if let Some(batch) = &call.batch {
                turns.calls.entry(batch).or_default().push(call);
            }
        }
        turns
    }

    /// The turn of an id, if it ended and is not private.
    pub(super) fn turn(&self, id: Option<&BatchId>) -> Option<&'r Batch> {
        self.finished.get(&**id?).copied()
    }

    /// The call of an id.
    pub(super) fn call(&self, id: &str) -> Option<&'r Activity> {
        self.by_call.get(id).copied()
    }

    /// The calls of the session's own agent in a turn.
    pub(super) fn calls_of(&self, batch: &BatchId) -> impl DoubleEndedIterator<Item = &'r Activity> {
        let calls = self.calls.get(&**batch).map_or(&[][..], Vec::as_slice);
        calls.iter().copied().filter(|call| call.agent.is_none())
    }

    /// Whether text of others was in the turn: a page of the web, a subagent, a server of tools.
    pub(super) fn has_foreign_text(&self, batch: &BatchId) -> bool {
        self.calls.get(&**batch).into_iter().flatten().any(|call| {
            let tool = call.tool.as_deref().unwrap_or_default();
            call.agent.is_some()
                || matches!(tool, "WebFetch" | "WebSearch" | "Task" | "Agent")
                || tool.starts_with("mcp__")
        })
    }

    /// The files of the session, relative to its root.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }
}
