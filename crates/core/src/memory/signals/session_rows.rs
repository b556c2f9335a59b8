//! The stored rows of one session, as the rules read them.

use crate::history::rows::{Activity, Batch, BatchId, PlanEventKind};
use crate::memory::secrets::is_secret_file;
use crate::time::Timestamp;
use crate::tool::ToolKind;

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
    /// Adds the rows of the session in which the work went on. The agent keeps to-dos by session, so the earlier ones go.
    pub fn append(&mut self, later: Self) {
        let Self { root, batches, calls, plans } = later;
        self.root = root;
        self.calls.retain(|call| !is_to_do(call));
        self.batches.extend(batches);
        self.calls.extend(calls);
        self.plans.extend(plans);
    }

    /// A path as memories have it; `None` outside of the root, and for a file that may hold secrets.
    pub fn relative(&self, path: &str) -> Option<String> {
        let root = self.root.trim_end_matches(['/', '\\']);
        let rest = path.strip_prefix(root)?.strip_prefix(['/', '\\'])?;
        let rest = rest.replace('\\', "/");
        (!rest.is_empty() && !is_secret_file(&rest) && !rest.starts_with(".git/")).then_some(rest)
    }
}

/// Whether a call changes its file.
pub(in crate::memory) fn is_edit(call: &Activity) -> bool {
    call.tool.as_deref().is_some_and(|tool| ToolKind::of(tool).changes_file())
}

/// Whether a call keeps the agent's to-dos. Their numbers hold within one session.
pub(in crate::memory) fn is_to_do(call: &Activity) -> bool {
    matches!(call.tool.as_deref(), Some("TodoWrite" | "TaskCreate" | "TaskUpdate"))
}

/// The command line of a call, without a change of folder before it.
pub(in crate::memory) fn command_of(call: &Activity) -> Option<&str> {
    let tool = call.tool.as_deref().filter(|tool| ToolKind::of(tool).runs_command());
    let line = tool.and(call.target.as_deref())?.trim();
    match line.strip_prefix("cd ").and_then(|rest| rest.split_once("&& ")) {
        Some((_, rest)) => Some(rest.trim()),
        None => Some(line),
    }
}
