//! What an agent is, as data. Code outside this crate asks the traits, never the name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::evidence::registry::RegistryStatus;
use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::SessionId;
use watchbill_core::requests::request::SuggestedRule;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::payloads::Payloads;
use watchbill_core::transcript::record::Record;
use watchbill_core::transcript::report::LineReport;

use crate::claude::install::Event;
use crate::paths::{ClientPath, ClientPathKind};

/// What an agent is.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// The name that a person reads.
    pub title: &'static str,
    /// Its program, as a shell finds it.
    pub program: &'static str,
    /// Its folder: below the home folder, and below a project.
    pub folder: &'static str,
    /// The variable that names another folder than the one below the home folder, and the folder's path below that.
    pub folder_variable: Option<(&'static str, &'static str)>,
    /// The words that resume a session in a shell; the session's id follows, after a blank or right behind `=`.
    pub resume: &'static str,
    /// The words that show a background session in a shell, before the id of its job; empty: it has none.
    pub attach: &'static str,
    /// A start gives the session its id. Other agents name their sessions themselves.
    pub takes_session_id: bool,
    /// The same where only a start in a terminal does.
    pub terminal_takes_session_id: bool,
    /// How its files lie.
    pub layout: &'static Layout,
    /// How it runs hooks; `None` for an agent whose hooks are not heard.
    pub hooks: Option<&'static HookTraits>,
    /// Its transcripts tell of a turn all that its hooks tell, two seconds later at most.
    pub transcript_follows_hooks: bool,
    /// Its own sessions have the transcripts that it writes. Otherwise their hosts write one.
    pub writes_transcripts: bool,
    /// Whether an agent of this version and entrypoint has a registry file while it runs.
    pub expects_registry: fn(Option<&str>, Option<&str>) -> bool,
    /// The variable with the agent's process id that it sets for its hooks.
    pub pid_variable: Option<&'static str>,
    /// The variable with the project's folder that it sets for its hooks and commands.
    pub project_variable: Option<&'static str>,
    /// The variable that it sets for its hooks, and how its value begins when the agent opens no dialogs.
    pub without_dialogs: Option<(&'static str, &'static str)>,
    /// How the entrypoint of a session begins that a program started.
    pub program_starts: &'static [&'static str],
    /// The rule that would allow a call of this tool on this target, in the agent's notation, and where it belongs.
    pub allow_rule: fn(&str, &str) -> Option<SuggestedRule>,
    /// Documents of a project that it reads at each start, below the project's folder.
    pub instructions: &'static [&'static str],
}

impl Traits {
    /// Whether a program started a session with this entrypoint, and no person can answer it.
    pub fn is_of_program(&self, entrypoint: &str) -> bool {
        self.program_starts.iter().any(|beginning| entrypoint.starts_with(beginning))
    }

    /// An agent of which only the files are known. Each names itself, its folder and its layout.
    pub(crate) const OF_FILES: Self = Self {
        title: "",
        program: "",
        folder: "",
        folder_variable: None,
        resume: "",
        attach: "",
        takes_session_id: false,
        terminal_takes_session_id: false,
        layout: &Layout::OF_FILES,
        hooks: None,
        transcript_follows_hooks: false,
        writes_transcripts: false,
        expects_registry: |_, _| false,
        pid_variable: None,
        project_variable: None,
        without_dialogs: None,
        program_starts: &[],
        allow_rule: |_, _| None,
        instructions: &["AGENTS.md"],
    };
}

