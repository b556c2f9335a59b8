//! The roster: rows, snapshots, deltas and store events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

pub use crate::limits::{LimitStep, PlanLimit};

use crate::request::{Request, RequestRule};

/// One roster row: the TrackedSession schema.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)] // The names are the contract's; it explains them.
pub struct TrackedSession {
    pub session_id: String,
    /// `watcher`, `pty`, `stream`.
    pub source: String,
    /// `stream` or `pty`, if it is an own session.
    pub own: Option<String>,
    /// The id by which the host of an own session is reached. After a `/clear` or a resume the session has another.
    pub own_id: Option<String>,
    /// An agent started this own session, or went on with it.
    pub started_by_agent: Option<bool>,
    /// `claude`, `codex`, ….
    pub agent: String,
    /// The coarse status of the source document: `working`, `waiting`, `idle`.
    pub status: String,
    /// `working`, `waiting_for_approval`, `waiting_for_input`, `idle`, `ended`.
    pub state: String,
    /// The group of the window that the row belongs to.
    pub group: Group,
    pub state_kind: Option<String>,
    pub state_since: String,
    pub state_reason: StateReason,
    /// The cause, without the witness, while the state is an error, a limit or a retry.
    pub error: Option<String>,
    /// After a usage limit: when the account's limit that is used up ends, as the agents say. Absent if they did not.
    pub limit_resets_at: Option<String>,
    /// What the session needs the user for (`approval`, `question`, `plan`, `dialog`, `error`), once the need has
    /// lasted for a second: an automatic reviewer answers sooner. Tray, chips and status bars count the rows that
    /// have it.
    pub needs: Option<String>,
    /// What it asks now, where the program that holds the store got the request.
    pub request: Option<Request>,
    /// The user snoozed it until this time: until then it rests and does not need the user.
    pub snoozed_until: Option<String>,
    /// The user put it away. Only a view of all sessions shows it, until something new happens in it.
    pub put_away: Option<bool>,
    /// Its turn has ended while this Watchbill ran, and neither its pane nor its terminal was in front since.
    pub unseen: Option<bool>,
    pub has_pending_tool_use: bool,
    pub pending_tool: Option<ToolTarget>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PendingTool>>", optional)]
    pub pending_tools: Vec<PendingTool>,
    pub goal: Option<String>,
    pub summary: Option<String>,
    /// What came of the turn that ended, since the user's last prompt. Absent if no file was edited and no test run is known.
    pub outcome: Option<Outcome>,
    pub title: Option<String>,
    pub branch: Option<String>,
    pub repo_root: Option<String>,
    /// The top folder of the repository's main working tree, if the session works in another one.
    pub worktree_of: Option<String>,
    pub project_id: Option<String>,
    pub cwd: Option<String>,
    pub transcript_path: Option<String>,
    pub last_activity_at: String,
    pub created_at: Option<String>,
    pub superseded: Option<bool>,
    pub superseded_by: Option<String>,
    pub superseded_at: Option<String>,
    pub work_chain_id: String,
    pub work_chain_name: Option<String>,
    pub compaction_count: u32,
    pub segment_count: u32,
    pub permission_mode: Option<String>,
    pub model: Option<String>,
    pub agent_version: Option<String>,
    pub pid: Option<u32>,
    pub terminal: Option<Terminal>,
    pub tokens: Option<Tokens>,
    pub context: Option<Context>,
    /// What the session cost, as the client counts it.
    pub cost: Option<SessionCost>,
    /// How hard the model thinks, in the client's word.
    pub effort: Option<String>,
    /// When the client's status line last said something new: `cost`, `effort` and the review are of then.
    pub said_at: Option<String>,
    pub subagents: Option<Subagents>,
    pub background_tasks: Option<u32>,
    pub queued_prompts: Option<u32>,
    /// Why the prompts in the queue of an own session wait for the user: `interrupted`, `error`, `limit`, `login`, `time`.
    pub queue_held: Option<String>,
    /// The calls that the agent's reviewer refused without asking.
    pub refused: Option<Refused>,
    /// A program started it, and no person can answer it: it has no needs and raises no alert.
    pub started_by: Option<StartedBy>,
    /// It is a background session of its agent: it runs without a terminal, cannot be resumed while it runs, and this shell command
    /// shows it.
    pub attach_command: Option<String>,
    pub pull_request: Option<PullRequest>,
}

/// Groups of the window, in their order on screen.
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

/// Why the state holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StateReason {
    /// `registry`, `hook`, `transcript`, `status_file`, `process`, `stream`, `pty`, `timeout`.
    pub source: String,
    /// A text for the user.
    pub detail: String,
    /// `observed` or `inferred`.
    pub confidence: String,
}

