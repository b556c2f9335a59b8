//! The precedence of settings: options, then environment, then file, then defaults.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use watchbill_agents::PLAN_FOLDERS;
use watchbill_agents::layout::{ROOT_OPTION, ROOT_VARIABLE};
use watchbill_agents::{Agent, HOME, Root, folder_of, traits};
use watchbill_core::history::{ArchiveSettings, Exclude, HistorySettings, RecoverySettings};
use watchbill_core::memory::{AcceptRule, ContextChoice, MemorySettings, ModelSettings};
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_protocol::settings::{Setting, SettingKey, SettingSource, SettingValue};
use watchbill_watch::WatchMethod;

use crate::symlinks::DiskLinks;

use crate::alerts;
use crate::file_values::FileValues;
use crate::settings::{
    CommandLineOptions, Environment, ServiceSettings, Settings, SettingsError, Theme, TrayColours,
    WindowSettings,
};
use crate::table::{MICROS_PER_CENT, default};
use crate::values::Value;

/// All sources of settings except the file. They stay as they were at the start.
#[derive(Debug)]
pub(crate) struct FixedSources {
    roots: Vec<Root>,
    /// `WATCHBILL_CLAUDE_DIR`.
    listed: Option<Vec<Root>>,
    /// The agent's own variable: the file ranks before it.
    of_client: Option<PathBuf>,
    /// The agents' folders, found as the agents find them, and whether each was missing at the start.
    usual: Vec<(Root, bool)>,
    home: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    /// The configuration file.
    pub file: Option<PathBuf>,
    /// The user named the file, so it must exist.
    pub named: bool,
}

/// The agents' folders.
struct RootsFound<'s> {
    roots: Vec<Root>,
    /// See [`Settings::awaited`].
    awaited: Vec<Root>,
    source: SettingSource,
    /// The option or variable that fixes them, if any.
    by: Option<&'s str>,
}

