//! `doctor --json`: what is found, what is watched and how, limits, versions, problems.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::roster::Problem;
use crate::store::StoreHealth;

/// The state of the whole, for a person who wonders why something is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Doctor {
    /// What runs.
    pub versions: Versions,
    /// The roots that are watched.
    pub roots: Vec<Root>,
    /// The live registry of all roots.
    pub registry: Registry,
    /// Limits of the system that matter for watching.
    pub limits: Vec<Limit>,
    /// The stored history. Absent where none is kept: in the demo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreHealth>,
    /// The places of hook events. Absent where none are heard: in the demo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hooks: Option<HooksHealth>,
    /// No alerts until then: the person has muted everything for a while. Absent when nothing is muted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub muted_until: Option<String>,
    /// How the program reaches the person. Absent outside the desktop program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desktop: Option<DesktopHealth>,
    /// The configuration file, whether it is there or not; what is wrong with it is among the problems.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<ConfigFile>,
    /// Sorted by path and kind.
    pub problems: Vec<Problem>,
}

/// What the desktop lets the program show beside its window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DesktopHealth {
    /// Whether a panel shows the tray icon.
    pub tray: bool,
    /// Whether alerts can be shown as notifications.
    pub notifications: bool,
    /// Who shows them, with its version, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_server: Option<String>,
    /// Why none can be shown, in words for the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_problem: Option<String>,
}

/// The configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConfigFile {
    /// Where it is, or would be.
    pub path: String,
    /// It is there.
    pub exists: bool,
}

/// How the places of hook events are doing.
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
    /// Events that were dropped, because nothing could be written or far too many waited. Those of long ago are not
    /// counted any more.
    pub dropped: u64,
    /// When the last of these was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_at: Option<String>,
    /// Bytes of the journal.
    pub journal_bytes: u64,
    /// Sessions of which a hook was heard, now or within the last hour.
    pub sessions: u32,
    /// The settings of each of the agent's folders.
    #[serde(default)]
    pub settings: Vec<HookSettings>,
}

/// What one settings file of the agent says of our hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct HookSettings {
    /// The file.
    pub path: String,
    /// `installed`, `absent`, `disabled` (the agent runs no hooks), `program_missing`, `outdated` (events go to another data
    /// folder, or are not those that the client knows) or `unreadable`.
    pub state: String,
    /// Events that could be heard as well; empty where none is installed.
    pub missing: Vec<String>,
    /// Whom the file is for: `user`, `project`, `local` or `managed`.
    #[serde(default)]
    pub scope: String,
    /// The agent's folder that it belongs to.
    #[serde(default)]
    pub root: String,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Versions of this program and of the agents' clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Versions {
    /// This program.
    pub watchbill: String,
    /// Client versions met in transcripts and registry, oldest first.
    pub agents: Vec<String>,
}

/// One root: a folder that holds `projects/` and `sessions/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Root {
    /// The folder.
    pub path: String,
    /// Whether it is there; a missing one is waited for.
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
    /// We look now and then, because the file system or a limit leaves nothing better.
    Poll,
    /// Nothing is watched: a single look, or a root that is not there.
    None,
}

/// The live registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Registry {
    /// The folder could be read.
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
    /// How much of it this program needs, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<u64>,
    /// It is enough.
    pub enough: bool,
}
