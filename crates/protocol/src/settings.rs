//! The settings in force, the source of each, and the mistakes in the configuration file.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// Declares the keys once: variant, name in the file, description.
macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal),+ $(,)?) => {
        /// Every setting that the configuration file knows, by table and name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
        pub enum SettingKey {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+
        }

        impl SettingKey {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in the file: `timeouts.idle` is `idle` under `[timeouts]`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

keys! {
    /// The agent's folders, instead of --claude-dir.
    Roots = "roots",
    /// A tool call without a result counts as waiting for permission after this time, if nothing better is known.
    TimeoutsApproval = "timeouts.approval",
    /// A silent turn counts as over after this time.
    TimeoutsStale = "timeouts.stale",
    /// A silent session is idle after this time.
    TimeoutsIdle = "timeouts.idle",
    /// Sessions that don't run any more stay in the roster this long.
    RosterRecent = "roster.recent",
    /// How changes are noticed: auto, native or poll.
    WatchMode = "watch.mode",
    /// How often folders are polled if the mode is poll.
    WatchPollInterval = "watch.poll_interval",
    /// Bytes of a tool's input or output that can be searched; 0: none.
    StoreCut = "store.cut",
    /// Sessions that work in these folders are not stored, nor are tool calls on files there.
    StoreExclude = "store.exclude",
    /// Calls of these tools are no activities of a prompt; search finds their texts all the same.
    StoreSkipTools = "store.skip_tools",
    /// Markdown files in these folders are plans, beside those in the agents' own plan folders.
    StorePlanFolders = "store.plan_folders",
    /// Keeps transcripts, compressed, that the agent's own clean-up will remove.
    ArchiveEnabled = "archive.enabled",
    /// The most that the archive may take.
    ArchiveBudget = "archive.budget",
    /// The archive gives up transcripts older than this; never: only the budget limits it.
    ArchiveKeep = "archive.keep",
    /// A transcript is archived when it has been unchanged for this long.
    ArchiveAfter = "archive.after",
    /// How hard archived transcripts are compressed, 1 to 19.
    ArchiveLevel = "archive.level",
    /// A stored turn without a sign for this long is stored as over.
    RecoveryStuck = "recovery.stuck",
    /// A stored session without a sign for this long is stored as over.
    RecoveryStale = "recovery.stale",
    /// The shortest time between two checks for such turns and sessions.
    RecoveryEvery = "recovery.every",
    /// Alerts for permission requests.
    AlertsApproval = "alerts.approval",
    /// Alerts for questions.
    AlertsQuestion = "alerts.question",
    /// Alerts for plans that wait for approval.
    AlertsPlan = "alerts.plan",
    /// Alerts for other dialogs that wait.
    AlertsDialog = "alerts.dialog",
    /// Alerts for sessions that failed.
    AlertsError = "alerts.error",
    /// Alerts for turns that ended.
    AlertsFinished = "alerts.finished",
    /// Alerts for each call that the agent's reviewer refused.
    AlertsRefused = "alerts.refused",
    /// Alerts when the reviewer refused three calls in a row, or is unavailable.
    AlertsRefusedInARow = "alerts.refused_in_a_row",
    /// An alert when so much of a plan's limit is used, in percent; 0: none.
    AlertsLimit = "alerts.limit",
    /// How long a need must last before an alert comes.
    AlertsDwell = "alerts.dwell",
    /// No alerts in these hours of the day.
    AlertsQuietHours = "alerts.quiet_hours",
    /// No alerts for these projects: names, or folders.
    AlertsMuted = "alerts.muted",
    /// Alerts make a sound.
    AlertsSound = "alerts.sound",
    /// Own prices, before the list: model, then dollars for a million tokens of input, output, cache write, cache read.
    PricesOwn = "prices.own",
    /// The window's colours: system, light or dark.
    WindowTheme = "window.theme",
    /// The window stays above all others.
    WindowAlwaysOnTop = "window.always_on_top",
    /// The icon in the tray: colour, or one colour that is dark or light.
    WindowTray = "window.tray",
    /// A key that opens the window from anywhere, such as Ctrl+Alt+W; empty: none.
    WindowShortcut = "window.shortcut",
    /// Views of the roster that the palette offers: `NAME = FILTER`.
    WindowViews = "window.views",
    /// The window offers to install hooks where none are.
    HooksOffer = "hooks.offer",
    /// Scripts may answer requests: `watchbill answer` works without a terminal. An agent may not in any case.
    AnswersScripts = "answers.scripts",
    /// Rules find in stored sessions what later ones can use.
    MemoryEnabled = "memory.enabled",
    /// Which findings count without you: person (none), rules, all.
    MemoryAccept = "memory.accept",
    /// What an agent with the hook of `hooks install --context` is told: off, files, all.
    MemoryContext = "memory.context",
    /// Tokens that one session is told at most.
    MemorySessionTokens = "memory.session_tokens",
    /// The address of a model that looks at ended turns, such as http://127.0.0.1:11434/v1; empty: none.
    ModelBaseUrl = "model.base_url",
    /// The model's name at its address, or the agent's name for it.
    ModelName = "model.name",
    /// The file with the key for the address; empty: no key.
    ModelKeyFile = "model.key_file",
    /// Without an address, ask your own agent in print mode. It counts against your plan.
    ModelAgent = "model.agent",
    /// How long one answer may take.
    ModelTimeout = "model.timeout",
    /// The most tokens of a day, questions and answers together.
    ModelDailyTokens = "model.daily_tokens",
    /// The most cents (US) of a day, as far as the agent says what it costs.
    ModelDailyCents = "model.daily_cents",
    /// Serve HTTP on loopback while Watchbill runs: true, false.
    ServiceHttp = "service.http",
    /// The port of the service; 0: a free one.
    ServicePort = "service.port",
    /// Take events over HTTP, for the history: true, false.
    ServiceAccept = "service.accept",
}

/// A setting's value. Spans of time are text such as `10m`, sizes such as `5GB`, hours such as `22:00-07:00`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(untagged)]
pub enum SettingValue {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A word, a span of time, a size.
    Text(String),
    /// Folders, names, hours.
    List(Vec<String>),
}

/// The source of a setting's value; an earlier variant wins over a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    /// An option of this start of the program.
    Option,
    /// An environment variable.
    Environment,
    /// The configuration file.
    File,
    /// No source names it: the documented default.
    Default,
}

/// One setting in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Setting {
    /// The key.
    pub key: SettingKey,
    /// The value.
    pub value: SettingValue,
    /// The value if no source names one.
    pub default: SettingValue,
    /// Where the value comes from.
    pub source: SettingSource,
    /// The option or variable that fixes the value. Then the file cannot change it, and the window does not try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_by: Option<String>,
}