impl FixedSources {
    pub(crate) fn of(given: &CommandLineOptions, env: Environment<'_>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        // Paths become absolute: they must mean the same after a change of the working folder, and in a program
        // that is started elsewhere.
        let whole = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let path = |name: &str| set(name).map(PathBuf::from).map(whole);
        let dirs = directories::ProjectDirs::from("", "", "watchbill");
        let named = given.config.clone().or_else(|| path("WATCHBILL_CONFIG"));
        let usual_file = || dirs.as_ref().map(|dirs| dirs.config_dir().join("config.toml"));
        let home = path(HOME).or_else(|| directories::BaseDirs::new().map(|dirs| dirs.home_dir().into()));
        let below_home = |agent| Some(home.as_ref()?.join(traits(agent).folder));
        let found = |agent| folder_of(agent, env).map(whole).or_else(|| below_home(agent));
        let usual = Agent::ALL.into_iter().filter_map(|agent| Some(Root::new(agent, found(agent)?)));
        let usual = usual.map(|root| (root.clone(), !root.is_dir())).collect();
        Self {
            roots: given.roots.clone(),
            listed: set(ROOT_VARIABLE).map(|list| {
                let named = std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty());
                named
                    .map(|path| Root::parse(path.as_os_str()))
                    .map(|root| root.at(whole(root.to_path_buf())))
                    .collect()
            }),
            usual,
            of_client: traits(Agent::default()).folder_variable.and_then(|(name, _)| path(name)),
            home,
            data_dir: given
                .data_dir
                .clone()
                .or_else(|| path("WATCHBILL_DATA_DIR"))
                .or_else(|| dirs.as_ref().map(|dirs| dirs.data_local_dir().to_path_buf())),
            named: named.is_some(),
            file: named.or_else(usual_file).map(whole),
        }
    }

    /// The agents' folders, those that are missing by no fault of the user, and where the first came from.
    fn roots(&self, values: &FileValues) -> Result<RootsFound<'_>, SettingsError> {
        let (mut roots, source, by) = if !self.roots.is_empty() {
            // A shell leaves `~` behind `=` as it is.
            let full = |root: &Root| match root.starts_with("~") {
                true => root.at(self.full(&root.to_string_lossy())),
                false => root.clone(),
            };
            (self.roots.iter().map(full).collect(), SettingSource::Option, Some(ROOT_OPTION))
        } else if let Some(list) = &self.listed {
            (list.clone(), SettingSource::Environment, Some(ROOT_VARIABLE))
        } else if let Some(Value::List(list)) = values.0.get(&SettingKey::Roots) {
            (list.iter().map(|path| self.root(path)).collect(), SettingSource::File, None)
        } else if let Some(dir) = &self.of_client {
            (vec![dir.into()], SettingSource::Environment, None)
        } else {
            let home = self.home.as_ref().ok_or(SettingsError::NoHome)?;
            (vec![home.join(traits(Agent::default()).folder).into()], SettingSource::Default, None)
        };
        if roots.is_empty() {
            return Err(SettingsError::NoRoots);
        }
        // The folders of agents that are not named are found by themselves.
        let is_named = |root: &Root| roots.iter().any(|named| named.agent == root.agent);
        let awaited: Vec<Root> = self
            .usual
            .iter()
            .filter(|(root, missing)| *missing && (source == SettingSource::Default || !is_named(root)))
            .map(|(root, _)| root.clone())
            .collect();
        let found = self.usual.iter().filter(|(root, missing)| !missing && !is_named(root));
        let found: Vec<Root> = found.map(|(root, _)| root.clone()).collect();
        roots.extend(found);
        // An agent without a folder is not watched.
        roots.retain(|root| !root.as_os_str().is_empty());
        if roots.iter().any(|root| !awaited.contains(root)) {
            roots.retain(|root| !awaited.contains(root));
        }
        Ok(RootsFound { roots, awaited, source, by })
    }

    /// The root that a line of the file names, with `~` expanded.
    fn root(&self, text: &str) -> Root {
        let root = Root::parse(text.as_ref());
        root.at(self.full(&root.to_string_lossy()))
    }

    /// The path with `~` expanded.
    fn full(&self, path: &str) -> PathBuf {
        let path = Path::new(path);
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// Builds the settings, without problems and doubt.
    ///
    /// # Errors
    /// When no folder of the agent can be found.
    pub(crate) fn settle(&self, values: &FileValues) -> Result<Settings, SettingsError> {
        let RootsFound { roots, awaited, .. } = self.roots(values)?;
        let history = self.history(values, &roots);
        let full = |path: String| self.full(&path).to_string_lossy().into_owned();
        Ok(Settings {
            data_dir: self.data_dir.clone(),
            timeouts: Timeouts {
                approval: values.span(SettingKey::TimeoutsApproval),
                stale: values.span(SettingKey::TimeoutsStale),
                idle: values.span(SettingKey::TimeoutsIdle),
            },
            recent: values.span(SettingKey::RosterRecent),
            watch: watch(values),
            history,
            recovery: recovery(values),
            archive: archive(values),
            alerts: alerts::settle(values, full),
            prices: values.list(SettingKey::PricesOwn),
            window: window(values),
            scripts_answer: values.flag(SettingKey::AnswersScripts),
            memory: memory(values),
            service: service(values),
            awaited,
            ..Settings::for_roots(roots)
        })
    }

    fn history(&self, values: &FileValues, roots: &[Root]) -> HistorySettings {
        let full = |path: String| self.full(&path).to_string_lossy().into_owned();
        let plan_folders = values.list(SettingKey::StorePlanFolders).into_iter().map(full);
        let own = roots.iter().map(|root| root.join("plans").to_string_lossy().into_owned());
        HistorySettings {
            plan_folders: PLAN_FOLDERS
                .map(str::to_owned)
                .into_iter()
                .chain(plan_folders)
                .chain(own)
                .collect(),
            cut: usize::try_from(values.number(SettingKey::StoreCut)).unwrap_or(usize::MAX),
            skip: values.list(SettingKey::StoreSkipTools),
            exclude: Exclude::new(values.list(SettingKey::StoreExclude).into_iter().map(full)).on_disk(
                self.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
                Arc::new(DiskLinks::default()),
            ),
            ..HistorySettings::default()
        }
    }

    /// Every setting with its source.
    pub(crate) fn view(&self, values: &FileValues) -> Vec<Setting> {
        let one = |key: &SettingKey| {
            let value = values.0.get(key);
            let default = default(*key).wire();
            let source = if value.is_some() { SettingSource::File } else { SettingSource::Default };
            let value = value.map_or_else(|| default.clone(), Value::wire);
            let mut setting = Setting { key: *key, value, default, source, fixed_by: None };
            if *key == SettingKey::Roots
                && let Ok(RootsFound { roots, source, by, .. }) = self.roots(values)
                && matches!(source, SettingSource::Option | SettingSource::Environment)
            {
                let roots = roots.iter().map(|root| root.named().to_string_lossy().into_owned());
                setting.value = SettingValue::List(roots.collect());
                setting.source = source;
                setting.fixed_by = by.map(str::to_owned);
            }
            setting
        };
        SettingKey::ALL.iter().map(one).collect()
    }
}

