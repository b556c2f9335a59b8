//! Previews of a change of hooks: the user sees it before it is done.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What to do with the hooks in a settings file of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HooksStep {
    /// Put them in, or bring them up to date.
    Install,
    /// Take them out.
    Uninstall,
    /// Put in the hook that tells the agent what was learned.
    InstallContext,
    /// Take that one out.
    UninstallContext,
    /// Put in the one that waits for answers.
    InstallAnswers,
    /// Take that one out.
    UninstallAnswers,
    /// Put the status line before the user's own.
    InstallStatusLine,
    /// Leave the user's own alone again.
    UninstallStatusLine,
}

/// The exact change of one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HooksPreview {
    /// The file.
    pub path: String,
    /// The agent's folder that it belongs to, as `hooks_status` names it.
    pub root: String,
    /// The step that would be done.
    pub step: HooksStep,
    /// The lines that change, with three lines around them; empty if nothing would change.
    pub lines: Vec<DiffLine>,
    /// The program that the agent would start at each event.
    pub program: String,
    /// The agent's version, if it could be asked. Without it, only events that every agent knows are installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Identifies exactly this change; another change is refused.
    pub token: String,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// What happens to it.
    pub kind: DiffKind,
    /// The line, without its end.
    pub text: String,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// It stays.
    Same,
    /// It is added.
    Added,
    /// It is removed.
    Removed,
    /// Unchanged lines are left out here.
    Gap,
}