/// How an agent runs hooks.
#[derive(Debug)]
pub struct HookTraits {
    /// Reads what it writes to a hook.
    pub parse: fn(&[u8]) -> Result<HookPayload, HookError>,
    /// How settings and payloads differ in form from those of Claude Code; `None`: they do not.
    pub other_form: Option<&'static OtherForm>,
    /// A hook is a child of the session's process and has the environment of its terminal.
    pub are_of_process: bool,
    /// The settings that name the hooks: below the folder of the agent's settings, and below that of a project.
    pub settings: &'static str,
    /// The folder of the agent's settings, below the home folder, and the variable of another one with the path below that. `None`: it
    /// is the agent's folder.
    pub settings_folder: Option<(&'static str, (&'static str, &'static str))>,
    /// The folder of a project's settings.
    pub project_folder: &'static str,
    /// The program that runs the hooks, for an agent that runs none itself: a file of ours, which has the settings in it.
    pub plugin: Option<&'static str>,
    /// The user's own settings in a project.
    pub local_settings: Option<&'static str>,
    /// The settings of the machine's administrator.
    pub managed_settings: Option<&'static str>,
    /// The settings may have no comments.
    pub is_plain_json: bool,
    /// How a second is written as the timeout of a handler.
    pub second: u32,
    /// All events that the hooks subscribe to.
    pub events: &'static [Event],
    /// The event of handlers that wait for answers. `None`: the agent takes no answer from outside.
    pub answer_event: Option<&'static Event>,
    /// How long such a handler waits, in seconds, where the agent opens its dialog only afterwards.
    pub answer_wait: Option<u64>,
    /// An answer can stop the turn, change the call, or add rules. Otherwise it only allows or denies.
    pub takes_rules: bool,
    /// An answer can choose options of a question.
    pub takes_choices: bool,
    /// The events of handlers that tell the agent what was learned. Empty: none can.
    pub context_events: &'static [Event],
    /// The key of settings that names the command of the status line. `None`: the agent has none.
    pub status_line: Option<&'static str>,
    /// What no other witness tells, as the object of a sentence. `None`: hooks tell it sooner, or more surely.
    pub alone_tell: Option<&'static str>,
    /// What the person should know of an installation.
    pub note: Option<&'static str>,
    /// How the person trusts the hooks, if the agent runs none before.
    pub trust: Option<&'static Trust>,
}

impl HookTraits {
    /// Settings in JSON without comments, whose hooks only tell. Each agent names its parser, its settings and its events.
    pub(crate) const OF_SETTINGS: Self = Self {
        parse: |_| Err(HookError::Malformed),
        other_form: None,
        are_of_process: true,
        settings: "",
        settings_folder: None,
        project_folder: "",
        plugin: None,
        local_settings: None,
        managed_settings: None,
        is_plain_json: true,
        second: 1,
        events: &[],
        answer_event: None,
        answer_wait: None,
        takes_rules: false,
        takes_choices: false,
        context_events: &[],
        status_line: None,
        alone_tell: None,
        note: None,
        trust: None,
    };
}

/// Hooks whose settings and payloads have a form of their own. The handlers lie in the lists of events themselves, not in groups.
#[derive(Debug)]
pub struct OtherForm {
    /// What a settings file has beside its hooks. Its blank before the colon marks it as ours: an editor writes none.
    pub head: &'static str,
    /// Writes a payload in the form of Claude Code's. `None`: it is no event. No payload is kept in the agent's own form.
    pub translate: fn(&[u8]) -> Option<Vec<u8>>,
    /// The field of what a hook prints that tells the agent something.
    pub context_field: &'static str,
}

/// How a person trusts new hooks.
#[derive(Debug)]
pub struct Trust {
    /// The file below the agent's folder that says so.
    pub file: &'static str,
    /// Whether it does: its text, and the settings, event, group and place of a handler.
    pub is_given: fn(&str, &str, &str, usize, usize) -> bool,
    /// What the person does, in words.
    pub how: &'static str,
}

/// Reads a line of a transcript, without its newline. Never fails: problems go into the report.
pub type Parser = fn(&[u8], RecordSink<'_>) -> LineReport;

/// Takes the records of a line, each with its payloads.
pub type RecordSink<'s> = &'s mut dyn FnMut(Record<'_>, &dyn Payloads<'_>);

/// The layout of an agent's folder. Paths are relative to it.
#[derive(Debug)]
pub struct Layout {
    /// The folders that can hold the agent's files.
    pub folders: &'static [TopFolder],
    /// The one of them that has a file for each process, or a locked one for each session that runs, if there is one.
    pub registry: Option<&'static str>,
    /// The path of a session's lock. `None`: the files of the registry tell their processes themselves.
    pub lock_of: Option<fn(&SessionId) -> PathBuf>,
    /// The server that tells the states of its sessions, if the agent has one.
    pub server: Option<&'static StatusServer>,
    /// The database that has its sessions, if they are in no files.
    pub database: Option<&'static Database>,
    /// The file with the names that users gave to sessions, if the agent has one.
    pub names: Option<&'static NamesFile>,
    /// The meaning of a path. `None` for each file that Watchbill must not read.
    pub classify: fn(&Path) -> Option<ClientPath>,
    /// The kind of the same, without allocating its names. `None`: the agent's folder has so few files that this saves nothing.
    pub kind_of: Option<fn(&Path) -> Option<ClientPathKind>>,
    /// Whether a folder can hold the agent's files.
    pub may_hold: fn(&Path) -> bool,
    /// Whether nothing is lost if the path cannot be read.
    pub may_miss: fn(&Path) -> bool,
    /// Whether a path is a copy of a transcript that a sync tool, a backup or a person has made beside it.
    pub is_copy: fn(&Path) -> bool,
    /// The meaning of a whole path below a root that is not known.
    pub find: fn(&Path) -> Option<ClientPath>,
    /// What a path has of a session's id. Hooks and resumes have the whole id.
    pub name_of: fn(&str) -> &str,
    /// The file with the working folder of the transcript at a path, if no record names that.
    pub working_folder: fn(&Path) -> Option<PathBuf>,
    /// The folder of a transcript is named after its project.
    pub names_projects: bool,
    /// The agent removes old transcripts.
    pub removes_old: bool,
    /// Reads one line of a transcript.
    pub parse_line: Parser,
}

impl Layout {
    /// A layout without live files. Each agent says what its paths mean and how its lines are read.
    pub(crate) const OF_FILES: Self = Self {
        folders: &[],
        registry: None,
        lock_of: None,
        server: None,
        database: None,
        names: None,
        classify: |_| None,
        kind_of: None,
        may_hold: |_| true,
        may_miss: |_| false,
        is_copy: |_| false,
        find: |_| None,
        name_of: |id| id,
        working_folder: |_| None,
        names_projects: false,
        removes_old: false,
        parse_line: |_, _| LineReport::default(),
    };
}

/// A database of an agent, whose sessions are shown as transcripts in a folder at its own path.
///
/// A session is made of *units*: its own row, and each message with its parts. A unit is read anew when its time changes.
#[derive(Debug)]
pub struct Database {
    /// Its file, below the agent's folder.
    pub file: &'static str,
    /// Asks for all sessions: id, parent's id, time of the last change.
    pub sessions: &'static str,
    /// Asks for the own row of a session `?1`: id, time of the last change, number of its messages.
    pub session: &'static str,
    /// Asks for the newest messages of a session `?1`, at most `?2`, the newest one first. A row has the id, the time of the last
    /// change, the number of parts, and whether more is sure to follow. That is 0 for no, 1 for yes, 2
    /// for yes as long as it is the newest.
    pub units: &'static str,
    /// Asks for the rows of a unit `?1`: the fields of a [`Row`].
    pub rows: &'static str,
    /// Rows that follow the end of a turn within this time bring no line, in milliseconds.
    pub quiet: i64,
    /// The path of a session below the database, from its id and that of the first of its parents.
    pub path_of: fn(&str, Option<&str>) -> PathBuf,
    /// The id of the session at a path below the database.
    pub session_of: fn(&Path) -> Option<&str>,
    /// The lines that the rows of a unit are shown as.
    pub lines: fn(&[Row]) -> Vec<Line>,
}

/// A row of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Which table it is of.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// When it was made, in milliseconds.
    pub created: i64,
    /// Its content, as JSON.
    pub data: String,
}

/// A line of a transcript that is shown of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its place among the lines of the session: its time, in milliseconds.
    pub at: i64,
    /// The line, with its newline.
    pub text: String,
}

