//! What changed in the working folder of a work chain, against git.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hooks::DiffLine;

/// The changes in the repository of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Changes {
    /// The top folder of its working tree.
    pub root: String,
    /// When the work chain began (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The commit that the files are compared with: the newest one of the branch from before the chain. Absent if the branch has no
    /// such commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The files that differ: first those that the chain edited, the newest edit first, then the others by path.
    pub files: Vec<ChangedFile>,
    /// Further files that differ.
    pub left_out: u64,
    /// Files outside the repository that the chain edited.
    pub elsewhere: Vec<String>,
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ChangedFile {
    /// Below the top folder, with `/`.
    pub path: String,
    /// What became of it.
    pub fate: FileFate,
    /// The edits of the chain; 0: something else changed it.
    pub edits: u64,
    /// The newest of them (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<String>,
    /// New lines.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// The parts that differ.
    pub hunks: Vec<Hunk>,
    /// Why no parts are shown, or not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileFate {
    /// It is new.
    Added,
    /// Its content differs.
    Changed,
    /// It is gone.
    Removed,
}

/// Lines that differ, with three equal lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Hunk {
    /// Number of the first line before the change, from 1.
    pub before: u32,
    /// Number of the first line after it, from 1.
    pub after: u32,
    /// The lines.
    pub lines: Vec<DiffLine>,
}
