//! The settings of the engine and the window, and the part of them that the command line gives.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::PLAN_FOLDERS;
use watchbill_agents::layout::{ROOT_OPTION, ROOT_VARIABLE};
use watchbill_agents::{Agent, Root};
use watchbill_core::attention::AttentionSettings;
use watchbill_core::history::{ArchiveSettings, HistorySettings, RecoverySettings};
use watchbill_core::memory::MemorySettings;
use watchbill_core::problem::Problem;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_watch::WatchMethod;
use watchbill_watch::fs::{FileKind, Fs, StdFs};

/// All settings of the engine and the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The folders of the agents at the start. [`Settings::roots_now`] says which count now.
    pub roots: Vec<Root>,
    /// The usual folders that were missing at the start. Each counts from when it is there.
    pub awaited: Vec<Root>,
    /// The folder of our own files: the store, and what the desktop keeps. Without it nothing is kept on disk.
    pub data_dir: Option<PathBuf>,
    /// The timeouts of the source document.
    pub timeouts: Timeouts,
    /// A row that is not live stays in the default roster this long after its last activity.
    pub recent: Millis,
    /// How changes are noticed.
    pub watch: WatchMethod,
    /// Which texts are stored, and how much of them.
    pub history: HistorySettings,
    /// When a turn or a session without an end counts as over.
    pub recovery: RecoverySettings,
    /// Whether and how transcripts are archived.
    pub archive: ArchiveSettings,
    /// Which needs alert the user, and when alerts are silent.
    pub alerts: AlertSettings,
    /// Prices that win over the list, each a line for [`Prices::add`](watchbill_core::prices::Prices::add).
    pub prices: Vec<String>,
    /// How the window looks and is reached.
    pub window: WindowSettings,
    /// Scripts may answer requests: `watchbill answer` works without a terminal.
    pub scripts_answer: bool,
    /// Which memories the rules find, and which an agent is told.
    pub memory: MemorySettings,
    /// The service over HTTP.
    pub service: ServiceSettings,
    /// The path of the configuration file, whether the file exists or not.
    pub config_file: Option<PathBuf>,
    /// Mistakes in the configuration file; its wrong lines have no effect.
    pub problems: Vec<Problem>,
    /// Why it is unknown which folders may be watched and stored: the configuration file has been wrong since the
    /// start. Nothing is stored then.
    pub doubt: Option<Arc<str>>,
}

/// `[alerts]`: which needs alert the user, and when alerts are silent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlertSettings {
    /// The part that the alert policy reads.
    pub attention: AttentionSettings,
    /// Alerts make a sound, where the desktop has one.
    pub sound: bool,
}

/// `[window]`: how the window looks and is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowSettings {
    /// Its colours.
    pub theme: Theme,
    /// It stays above all other windows.
    pub always_on_top: bool,
    /// The colours of the icon in the tray.
    pub tray: TrayColours,
    /// A key combination that opens it from anywhere.
    pub shortcut: Option<String>,
}

/// The window's colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the desktop has it.
    #[default]
    System,
    /// Light, always.
    Light,
    /// Dark, always.
    Dark,
}

/// The colours of the icon in the tray.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TrayColours {
    /// The icon's own colours.
    #[default]
    Own,
    /// One dark colour, for light panels.
    Dark,
    /// One light colour, for dark panels.
    Light,
}

impl Settings {
    /// The defaults for these roots.
    pub fn for_roots(roots: Vec<impl Into<Root>>) -> Self {
        Self {
            roots: roots.into_iter().map(Into::into).collect(),
            awaited: Vec::new(),
            data_dir: None,
            timeouts: Timeouts::default(),
            recent: Millis::from_secs(24 * 3600),
            watch: WatchMethod::Auto,
            history: HistorySettings {
                plan_folders: PLAN_FOLDERS.map(str::to_owned).to_vec(),
                ..HistorySettings::default()
            },
            recovery: RecoverySettings::default(),
            archive: ArchiveSettings::default(),
            alerts: AlertSettings::default(),
            prices: Vec::new(),
            window: WindowSettings::default(),
            scripts_answer: false,
            memory: MemorySettings::default(),
            service: ServiceSettings::default(),
            config_file: None,
            problems: Vec::new(),
            doubt: None,
        }
    }

