//! What an agent is, as data. Code outside this crate asks the traits, never the name.

/// What an agent is.
#[derive(Debug, Clone, Copy)]
pub struct Traits {
    /// The name that a person reads.
    pub title: &'static str,
    /// Its program, as a shell finds it.
    pub program: &'static str,
    /// Its folder: below the home folder, and below a project.
    pub folder: &'static str,
    /// The variable that names another folder than the one below the home folder.
    pub folder_variable: Option<&'static str>,
    /// The words that resume a session in a shell; the session's id follows.
    pub resume: &'static str,
    /// A start gives the session its id. Other agents name their sessions themselves.
    pub takes_session_id: bool,
    /// It writes transcripts that Watchbill reads.
    pub writes_transcripts: bool,
    /// The variable with the agent's process id that it sets for its hooks.
    pub pid_variable: Option<&'static str>,
    /// The variable with the project's folder that it sets for its hooks and commands.
    pub project_variable: Option<&'static str>,
    /// The variable that it sets for its hooks, and how its value begins when the agent opens no dialogs.
    pub without_dialogs: Option<(&'static str, &'static str)>,
    /// Documents of a project that it reads at each start, below the project's folder.
    pub instructions: &'static [&'static str],
}
