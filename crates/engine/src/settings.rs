//! Where to look and how long to wait: options, environment, configuration file and defaults, in this order.

mod alerts;

pub use alerts::AlertSettings;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use watchbill_core::history::{Exclude, HistorySettings, RecoverySettings};
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_store::archive::plan::ArchiveSettings;

use alerts::FileAlerts;

/// Everything the engine can be told.
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
    /// What the person is told of, and when not.
    pub alerts: AlertSettings,
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
        }
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
    /// The file is there and wrong.
    #[error("the configuration file {path} is wrong: {detail}; correct it, or name another with --config")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// Line, column and what was expected.
        detail: String,
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

/// Puts the settings together.
///
/// # Errors
/// When a named file cannot be read, the file is wrong, or no folder can be found.
pub fn settle(given: &Given, env: Environment<'_>) -> Result<Settings, SettingsError> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    let dirs = directories::ProjectDirs::from("", "", "watchbill");
    let named = given.config.clone().or_else(|| set("WATCHBILL_CONFIG").map(PathBuf::from));
    let file = match &named {
        Some(path) => read_file(path)?,
        None => match dirs.as_ref().map(|d| d.config_dir().join("config.toml")) {
            Some(path) if path.exists() => read_file(&path)?,
            _ => File::default(),
        },
    };
    let home =
        set("HOME").map(PathBuf::from).or_else(|| directories::BaseDirs::new().map(|d| d.home_dir().into()));
    let roots = if !given.claude_dirs.is_empty() {
        given.claude_dirs.clone()
    } else if let Some(list) = set("WATCHBILL_CLAUDE_DIR") {
        std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect()
    } else if let Some(list) = file.roots {
        list.into_iter().map(|path| expand_home(path, home.as_deref())).collect()
    } else if let Some(dir) = set("CLAUDE_CONFIG_DIR") {
        vec![PathBuf::from(dir)]
    } else {
        vec![home.clone().ok_or(SettingsError::NoHome)?.join(".claude")]
    };
    if roots.is_empty() {
        return Err(SettingsError::NoRoots);
    }
    let mut settings = Settings::for_roots(roots);
    settings.data_dir = given
        .data_dir
        .clone()
        .or_else(|| set("WATCHBILL_DATA_DIR").map(PathBuf::from))
        .or_else(|| dirs.map(|d| d.data_dir().to_path_buf()));
    let Timeouts { approval, stale, idle } = &mut settings.timeouts;
    for (place, value) in [
        (approval, file.timeouts.approval),
        (stale, file.timeouts.stale),
        (idle, file.timeouts.idle),
        (&mut settings.recent, file.roster.recent),
    ] {
        if let Some(span) = value {
            *place = span.0;
        }
    }
    let interval = file.watch.poll_interval.map_or(Duration::from_secs(2), |span| {
        Duration::from_millis(u64::try_from(span.0.0).unwrap_or(2_000).max(100))
    });
    settings.watch = match file.watch.mode {
        Mode::Auto => WatchSetting::Auto,
        Mode::Native => WatchSetting::Native,
        Mode::Poll => WatchSetting::Poll(interval),
    };
    settings.archive = archive(&file.archive);
    settings.alerts = file.alerts.settle(home.as_deref());
    settings.history = history(file.store, &settings.roots, home.as_deref());
    Ok(settings)
}

fn archive(file: &FileArchive) -> ArchiveSettings {
    let usual = ArchiveSettings::default();
    ArchiveSettings {
        enabled: file.enabled,
        budget: file.budget.map_or(usual.budget, |size| size.0),
        keep: file.keep.map(|span| span.0).or(usual.keep),
        after: file.after.map_or(usual.after, |span| span.0),
        level: file.level.map_or(usual.level, |level| level.clamp(1, 19)),
    }
}

fn history(file: FileStore, roots: &[PathBuf], home: Option<&Path>) -> HistorySettings {
    let mut history = HistorySettings::default();
    let full = |path: PathBuf| expand_home(path, home).to_string_lossy().into_owned();
    history.cut = file.cut.unwrap_or(history.cut);
    history.skip = file.skip_tools.unwrap_or(history.skip);
    history.plan_folders.extend(file.plan_folders.into_iter().map(full));
    history.plan_folders.extend(roots.iter().map(|root| root.join("plans").to_string_lossy().into_owned()));
    history.exclude = Exclude::new(file.exclude.into_iter().map(full));
    history
}

