//! What installing or removing hooks would change, for the person to see before it is done.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What is to be done with the hooks in a settings file of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HooksStep {
    /// Put in, or brought up to date.
    Install,
    /// Taken out.
    Uninstall,
}

/// The exact change of one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HooksPreview {
    /// The file.
    pub path: String,
    /// The agent's folder that it belongs to, as `hooksStatus` names it.
    pub root: String,
    /// What would be done.
    pub step: HooksStep,
    /// The lines that change, with three of those around them; empty where nothing would change.
    pub lines: Vec<DiffLine>,
    /// The program that the agent would start at each event.
    pub program: String,
    /// The client's version, where one could be asked; without it only events are installed that every client knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Stands for just this change: doing another one is refused.
    pub token: String,
}

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct DiffLine {
    /// What becomes of it.
    pub kind: DiffKind,
    /// The line, without its end.
    pub text: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// It stays.
    Same,
    /// It comes.
    Added,
    /// It goes.
    Removed,
    /// Others that stay are left out here.
    Gap,
}
