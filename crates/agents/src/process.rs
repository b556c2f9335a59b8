//! How the process of an agent is known, and what it tells its hooks in variables.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::claude::layout::registry_file;
use crate::{Agent, folder_of, traits};

/// An environment: the value of a variable.
type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// Signs that identify an agent among processes.
#[derive(Debug, Clone, Default)]
pub struct ClientSigns {
    agent: Agent,
    /// The process id that the agent gives its hooks.
    pub pid: Option<u32>,
    /// The agent's folder, where it registers its live sessions.
    pub config: Option<PathBuf>,
}

impl ClientSigns {
    /// Reads the signs from a hook's environment. It finds the folder as the agent does.
    pub fn from_env(agent: Agent, env: Environment<'_>) -> Self {
        let pid = traits(agent).pid_variable.and_then(env).and_then(|pid| pid.to_str()?.parse().ok());
        Self { agent, pid, config: folder_of(agent, env) }
    }

    /// Whether a process is the agent by its id or its name. The given process id counts only among the ancestors of a hook,
    /// because processes that the agent starts inherit the variable.
    pub fn name(&self, pid: u32, name: &str) -> bool {
        self.pid == Some(pid) || name.starts_with(traits(self.agent).program)
    }

    /// Where a process of this id would be registered.
    pub fn registered_at(&self, pid: u32) -> Option<PathBuf> {
        Some(registry_file(self.config.as_ref()?, pid))
    }

    /// Whether one of the first words of a command line names the agent.
    pub fn is_in_command_line(&self, words: &[String]) -> bool {
        words.iter().take(3).any(|word| word.contains(traits(self.agent).program))
    }
}

/// Whether a process of this name runs scripts, of which an agent may be one.
pub fn runs_scripts(name: &str) -> bool {
    matches!(name, "node" | "MainThread" | "bun")
}

/// Whether the agent of a hook opens no dialogs: it runs in print mode, or a program uses its library.
pub fn has_no_dialogs(agent: Agent, env: Environment<'_>) -> bool {
    traits(agent).without_dialogs.is_some_and(|(variable, beginning)| {
        env(variable).is_some_and(|word| word.to_string_lossy().starts_with(beginning))
    })
}

/// The folder of the project in which a hook runs. It stays when the agent changes its folder.
pub fn project(agent: Agent, env: Environment<'_>) -> Option<String> {
    env(traits(agent).project_variable?)?.into_string().ok()
}
