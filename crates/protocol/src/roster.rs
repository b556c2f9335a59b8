//! The roster: rows, snapshots, deltas and store events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::request::Request;

/// One roster row: the TrackedSession schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)] // The names are the contract's; it explains them.
pub struct TrackedSession {
    pub session_id: String,
    /// `watcher`, `pty`, `stream`.
    pub source: String,
    /// `claude`, `codex`, ….
    pub agent: String,
    /// The coarse status of the source document: `working`, `waiting`, `idle`.
    pub status: String,
    /// `working`, `waiting_for_approval`, `waiting_for_input`, `idle`, `ended`.
    pub state: String,
    /// Which group of the window the row belongs to.
    pub group: Group,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_kind: Option<String>,
    pub state_since: String,
    pub state_reason: StateReason,
    /// What went wrong, without the witness: while the state is an error, a limit or a retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the person is wanted for (`approval`, `question`, `plan`, `dialog`, `error`), once that has lasted for a
    /// second: a reviewer that is no person answers sooner. Tray, chips and status bars count the rows that have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
    /// What it asks now, where the program that holds the store got the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Request>,
    /// The person has snoozed it: until then it rests and needs nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snoozed_until: Option<String>,
    /// The person has put it away; only a view of all sessions shows it, until something new happens in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub put_away: Option<bool>,
    pub has_pending_tool_use: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_tool: Option<ToolTarget>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PendingTool>>", optional)]
    pub pending_tools: Vec<PendingTool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<String>,
    pub last_activity_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_at: Option<String>,
    pub work_chain_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_chain_name: Option<String>,
    pub compaction_count: u32,
    pub segment_count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<Terminal>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagents: Option<Subagents>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_tasks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_prompts: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequest>,
}

/// Groups of the window, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Approval, question, plan, error.
    NeedsYou,
    /// A turn runs.
    Working,
    /// The turn ended or was interrupted.
    YourTurn,
    /// Nothing has happened for long, or the process is gone.
    Idle,
}

/// Why the state is what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StateReason {
    /// `registry`, `hook`, `transcript`, `status_file`, `process`, `pty`, `timeout`.
    pub source: String,
    /// In words, for the person.
    pub detail: String,
    /// `observed` or `inferred`.
    pub confidence: String,
}

/// A tool and what it acts on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolTarget {
    /// The tool's name.
    pub tool: String,
    /// One line; absent when the call says nothing of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>", optional)]
    pub target: String,
}

/// A tool call without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PendingTool {
    /// `tool_use_id`.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// One line; absent when the call says nothing of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>", optional)]
    pub target: String,
    /// When it was called.
    pub since: String,
}

/// Where the session's terminal is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Terminal {
    /// `kitty`, `wezterm`, `iterm2`, `tmux`, `zellij`, `ghostty`, `vscode`, `windows_terminal`, `tty`, …: the innermost
    /// one that can be addressed.
    pub kind: String,
    /// The tmux target, where the registry names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What addresses the tab or pane, by the name of the variable that said so: `TMUX_PANE`, `KITTY_WINDOW_ID`, ….
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>", optional)]
    pub ids: BTreeMap<String, String>,
}

/// Tokens of a session and its subagents, each request counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// How full the context is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Context {
    /// Tokens after the newest answer.
    pub used: u64,
    /// How many it takes, where that is known: the client has compacted this work by itself at so many, the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// `used` of `size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
}

/// Subagents of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[allow(missing_docs)]
pub struct Subagents {
    pub running: u32,
    pub total: u32,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[allow(missing_docs)]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
}

/// Something that went wrong while reading; everything else goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[allow(missing_docs)]
pub struct Problem {
    pub path: String,
    pub kind: String,
    pub count: u64,
    pub detail: String,
}

/// `roster --json`, and the first line of `watch --json` beside its `event`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RosterSnapshot {
    /// Rises with every change.
    pub revision: u64,
    /// The engine's clock; ages are reckoned from it, since the demo has a clock of its own.
    pub generated_at: String,
    /// In roster order.
    pub sessions: Vec<TrackedSession>,
    /// Sorted by path and kind.
    pub problems: Vec<Problem>,
    /// True while transcripts are still being read for the first time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reading: bool,
    /// No alerts until then: the person has muted everything for a while. Absent when nothing is muted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub muted_until: Option<String>,
    /// These are only the first rows, and the next message brings so many more. Absent when these are all, as everywhere
    /// but in the first message to a window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<GroupCounts>,
}

/// How many sessions each group counts; superseded ones are shown and not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[allow(missing_docs)] // The names are those of the groups.
pub struct GroupCounts {
    pub needs_you: u32,
    pub working: u32,
    pub your_turn: u32,
    pub idle: u32,
}

/// What the window gets: the change from revision `base` to `revision`.
///
/// To apply: drop `removals` and the sessions of `upserts`, then put each upsert at its `index`, in the
/// order given (rising). A reader whose revision is not `base` asks for a snapshot again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RosterDelta {
    /// The revision to which this applies.
    pub base: u64,
    /// The revision after it.
    pub revision: u64,
    /// The engine's clock.
    pub generated_at: String,
    /// Rows that are new, changed or moved, with their place in the new order.
    pub upserts: Vec<Upsert>,
    /// Rows that are gone.
    pub removals: Vec<String>,
    /// The whole list, when it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<Problem>>,
    /// See [`RosterSnapshot::reading`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reading: bool,
    /// As it is now, in every delta; see [`RosterSnapshot::muted_until`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub muted_until: Option<String>,
}

/// A row and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Upsert {
    /// Place in the new order, from 0.
    pub index: u32,
    /// The row.
    pub session: TrackedSession,
}

/// What a subscriber of the window receives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RosterMessage {
    /// First, and again whenever the subscriber was left behind.
    Snapshot(RosterSnapshot),
    /// A change.
    Delta(RosterDelta),
    /// Select this session: a second start of the program, the tray or the command line asked for it.
    Select {
        /// The session.
        #[serde(rename = "sessionId")]
        session_id: String,
    },
    /// Nothing more will come: the engine has ended, and what was told before is no longer followed.
    Stopped,
}
