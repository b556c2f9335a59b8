//! How a process of Claude Code is known, and the variables that it sets for its hooks.

use std::ffi::OsString;
use std::path::PathBuf;

use super::layout::SESSIONS;
use crate::{Agent, folder_of};

/// The variable with the folder of the project in which a hook runs. It stays when the agent changes its folder.
pub const PROJECT_VARIABLE: &str = "CLAUDE_PROJECT_DIR";

/// Signs that identify the agent among processes.
#[derive(Debug, Clone, Default)]
pub struct ClientSigns {
    /// The process id that the agent gives its hooks (`CLAUDE_PID`, seen in 2.1.329).
    pub pid: Option<u32>,
    /// The agent's folder, where it registers its live sessions.
    pub config: Option<PathBuf>,
}

impl ClientSigns {
    /// Reads the signs from a hook's environment. It finds the folder as the agent does.
    pub fn from_env(env: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let pid = env("CLAUDE_PID").and_then(|pid| pid.to_str()?.parse().ok());
        Self { pid, config: folder_of(Agent::Claude, env) }
    }

    /// Whether a process is the agent by its id or its name. The given process id counts only among the ancestors of a hook,
    /// because processes that the agent starts inherit the variable.
    pub fn name(&self, pid: u32, name: &str) -> bool {
        self.pid == Some(pid) || name.starts_with("claude")
    }

    /// Where a process of this id would be registered.
    pub fn registered_at(&self, pid: u32) -> Option<PathBuf> {
        Some(self.config.as_ref()?.join(SESSIONS).join(format!("{pid}.json")))
    }
}

/// Whether a process of this name runs scripts, of which the agent may be one.
pub fn runs_scripts(name: &str) -> bool {
    matches!(name, "node" | "MainThread" | "bun")
}

/// Whether one of the first words of a command line names the agent.
pub fn is_in_command_line(words: &[String]) -> bool {
    words.iter().take(3).any(|word| word.contains("claude"))
}

/// Whether the agent of a hook opens no dialogs: it runs in print mode, or a program uses its library. The agent sets the
/// variable for its hooks (`sdk-cli`, `sdk-ts`; seen in 2.1.329).
pub fn has_no_dialogs(env: &dyn Fn(&str) -> Option<OsString>) -> bool {
    env("CLAUDE_CODE_ENTRYPOINT").is_some_and(|word| word.to_string_lossy().starts_with("sdk"))
}