/// A mistake in the configuration file. The last correct value counts instead.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SettingProblem {
    /// The setting, if it is a known one.
    pub key: Option<SettingKey>,
    /// Counted from 1; absent if the whole file cannot be read.
    pub line: Option<u64>,
    /// In characters, counted from 1.
    pub column: Option<u64>,
    /// The expected and the found value, or the system's error.
    pub message: String,
}

impl std::fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(key) = self.key {
            write!(f, "{}: ", key.name())?;
        }
        f.write_str(&self.message)
    }
}

/// All settings, their file, and the mistakes in it.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SettingsView {
    /// The configuration file, existing or not. Absent if no folder for it is known.
    pub path: Option<String>,
    /// Whether the file exists.
    pub exists: bool,
    /// Where Watchbill keeps its own files, if anywhere.
    pub data_dir: Option<String>,
    /// Every setting once, in the order of the documentation.
    pub settings: Vec<Setting>,
    /// The mistakes, in the order of the file.
    pub problems: Vec<SettingProblem>,
}

/// A change of one setting by the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingChange {
    /// The key.
    pub key: SettingKey,
    /// The new value; `null`: no value in the file.
    pub value: Option<SettingValue>,
}

/// The space that archiving transcripts would take and save, so that the user can decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ArchiveOffer {
    /// Transcripts that would be archived.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The bytes that the archive would take, estimated from some of them.
    pub expected: u64,
    /// The agent removes a transcript after this many days.
    pub cleanup_days: i64,
    /// Transcripts that the agent will remove within a week.
    pub soon: u64,
    /// When it may remove the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_at: Option<String>,
}

/// The service over HTTP, for the settings window.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct ServiceState {
    /// Where it listens. Absent if it does not run.
    pub address: Option<String>,
    /// What a client has to know.
    pub token: Option<String>,
    /// Why it does not run, although it is wanted.
    pub problem: Option<String>,
}
