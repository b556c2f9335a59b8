//! Everything the engine and the window can be told, and what the command line says of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use watchbill_core::attention::AttentionSettings;
use watchbill_core::history::{ArchiveSettings, HistorySettings, RecoverySettings};
use watchbill_core::problem::Problem;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;

/// Everything the engine and the window can be told.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Claude configuration folders, each with `projects/` and `sessions/`.
    pub roots: Vec<PathBuf>,
    /// Where our own files go: the store, and what the desktop keeps. Without it nothing is kept.
    pub data_dir: Option<PathBuf>,
    /// The document's timeouts.
    pub timeouts: Timeouts,
    /// A row that is not live stays in the default roster this long after its last activity.
    pub recent: Millis,
    /// How changes are noticed.
    pub watch: WatchSetting,
    /// What is kept of texts.
    pub history: HistorySettings,
    /// When a turn or a session that nobody ended is over.
    pub recovery: RecoverySettings,
    /// Whether and how transcripts are archived.
    pub archive: ArchiveSettings,
    /// What the person wants to be told of, and when not.
    pub alerts: AlertSettings,
    /// How the window looks and is reached.
    pub window: WindowSettings,
    /// The window offers to install hooks where none are.
    pub offer_hooks: bool,
    /// Scripts may answer requests: `watchbill answer` works without a terminal.
    pub scripts_answer: bool,
    /// The configuration file, whether it is there or not.
    pub config_file: Option<PathBuf>,
    /// What the configuration file says that is not followed.
    pub problems: Vec<Problem>,
    /// Why it is not known what may be watched and stored: the configuration file cannot be understood, and never was
    /// since the start. Nothing is stored then, so that nothing is that should not be.
    pub doubt: Option<Arc<str>>,
}

/// `[alerts]`: what the person is told of, and when not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlertSettings {
    /// The policy's own.
    pub attention: AttentionSettings,
    /// Alerts make a sound, where the desktop has one.
    pub sound: bool,
}

/// `[window]`: how the window looks and is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowSettings {
    /// Its colours.
    pub theme: Theme,
    /// It stays above all others.
    pub always_on_top: bool,
    /// The colours of the icon in the tray.
    pub tray: TrayColours,
    /// A key that opens it from anywhere.
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
    /// Its own.
    #[default]
    Own,
    /// One dark colour, for light panels.
    Dark,
    /// One light colour, for dark panels.
    Light,
}

/// How changes of files are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchSetting {
    /// Events where the file system has them, looking now and then where it has not.
    #[default]
    Auto,
    /// Events, always.
    Native,
    /// Looking, at this interval.
    Poll(Duration),
}

impl Settings {
    /// The defaults for these roots.
    pub fn for_roots(roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            data_dir: None,
            timeouts: Timeouts::default(),
            recent: Millis::from_secs(24 * 3600),
            watch: WatchSetting::Auto,
            history: HistorySettings::default(),
            recovery: RecoverySettings::default(),
            archive: ArchiveSettings::default(),
            alerts: AlertSettings::default(),
            window: WindowSettings::default(),
            offer_hooks: true,
            scripts_answer: false,
            config_file: None,
            problems: Vec::new(),
            doubt: None,
        }
    }

    /// Stands for everything that the roster depends on: two programs of one version and one view show the same roster.
    pub fn view(&self) -> String {
        let roots: Vec<_> =
            self.roots.iter().map(|root| root.canonicalize().unwrap_or_else(|_| root.clone())).collect();
        let depends_on = (roots, self.timeouts, self.recent, &self.history, &self.alerts.attention);
        let text = format!("{} {depends_on:?}", env!("CARGO_PKG_VERSION"));
        format!("{:016x}", watchbill_core::ids::stable_hash(text.as_bytes()))
    }

    /// Whether a running engine cannot take these over from `before`: it watches other folders, or in another way.
    pub fn needs_another_engine(&self, before: &Self) -> bool {
        (&self.roots, self.watch, &self.data_dir) != (&before.roots, before.watch, &before.data_dir)
    }
}

/// What the command line says; absent parts come from the environment, the file, or a default.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// `--claude-dir`, repeatable.
    pub claude_dirs: Vec<PathBuf>,
    /// `--data-dir`.
    pub data_dir: Option<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
}

/// The settings could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file that was named cannot be read.
    #[error(
        "cannot read the configuration file {path}: {source}; name another with --config, or leave the option out"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A list of folders is given and holds none.
    #[error(
        "the list of the agent's folders is empty: name one in WATCHBILL_CLAUDE_DIR or under `roots`, or leave both out"
    )]
    NoRoots,
    /// No folder is known.
    #[error("no home folder is known, so the agent's folder cannot be found; name it with --claude-dir")]
    NoHome,
}

/// A look at the environment, so that tests need not change the real one.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<std::ffi::OsString>;
