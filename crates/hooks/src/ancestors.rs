//! The processes above the sender: the agent among them, and the terminal they belong to.

use watchbill_agents::process::{ClientSigns, runs_scripts};
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

/// Reads the processes above this one.
pub fn look(signs: &ClientSigns) -> Ancestry {
    let mut found = Ancestry::default();
    let Some(parent) = process::own_parent() else { return found };
    for process in process::line(parent).take(LEVELS) {
        if found.agent.is_none() && is_agent(&process, signs) {
            found.agent =
                Some(Instance { pid: process.pid, proc_start: Some(process.start.as_str().into()) });
        }
        found.ancestors.push(Ancestor { pid: process.pid, start: process.start_number() });
        found.tty = found.tty.or(process.tty);
    }
    found
}

/// Whether a process is the agent, by its id, its name, its registry file or its command line.
fn is_agent(process: &Process, signs: &ClientSigns) -> bool {
    let pid = process.pid;
    signs.name(pid, &process.name)
        || signs.registered_at(pid).is_some_and(|file| file.exists())
        || (runs_scripts(&process.name)
            && process::command_line(pid).is_some_and(|words| signs.is_in_command_line(&words)))
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
