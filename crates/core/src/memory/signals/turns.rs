//! The rows of a session by turn, so that a rule looks each up at once, however long the session is.

use std::collections::HashMap;

use super::session_rows::{SessionRows, command_of};
use crate::history::rows::{Activity, Batch, BatchId};
use crate::tool::ToolKind;

/// The rows of one session, and where each is.
pub(in crate::memory) struct Turns<'r> {
    rows: &'r SessionRows,
    /// The calls of each turn, in order, with those of subagents.
    calls: HashMap<&'r str, Vec<&'r Activity>>,
}

/// One turn.
pub(in crate::memory) struct Turn<'r> {
    pub(in crate::memory) rows: &'r SessionRows,
    pub(in crate::memory) batch: &'r Batch,
    /// Its calls in order, with those of subagents.
    pub(in crate::memory) calls: Vec<&'r Activity>,
}

impl<'r> Turns<'r> {
    pub(in crate::memory) fn of(rows: &'r SessionRows) -> Self {
        let mut calls: HashMap<&str, Vec<&Activity>> = HashMap::new();
        for call in &rows.calls {
            if let Some(batch) = &call.batch {
                calls.entry(batch).or_default().push(call);
            }
        }
        Self { rows, calls }
    }

    /// The turns in order.
    pub(in crate::memory) fn all(&self) -> impl Iterator<Item = Turn<'r>> {
        self.rows.batches.iter().map(|batch| Turn {
            rows: self.rows,
            batch,
            calls: self.calls.get(&*batch.id).cloned().unwrap_or_default(),
        })
    }

    /// The turns that have ended, in order.
    pub(in crate::memory) fn ended(&self) -> impl Iterator<Item = Turn<'r>> {
        self.all().filter(|turn| turn.batch.is_over())
    }

    /// The turn of an id, if it ended and is not private.
    pub(in crate::memory) fn turn(&self, id: &BatchId) -> Option<Turn<'r>> {
        self.ended().find(|turn| turn.batch.id == *id && !turn.batch.private)
    }
}

impl<'r> Turn<'r> {
    /// The calls of the session's own agent.
    pub(in crate::memory) fn own_calls(&self) -> impl DoubleEndedIterator<Item = &'r Activity> {
        self.calls.iter().copied().filter(|call| call.agent.is_none())
    }

    /// Whether text of others was in the turn: a page of the web, a subagent, a server of tools.
    pub(in crate::memory) fn has_foreign_text(&self) -> bool {
        self.calls.iter().any(|call| {
            call.agent.is_some()
                || call.tool.as_deref().is_some_and(|tool| ToolKind::of(tool).returns_foreign_text())
                || command_of(call).is_some_and(loads)
        })
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