fn watch(values: &FileValues) -> WatchMethod {
    match &*values.word(SettingKey::WatchMode) {
        "native" => WatchMethod::Native,
        "poll" => {
            let interval = u64::try_from(values.span(SettingKey::WatchPollInterval).0).unwrap_or(2_000);
            // Polling without a pause would keep the whole machine busy.
            WatchMethod::Poll(Duration::from_millis(interval.max(100)))
        }
        _ => WatchMethod::Auto,
    }
}

fn recovery(values: &FileValues) -> RecoverySettings {
    RecoverySettings {
        stuck: values.span(SettingKey::RecoveryStuck),
        stale: values.span(SettingKey::RecoveryStale),
        // Each check is a step of the store.
        every: values.span(SettingKey::RecoveryEvery).max(Millis::from_secs(1)),
    }
}

fn archive(values: &FileValues) -> ArchiveSettings {
    let usual = ArchiveSettings::default();
    ArchiveSettings {
        enabled: values.flag(SettingKey::ArchiveEnabled),
        budget: match values.value(SettingKey::ArchiveBudget) {
            Value::Size(bytes) => bytes,
            _ => usual.budget,
        },
        keep: match values.value(SettingKey::ArchiveKeep) {
            Value::Span(span) => Some(span),
            _ => None,
        },
        after: values.span(SettingKey::ArchiveAfter),
        level: i32::try_from(values.number(SettingKey::ArchiveLevel)).unwrap_or(usual.level),
    }
}

fn memory(values: &FileValues) -> MemorySettings {
    MemorySettings {
        enabled: values.flag(SettingKey::MemoryEnabled),
        accept: match &*values.word(SettingKey::MemoryAccept) {
            "person" => AcceptRule::Person,
            "all" => AcceptRule::All,
            _ => AcceptRule::Rules,
        },
        context: match &*values.word(SettingKey::MemoryContext) {
            "files" => ContextChoice::Files,
            "all" => ContextChoice::All,
            _ => ContextChoice::Off,
        },
        session_tokens: usize::try_from(values.number(SettingKey::MemorySessionTokens)).unwrap_or_default(),
        model: model(values),
    }
}

fn model(values: &FileValues) -> ModelSettings {
    let word = |key| values.word(key).trim().to_owned();
    let number = |key| u64::try_from(values.number(key)).unwrap_or_default();
    ModelSettings {
        base_url: word(SettingKey::ModelBaseUrl),
        name: word(SettingKey::ModelName),
        key_file: word(SettingKey::ModelKeyFile),
        agent: values.flag(SettingKey::ModelAgent),
        timeout: values.span(SettingKey::ModelTimeout),
        daily_tokens: number(SettingKey::ModelDailyTokens),
        daily_micro_usd: number(SettingKey::ModelDailyCents).saturating_mul(MICROS_PER_CENT),
    }
}

fn service(values: &FileValues) -> ServiceSettings {
    ServiceSettings {
        http: values.flag(SettingKey::ServiceHttp),
        port: u16::try_from(values.number(SettingKey::ServicePort)).unwrap_or_default(),
        accept: values.flag(SettingKey::ServiceAccept),
    }
}

fn window(values: &FileValues) -> WindowSettings {
    WindowSettings {
        theme: match &*values.word(SettingKey::WindowTheme) {
            "light" => Theme::Light,
            "dark" => Theme::Dark,
            _ => Theme::System,
        },
        always_on_top: values.flag(SettingKey::WindowAlwaysOnTop),
        tray: match &*values.word(SettingKey::WindowTray) {
            "dark" => TrayColours::Dark,
            "light" => TrayColours::Light,
            _ => TrayColours::Own,
        },
        shortcut: Some(values.word(SettingKey::WindowShortcut)).filter(|shortcut| !shortcut.is_empty()),
    }
}
