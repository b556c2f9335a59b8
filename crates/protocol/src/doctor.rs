//! `doctor --json`: found sessions, watched folders, limits, versions, problems.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::roster::Problem;
use crate::store::StoreHealth;

/// The state of the whole program, for a user who wonders why something is not shown.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Doctor {
    /// The versions that run.
    pub versions: Versions,
    /// The roots that are watched.
    pub roots: Vec<Root>,
    /// The live registry of all roots.
    pub registry: Registry,
    /// Sessions of our own. Absent if there are none.
    pub own: Option<OwnSessionCounts>,
    /// Limits of the system that matter for watching.
    pub limits: Vec<Limit>,
    /// The stored history. Absent without a data folder.
    pub store: Option<StoreHealth>,
    /// The folders of hook events. Absent in the demo.
    pub hooks: Option<HooksHealth>,
    /// No alerts until then: the user muted everything for a while. Absent if nothing is muted.
    pub muted_until: Option<String>,
    /// How the program reaches the user. Absent outside the desktop program.
    pub desktop: Option<DesktopHealth>,
    /// The configuration file, existing or not. Its mistakes are among the problems.
    pub config: Option<ConfigFile>,
    /// Sorted by path and kind.
    pub problems: Vec<Problem>,
}

/// How many own sessions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnSessionCounts {
    /// Whose hosts run.
    pub running: u32,
    /// All others, whose logs are kept.
    pub ended: u32,
}

/// What the desktop lets the program show beside its window.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DesktopHealth {
    /// Whether a panel shows the tray icon.
    pub tray: bool,
    /// Whether alerts can be shown as notifications.
    pub notifications: bool,
    /// The program that shows them, with its version, if it names itself.
    pub notification_server: Option<String>,
    /// Why none can be shown, as a text for the user.
    pub notification_problem: Option<String>,
}

/// The configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFile {
    /// Where it is, or would be.
    pub path: String,
    /// Whether it exists.
    pub exists: bool,
}

/// The state of the folders of hook events.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HooksHealth {
    /// The folder.
    pub path: String,
    /// Programs that listen now.
    pub ears: u64,
    /// Events that wait for a program to listen.
    pub waiting: u64,
    /// Files that could not be read as events and were put aside.
    pub damaged: u64,
    /// Events that were dropped, because nothing could be written or far too many waited. Old ones are no longer
    /// counted.
    pub dropped: u64,
    /// When the last of these was dropped.
    pub dropped_at: Option<String>,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// Sessions with a hook event, now or within the last hour.
    pub sessions: u32,
    /// The setting `memory.context`, if an agent is to be told something: `files`, `all`.
    pub context: Option<String>,
    /// The settings of each of the agent's folders.
    #[serde(default)]
    pub settings: Vec<HookSettings>,
}

/// Our hooks in one settings file of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HookSettings {
    /// The file.
    pub path: String,
    /// `installed`, `absent`, `disabled` (the agent runs no hooks), `program_missing`, `outdated` (events go to
    /// another data folder, or are not those that the agent knows) or `unreadable`. Also `waits_for_trust`: the agent runs them
    /// once the user trusts them.
    pub state: String,
    /// The agent, as in a row of the roster; absent for Claude Code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>")]
    pub agent: String,
    /// Events that could be heard as well; empty if no hook is installed.
    pub missing: Vec<String>,
    /// The scope of the file: `user`, `project`, `local` or `managed`.
    #[serde(default)]
    pub scope: String,
    /// The agent's folder that it belongs to.
    #[serde(default)]
    pub root: String,
    /// The hook that tells the agent what was learned is there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub context: bool,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether requests can be answered from Watchbill: the hook that waits for answers is installed.
    #[serde(default)]
    pub answers: bool,
    /// The agent takes answers from outside, so that this hook can be installed for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub takes_answers: bool,
    /// The status line before the user's own: `installed`, `absent`, or `program_missing` (the agent draws no line). Absent where it
    /// cannot be installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_line: Option<String>,
    /// Known memory programs that these settings start: they tell the agent something too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>")]
    pub rivals: Vec<String>,
}

/// Versions of this program and of the agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// This program.
    pub watchbill: String,
    /// Client versions found in transcripts and registry, oldest first.
    pub agents: Vec<String>,
}

/// One root: a folder that holds `projects/` and `sessions/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// The agent, by its word: `claude`, `codex`, ….
    pub agent: String,
    /// The folder.
    pub path: String,
    /// Whether it exists. The program waits for a missing one.
    pub exists: bool,
    /// How changes are noticed.
    pub watch: WatchMode,
    /// Sessions found below it.
    pub sessions: u32,
    /// Transcript files, those of subagents included.
    pub files: u32,
    /// Bytes of those files.
    pub bytes: u64,
}

/// How changes below a root are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum WatchMode {
    /// The system reports them.
    Native,
    /// The program polls, because the file system or a limit allows nothing better.
    Poll,
    /// Nothing is watched: the command reads once, or the root does not exist.
    None,
}

/// The live registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Registry {
    /// Whether the folder could be read.
    pub readable: bool,
    /// Files in it that name a process.
    pub files: u32,
    /// Processes that run.
    pub live: u32,
}

/// A limit of the system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Limit {
    /// The system's own name of it.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// How much of it this program needs, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// Whether it is enough.
    pub enough: bool,
}
