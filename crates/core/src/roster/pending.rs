//! Which of several pending tool calls a row names.

use crate::roster::row::PendingTool;

/// The tool that asks the user a question.
pub const QUESTION_TOOL: &str = "AskUserQuestion";
/// The tool that asks the user to accept a plan.
pub const PLAN_TOOL: &str = "ExitPlanMode";

/// Tools that never wait for a permission, in any mode.
const NEVER_ASK: [&str; 15] = [
    "Agent",
    "Glob",
    "Grep",
    "LS",
    "Read",
    "Skill",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// The call that the row names: a question, else a plan, else the oldest that may wait for a
/// permission, else the oldest.
pub fn principal(pending: &[PendingTool]) -> Option<&PendingTool> {
    pending.iter().min_by_key(|call| match &*call.tool {
        QUESTION_TOOL => 0,
        PLAN_TOOL => 1,
        tool if !NEVER_ASK.contains(&tool) => 2,
        _ => 3,
    })
}

/// Whether a call of this tool is pending.
pub fn is_pending(pending: &[PendingTool], tool: &str) -> bool {
    pending.iter().any(|call| &*call.tool == tool)
}