fn expand_home(path: PathBuf, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

fn read_file(path: &Path) -> Result<File, SettingsError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| SettingsError::Unreadable { path: path.to_path_buf(), source })?;
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        // One line, without the excerpt that the parser's own words bring along.
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        let detail = match error.span().and_then(|span| text.get(..span.start)) {
            Some(before) => {
                let line = before.matches('\n').count() + 1;
                let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
                format!("line {line}, column {column}: {message}")
            }
            None => message,
        };
        SettingsError::Wrong { path: path.to_path_buf(), detail }
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    roots: Option<Vec<PathBuf>>,
    timeouts: FileTimeouts,
    roster: FileRoster,
    watch: FileWatch,
    store: FileStore,
    archive: FileArchive,
    alerts: FileAlerts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileTimeouts {
    approval: Option<Span>,
    stale: Option<Span>,
    idle: Option<Span>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileRoster {
    recent: Option<Span>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileWatch {
    mode: Mode,
    poll_interval: Option<Span>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileStore {
    /// Bytes of a tool's input or output, or of a thought, that are stored.
    cut: Option<usize>,
    /// Patterns of paths of which nothing is stored.
    exclude: Vec<PathBuf>,
    /// Tools whose calls are no activities, instead of the usual ones.
    skip_tools: Option<Vec<String>>,
    /// Folders of plans, beside the usual ones.
    plan_folders: Vec<PathBuf>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileArchive {
    enabled: bool,
    budget: Option<Size>,
    keep: Option<Span>,
    after: Option<Span>,
    level: Option<i32>,
}

/// Bytes, or a number with a unit: `5000000`, `"500MB"`, `"5GB"`.
#[derive(Debug, Clone, Copy)]
struct Size(u64);

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Bytes(u64),
            Text(String),
        }
        let size = match Form::deserialize(from)? {
            Form::Bytes(bytes) => Some(bytes),
            Form::Text(text) => parse_size(&text),
        };
        size.filter(|bytes| *bytes > 0).map(Self).ok_or_else(|| {
            serde::de::Error::custom(
                "expected a size above zero: bytes, or a number with a unit, such as \"5GB\"",
            )
        })
    }
}

fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim().to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Auto,
    Native,
    Poll,
}

/// Seconds, or a number with a unit: `90`, `"90s"`, `"10m"`, `"24h"`, `"500ms"`, `"2d"`.
#[derive(Debug, Clone, Copy)]
struct Span(Millis);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Whole(i64),
            Part(f64),
            Text(String),
        }
        let span = match Form::deserialize(from)? {
            Form::Whole(secs) => secs.checked_mul(1000),
            #[allow(clippy::cast_possible_truncation, reason = "the range is checked below")]
            Form::Part(secs) => (secs.abs() < 1e12).then_some((secs * 1000.0) as i64),
            Form::Text(text) => parse_span(&text),
        };
        match span {
            Some(millis) if millis > 0 => Ok(Self(Millis(millis))),
            _ => Err(serde::de::Error::custom(
                "expected a time above zero: seconds, or a number with a unit, such as \"10m\"",
            )),
        }
    }
}

fn parse_span(text: &str) -> Option<i64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    text[..digits].parse::<i64>().ok()?.checked_mul(unit)
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
    fn the_file_takes_seconds_and_units_and_refuses_the_rest() {
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

        std::fs::write(&path, "[timeouts]\napproval = \"soon\"\n").unwrap();
        let wrong = with(&[("HOME", "/home/dev")], given.clone()).unwrap_err().to_string();
        assert!(wrong.contains("config.toml") && wrong.contains("line 2, column 12"), "{wrong}");
        assert_eq!(wrong.lines().count(), 1, "{wrong}");
        std::fs::write(&path, "[timeout]\n").unwrap();
        assert!(with(&[("HOME", "/home/dev")], given).is_err(), "a misspelt table is named, not ignored");
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
