//! What the engine can be told, and how it is put together: options, environment, configuration file, defaults, in this order.
//!
//! [`configuration`] owns the file while a program runs: reads it, follows it, changes it. `table.rs` is the one list of
//! what can stand in it.

mod alerts;
pub mod configuration;
mod edit;
mod file;
pub mod follow;
mod known;
mod layers;
mod list;
mod patterns;
mod table;
mod undo;
mod values;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use watchbill_core::history::{HistorySettings, RecoverySettings};
use watchbill_core::problem::Problem;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_store::archive::plan::ArchiveSettings;

pub use alerts::AlertSettings;
pub use configuration::Configuration;

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
    /// The configuration file, whether it is there or not.
    pub config_file: Option<PathBuf>,
    /// What the configuration file says that is not followed.
    pub problems: Vec<Problem>,
    /// Why it is not known what may be watched and stored: the configuration file cannot be understood, and never was
    /// since the start. Nothing is stored then, so that nothing is that should not be.
    pub doubt: Option<Arc<str>>,
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

/// Puts the settings together once.
///
/// # Errors
/// When a named file cannot be read, or no folder can be found. What is wrong in a file is no error: it is among the
/// settings' problems, and the rest counts.
pub fn settle(given: &Given, env: Environment<'_>) -> Result<Settings, SettingsError> {
    Ok((*Configuration::open(given, env)?.settings()).clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn with(vars: &[(&str, &str)], given: Given) -> Result<Settings, SettingsError> {
        let vars: Vec<(String, OsString)> =
            vars.iter().map(|(k, v)| ((*k).to_owned(), OsString::from(v))).collect();
        settle(&given, &move |name| vars.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
    }

    #[test]
    fn options_win_over_environment_over_home() {
        let home = ("HOME", "/home/dev");
        let roots = |vars: &[(&str, &str)], given| with(vars, given).unwrap().roots;
        assert_eq!(roots(&[home], Given::default()), [PathBuf::from("/home/dev/.claude")]);
        assert_eq!(roots(&[home, ("CLAUDE_CONFIG_DIR", "/c")], Given::default()), [PathBuf::from("/c")]);
        let both = [home, ("CLAUDE_CONFIG_DIR", "/c"), ("WATCHBILL_CLAUDE_DIR", "/a:/b")];
        assert_eq!(roots(&both, Given::default()), [PathBuf::from("/a"), PathBuf::from("/b")]);
        let given = Given { claude_dirs: vec!["/x".into()], ..Given::default() };
        assert_eq!(roots(&both, given), [PathBuf::from("/x")]);
    }

    #[test]
    fn a_relative_folder_of_the_environment_is_one_of_here() {
        let here = std::env::current_dir().unwrap();
        let settings = |vars: &[(&str, &str)]| with(vars, Given::default()).unwrap();
        let data = ("WATCHBILL_DATA_DIR", "d");
        let named = settings(&[("HOME", "/home/dev"), ("WATCHBILL_CLAUDE_DIR", "a:/b"), data]);
        assert_eq!((named.roots, named.data_dir), (vec![here.join("a"), "/b".into()], Some(here.join("d"))));
        let of_client = settings(&[("HOME", "/home/dev"), ("CLAUDE_CONFIG_DIR", "c")]);
        assert_eq!(of_client.roots, [here.join("c")]);
    }

    #[test]
    fn the_file_takes_seconds_and_units_and_tells_of_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let given = Given { config: Some(path.clone()), ..Given::default() };
        std::fs::write(&path, "roots=['~/a','/b']\n[timeouts]\napproval = 7\nidle = \"10m\"\nstale=1.5\n[roster]\nrecent=\"2d\"\n[watch]\nmode=\"poll\"\npoll_interval=\"500ms\"\n").unwrap();
        let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
        assert_eq!(s.roots, [PathBuf::from("/home/dev/a"), PathBuf::from("/b")]);
        assert_eq!(
            s.timeouts,
            Timeouts { approval: Millis(7000), stale: Millis(1500), idle: Millis(600_000) }
        );
        assert_eq!(s.recent, Millis(172_800_000));
        assert_eq!(s.watch, WatchSetting::Poll(Duration::from_millis(500)));

        let store = "roots=['~/a']\n[store]\ncut = 100\nexclude = ['~/secret/**']\nskip_tools = []\nplan_folders=['~/plans']\n[archive]\nenabled=true\nbudget='2GB'\nkeep='365d'\n";
        std::fs::write(&path, store).unwrap();
        let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
        assert_eq!(
            (s.archive.enabled, s.archive.budget, s.archive.keep),
            (true, 2_000_000_000, Some(Millis(31_536_000_000)))
        );
        let s = s.history;
        assert!(s.exclude.leaves_out("/home/dev/secret/x") && !s.exclude.leaves_out("/home/dev/work"));
        assert!(s.is_plan("/home/dev/plans/x.md") && s.is_plan("/home/dev/a/plans/x.md"));
        assert_eq!((s.cut, s.skips("TodoWrite")), (100, false));

        assert_eq!(
            with(&[("HOME", "/home/dev")], given.clone()).unwrap().recovery,
            RecoverySettings::default()
        );
        // A look that never ends would be all that the store does.
        std::fs::write(&path, "[recovery]\nstuck='2m'\nstale=90\nevery='1ms'\n").unwrap();
        let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
        let (stuck, stale, every) = (Millis(120_000), Millis(90_000), Millis(1_000));
        assert_eq!(s.recovery, RecoverySettings { stuck, stale, every });

        std::fs::write(&path, "[timeouts]\napproval = \"soon\"\nidle=7\n[timeout]\n").unwrap();
        let s = with(&[("HOME", "/home/dev")], given).unwrap();
        assert_eq!(s.timeouts, Timeouts { idle: Millis(7000), ..Timeouts::default() }, "the rest counts");
        let [problem] = &s.problems[..] else { panic!("{:?}", s.problems) };
        assert!(problem.path.ends_with("config.toml") && problem.count == 2);
        assert!(problem.detail.contains("line 2, column 12: timeouts.approval"), "{}", problem.detail);
        assert!(problem.detail.contains("did you mean `timeouts`"), "{}", problem.detail);
    }

    #[test]
    fn a_list_without_a_folder_is_an_error_and_not_an_empty_roster() {
        let vars = [("HOME", "/home/dev"), ("WATCHBILL_CLAUDE_DIR", ":")];
        assert!(matches!(with(&vars, Given::default()), Err(SettingsError::NoRoots)));
    }

    #[test]
    fn a_named_file_that_is_missing_is_an_error() {
        let given = Given { config: Some("/nonexistent/w.toml".into()), ..Given::default() };
        assert!(matches!(with(&[("HOME", "/h")], given), Err(SettingsError::Unreadable { .. })));
    }
}