    /// The folders whose transcripts are stored: those of the agent, that of own sessions whose agents write none that Watchbill
    /// reads, and that of sessions that programs report over HTTP.
    pub fn stored_roots(&self) -> Vec<Root> {
        let beside = |data_dir: &PathBuf| [data_dir.join("own"), over_http_root(data_dir)].map(Root::from);
        let awaited = self.awaited.iter().filter(|root| !self.roots.contains(root));
        self.roots.iter().chain(awaited).cloned().chain(self.data_dir.iter().flat_map(beside)).collect()
    }

    /// The folders that count now: those that are there, those that the user named, and at least the default agent's.
    pub fn roots_now(&self, fs: &dyn Fs) -> Vec<Root> {
        let is_there = |path: &Path| fs.stat(path).is_ok_and(|stat| stat.kind == FileKind::Dir);
        let appeared = self.awaited.iter().filter(|root| !self.roots.contains(root));
        let counts = |root: &&Root| !self.awaited.contains(root) || is_there(root);
        let now: Vec<Root> = self.roots.iter().chain(appeared).filter(counts).cloned().collect();
        if now.is_empty() { self.roots.clone() } else { now }
    }

    /// The folders of one agent that count now. The default agent has one, even before it is there.
    pub fn roots_of(&self, agent: Agent) -> Vec<PathBuf> {
        let of_agent = |root: &Root| (root.agent == agent).then(|| root.path.to_path_buf());
        let now: Vec<PathBuf> = self.roots_now(&StdFs).iter().filter_map(of_agent).collect();
        match now.is_empty() && agent == Agent::default() {
            true => self.awaited.iter().filter_map(of_agent).collect(),
            false => now,
        }
    }

    /// A key of everything that the roster depends on: two programs with the same key show the same roster. It
    /// includes the program's version.
    pub fn view(&self) -> String {
        // A folder that was there at one start and is awaited at another is the same.
        let all = self.roots.iter().chain(&self.awaited);
        let real = all.map(|root| root.at(root.canonicalize().unwrap_or_else(|_| root.to_path_buf())));
        let roots: BTreeSet<String> = real.map(|root| format!("{root:?}")).collect();
        let depends_on = (roots, self.timeouts, self.recent, &self.history, &self.alerts.attention);
        let text = format!("{} {depends_on:?}", env!("CARGO_PKG_VERSION"));
        format!("{:016x}", watchbill_core::ids::stable_hash(text.as_bytes()))
    }

    /// Whether a running engine cannot take these over from `before`: they watch other folders, watch in another
    /// way, or use another data folder.
    pub fn needs_new_engine(&self, before: &Self) -> bool {
        (&self.roots, self.watch, &self.data_dir) != (&before.roots, before.watch, &before.data_dir)
    }

    /// Whether the thread of the history has to know of the change from `before`.
    pub fn changes_history_settings(&self, before: &Self) -> bool {
        (&self.history, self.recovery, self.archive, &self.memory)
            != (&before.history, before.recovery, before.archive, &before.memory)
    }
}

/// The folder of the sessions that programs report over HTTP, with the layout of the agent's folder, by the name that the history
/// stores.
pub fn over_http_root(data_dir: &Path) -> PathBuf {
    data_dir.canonicalize().unwrap_or_else(|_| data_dir.to_owned()).join("received")
}

/// Whether and how other programs may ask over HTTP on loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServiceSettings {
    /// It is served.
    pub http: bool,
    /// The port; 0: a free one.
    pub port: u16,
    /// It takes events, for the history.
    pub accept: bool,
}

/// Settings from the command line. A missing one comes from the environment, the file or a default.
#[derive(Debug, Clone, Default)]
pub struct CommandLineOptions {
    /// `--root`, repeatable.
    pub roots: Vec<Root>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
}

/// The settings could not be resolved.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The named file cannot be read.
    #[error(
        "cannot read the configuration file {path}: {source}; name another with --config, or leave the option out"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The list of folders is empty.
    #[error(
        "the list of the agent's folders is empty: name one in {} or under `roots`, or leave both out",
        ROOT_VARIABLE
    )]
    NoRoots,
    /// No home folder is known.
    #[error("no home folder is known, so the agent's folder cannot be found; name it with {}", ROOT_OPTION)]
    NoHome,
}

/// Reads an environment variable. Tests pass their own function instead of changing the real environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<std::ffi::OsString>;
