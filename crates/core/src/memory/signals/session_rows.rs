//! The stored rows of one session, as the rules read them.

use std::sync::Arc;

use crate::history::rows::{Activity, Batch, BatchId, BatchStatus, PlanEventKind};
use crate::memory::secrets::is_secret_file;
use crate::time::Timestamp;

/// The stored rows of one session.
#[derive(Debug, Clone, Default)]
pub struct SessionRows {
    /// The folder that paths are relative to: the top of the working tree, else the working folder. Absolute.
    pub root: String,
    /// The turns in order.
    pub batches: Vec<Batch>,
    /// The tool calls in order.
    pub calls: Vec<Activity>,
    /// The versions of plans in order.
    pub plans: Vec<PlanRow>,
    /// For refused calls: the id and what the user said.
    pub refusals: Vec<(Arc<str>, String)>,
}

/// A version of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRow {
    /// The name of the plan.
    pub plan: String,
    /// Its text.
    pub content: String,
    /// The turn that wrote it.
    pub batch: Option<BatchId>,
    /// What happened to it, in order.
    pub states: Vec<(Option<Timestamp>, PlanEventKind)>,
}

impl SessionRows {
    /// A path as memories have it; `None` outside of the root, and for a file that may hold secrets.
    pub fn relative(&self, path: &str) -> Option<String> {
        let root = self.root.trim_end_matches(['/', '\\']);
        let rest = path.strip_prefix(root)?.strip_prefix(['/', '\\'])?;
        let rest = rest.replace('\\', "/");
        (!rest.is_empty() && !is_secret_file(&rest) && !rest.starts_with(".git/")).then_some(rest)
    }

    /// The turns that ended and may be looked at.
    pub(super) fn finished(&self) -> impl Iterator<Item = &Batch> {
        let is_over = |batch: &&Batch| {
            batch.ended.as_ref().is_some_and(|ended| ended.status != BatchStatus::Active) && !batch.private
        };
        self.batches.iter().filter(is_over)
    }

    /// The turn of an id, if it ended and is not private.
    pub(super) fn turn(&self, id: Option<&BatchId>) -> Option<&Batch> {
        let id = id?;
        self.finished().find(|batch| batch.id == *id)
    }

    /// The calls of the session's own agent in a turn.
    pub(super) fn calls_of<'r>(&'r self, batch: &'r BatchId) -> impl Iterator<Item = &'r Activity> {
        self.calls.iter().filter(move |call| call.batch.as_ref() == Some(batch) && call.agent.is_none())
    }

    /// Whether text of others was in the turn: a page of the web, a subagent, a server of tools.
    pub(super) fn has_foreign_text(&self, batch: &BatchId) -> bool {
        self.calls.iter().filter(|call| call.batch.as_ref() == Some(batch)).any(|call| {
            let tool = call.tool.as_deref().unwrap_or_default();
            call.agent.is_some()
                || matches!(tool, "WebFetch" | "WebSearch" | "Task" | "Agent")
                || tool.starts_with("mcp__")
        })
    }
}

/// Whether a call changes its file.
pub(in crate::memory) fn is_edit(call: &Activity) -> bool {
    matches!(call.tool.as_deref(), Some("Edit" | "Write" | "MultiEdit" | "NotebookEdit"))
}
