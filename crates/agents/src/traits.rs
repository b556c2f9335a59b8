//! What an agent is, as data. Code outside this crate asks the traits, never the name.

use std::ffi::OsString;
use std::path::PathBuf;

pub use watchbill_core::ids::Agent;

use crate::{claude, codex, gemini};

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
    /// Documents of a project that it reads at each start, below the project's folder.
    pub instructions: &'static [&'static str],
}

/// The traits of an agent.
pub fn traits(agent: Agent) -> &'static Traits {
    match agent {
        Agent::Claude => &claude::TRAITS,
        Agent::Codex => &codex::TRAITS,
        Agent::Gemini => &gemini::TRAITS,
    }
}

/// The agent's folder, found in an environment as the agent finds it.
pub fn folder_of(agent: Agent, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let traits = traits(agent);
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    traits.folder_variable.and_then(set).or_else(|| Some(set("HOME")?.join(traits.folder)))
}