/// A file directly below a root with the names of sessions.
#[derive(Debug)]
pub struct NamesFile {
    /// Its name.
    pub name: &'static str,
    /// Reads it. Skips what it does not understand.
    pub read: fn(&[u8]) -> BTreeMap<SessionId, Arc<str>>,
}

/// A server of an agent on a local socket. It tells the states of sessions in WebSocket messages.
#[derive(Debug)]
pub struct StatusServer {
    /// The folder of its socket.
    pub folder: &'static str,
    /// The socket in this folder.
    pub socket: &'static str,
    /// The first messages to it, in order.
    pub questions: &'static [&'static str],
    /// Reads a message. `None`: it is not understood.
    pub read: fn(&[u8]) -> Option<ServerSaid>,
}

/// What a message of a server says.
#[derive(Debug, PartialEq, Eq)]
pub enum ServerSaid {
    /// Something happened; it may concern no session.
    News(Vec<ServerStatus>),
    /// The answer to a question, and what to ask because of it. One such question is asked at a time: a server's queue is the person's
    /// too.
    Answer {
        /// The states of sessions.
        statuses: Vec<ServerStatus>,
        /// The questions.
        questions: Vec<String>,
    },
    /// It takes no question now.
    Busy,
}

/// What a server says of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerStatus {
    /// The session.
    pub session: SessionId,
    /// Its status; `None` if the server does not run it, or has none for it.
    pub status: Option<RegistryStatus>,
    /// When the session changed last, in an answer. `None` for news.
    pub changed_at: Option<Timestamp>,
}

/// Whether a version is this one or a later one.
pub(crate) fn is_since(version: Option<&str>, since: (u32, u32, u32)) -> bool {
    let Some(version) = version else { return false };
    let mut parts = version.split('.').map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse::<u32>().unwrap_or(0)
    });
    let mut part = || parts.next().unwrap_or(0);
    (part(), part(), part()) >= since
}

/// A folder of transcripts or live files right below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopFolder {
    /// Its name.
    pub name: &'static str,
    /// Files lie in folders below it too.
    pub deep: bool,
}
