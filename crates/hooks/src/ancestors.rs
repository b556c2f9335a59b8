//! The processes above the sender: the agent among them, and the terminal they belong to.

use std::path::PathBuf;

use watchbill_core::ids::Instance;
use watchbill_platform::process::{self, Process};

use crate::envelope::Ancestor;

/// The most levels that are read: a client, its shells, a multiplexer, a terminal, a desktop.
const LEVELS: usize = 16;

/// The processes above a sender.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ancestry {
    /// Nearest first.
    pub ancestors: Vec<Ancestor>,
    /// The agent's process.
    pub agent: Option<Instance>,
    /// The terminal device of the nearest ancestor that has one. The agent's hooks have none themselves.
    pub tty: Option<String>,
}

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
    pub fn from_env(env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let pid = env("CLAUDE_PID").and_then(|pid| pid.to_str()?.parse().ok());
        let config = set("CLAUDE_CONFIG_DIR").or_else(|| Some(set("HOME")?.join(".claude")));
        Self { pid, config }
    }
}

/// Whether the agent of a hook opens no dialogs: it runs in print mode, or a program uses its library. The agent sets the
/// variable for its hooks (`sdk-cli`, `sdk-ts`; seen in 2.1.329).
pub fn has_no_dialogs(env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> bool {
    env("CLAUDE_CODE_ENTRYPOINT").is_some_and(|word| word.to_string_lossy().starts_with("sdk"))
}

/// Reads the processes above this one. Elsewhere than on Linux it is untried: at most the parent is known.
pub fn look(signs: &ClientSigns) -> Ancestry {
    let mut found = Ancestry::default();
    let Some(parent) = process::own_parent() else { return found };
    if !cfg!(target_os = "linux") {
        found.ancestors.push(Ancestor { pid: parent, start: None });
        return found;
    }
    for process in process::line(parent).take(LEVELS) {
        if found.agent.is_none() && is_agent(&process, signs) {
            found.agent =
                Some(Instance { pid: process.pid, proc_start: Some(process.start.as_str().into()) });
        }
        found.ancestors.push(Ancestor { pid: process.pid, start: process.start_ticks() });
        found.tty = found.tty.or(process.tty);
    }
    found
}

/// Whether a process is the agent. The agent gives its process id, or its process is named `claude`. Under Node.js
/// it may have neither sign, but then it has a registry file, or its command line names it. The given process id
/// counts only among ancestors, because processes that the agent starts inherit the variable.
fn is_agent(process: &Process, signs: &ClientSigns) -> bool {
    let pid = process.pid;
    if signs.pid == Some(pid) || process.name.starts_with("claude") {
        return true;
    }
    if signs.config.as_ref().is_some_and(|dir| dir.join("sessions").join(format!("{pid}.json")).exists()) {
        return true;
    }
    let runs_scripts = matches!(process.name.as_str(), "node" | "MainThread" | "bun");
    runs_scripts
        && process::command_line(pid)
            .is_some_and(|words| words.iter().take(3).any(|word| word.contains("claude")))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_parent() {
        let found = look(&ClientSigns::default());
        assert_eq!(found.ancestors[0].pid, std::os::unix::process::parent_id());
        assert!(found.ancestors.len() <= LEVELS);
    }
}