/// A tool and what it acts on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolTarget {
    /// The tool's name.
    pub tool: String,
    /// One line; absent if the call names no target.
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
    /// One line; absent if the call names no target.
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
    /// The tmux target, if the registry names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Ids that address the tab or pane, by the name of their variable: `TMUX_PANE`, `KITTY_WINDOW_ID`, ….
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
#[skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Context {
    /// Tokens after the newest answer.
    pub used: u64,
    /// The size of the context, if known: as the client says it, or the tokens at which the agent last compacted this work
    /// by itself.
    pub size: Option<u64>,
    /// `used` of `size`, as the client says it if it does.
    pub percent: Option<f64>,
}

/// What came of a turn, without what subagents did.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct Outcome {
    /// How many files the tools for files edited.
    pub files: u32,
    /// Whether the test run passed that came last, after the last edit.
    pub passed: Option<bool>,
    /// How long it took, in seconds.
    pub seconds: Option<u64>,
}

/// What a session cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionCost {
    /// In dollars.
    pub usd: f64,
    /// `client`: the client counts so.
    pub by: String,
}

/// Subagents of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[allow(missing_docs)]
pub struct Subagents {
    pub running: u32,
    pub total: u32,
}

/// The calls of a session that the agent's reviewer refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// How many, since the session began.
    pub count: u32,
    /// How many since a call last ran and since the user's last prompt.
    pub in_a_row: u32,
    /// Three in a row, or the reviewer is unavailable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub stuck: bool,
    /// The newest.
    pub last: RefusedCall,
}

/// A call that the agent's reviewer refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct RefusedCall {
    /// The tool's name.
    pub tool: String,
    /// One line; absent if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>", optional)]
    pub target: String,
    /// When.
    pub at: String,
    /// `blocked`, or `unavailable` if the reviewer could not judge it.
    pub kind: String,
    /// The rule that would allow it, and where it belongs; the narrowest one. Absent where the call is a pattern or has several parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<RequestRule>,
}

/// How a program started a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
pub struct StartedBy {
    /// The agent's word: `sdk-cli`, `exec`, ….
    pub entrypoint: String,
    /// The folder of the project. Sessions with the same folder and entrypoint have one starter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The run failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub failed: bool,
}

/// A pull request.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(optional_fields)]
#[allow(missing_docs)]
pub struct PullRequest {
    pub number: u64,
    pub url: String,
    /// The state of its review in the client's word: `approved`, `changes_requested`, `pending`, `draft`.
    pub review: Option<String>,
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
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct RosterSnapshot {
    /// Rises with every change.
    pub revision: u64,
    /// The engine's time. Ages count from it.
    pub generated_at: String,
    /// In roster order.
    pub sessions: Vec<TrackedSession>,
    /// Sorted by path and kind.
    pub problems: Vec<Problem>,
    /// True while transcripts are still being read for the first time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reading: bool,
    /// No alerts until then: the user muted everything for a while. Absent if nothing is muted.
    pub muted_until: Option<String>,
    /// The limits of plans whose spans run, as the agents say them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PlanLimit>>", optional)]
    pub limits: Vec<PlanLimit>,
    /// How many more rows the next message brings: these are only the first ones. Absent if these are all, as
    /// everywhere except in the first message to a window.
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

/// The change from revision `base` to `revision`, for the window.
///
/// To apply: drop `removals` and the sessions of `upserts`, then put each upsert at its `index`, in the
/// order given (rising). A reader whose revision is not `base` asks for a snapshot again.
#[skip_serializing_none]
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
    /// The whole list, if it changed.
    pub problems: Option<Vec<Problem>>,
    /// See [`RosterSnapshot::reading`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reading: bool,
    /// The current value, in every delta; see [`RosterSnapshot::muted_until`].
    pub muted_until: Option<String>,
    /// The whole list, if it changed.
    pub limits: Option<Vec<PlanLimit>>,
}

/// A row and its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Upsert {
    /// Place in the new order, from 0.
    pub index: u32,
    /// The row.
    pub session: TrackedSession,
}

/// A message to a subscriber, such as the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RosterMessage {
    /// The first message, and again after the subscriber was left behind.
    Snapshot(RosterSnapshot),
    /// A change.
    Delta(RosterDelta),
    /// Select this session: a second start of the program, the tray or the command line asked for it.
    Select {
        /// The session.
        #[serde(rename = "sessionId")]
        session_id: String,
    },
    /// The last message: the engine has ended, and the roster is no longer followed.
    Stopped,
}
