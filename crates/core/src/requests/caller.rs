//! Decides who may answer and send prompts: a person at a terminal may, an agent may not.

use std::sync::Arc;

use super::visible::visible_line;

/// How old a key press in tmux may be, in seconds: the one that sent the command.
pub const KEY_PRESS: i64 = 10;

/// A process above the caller, or the caller itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerProcess {
    /// Its process id.
    pub pid: u32,
    /// The file names of its program and of the script that it runs, as far as they can be read.
    pub programs: Vec<Arc<str>>,
    /// The names of its environment's variables. Empty where they cannot be read.
    pub variables: Vec<Arc<str>>,
}

/// The known facts about the program at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    /// The caller first, then its ancestors.
    pub processes: Vec<CallerProcess>,
    /// The path of its controlling terminal.
    pub terminal: Option<Arc<str>>,
    /// In tmux: the seconds since the last key press there. `None`: no client shows that pane.
    pub tmux: Option<Option<i64>>,
}

/// Why a caller may not answer or send prompts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// It descends from an agent, or is one.
    #[error("an agent may not answer or send prompts: the caller was started by {0}")]
    Agent(String),
    /// It bears an agent's environment.
    #[error("an agent may not answer or send prompts: the caller's environment has {0}")]
    Environment(String),
    /// It runs in the terminal of an agent.
    #[error(
        "an agent may not answer or send prompts: the caller runs in the terminal of an agent; use another terminal"
    )]
    AgentsTerminal,
    /// No key was pressed lately in its tmux pane.
    #[error(
        "no key was pressed in this tmux pane in the last {KEY_PRESS} seconds: answer from a pane that you look at"
    )]
    NoKeyPress,
    /// It has no terminal.
    #[error(
        "the caller has no terminal; run the command in one, or allow scripts: `scripts = true` below `[answers]` in \
         the settings"
    )]
    NoTerminal,
    /// The system gives no facts about the caller.
    #[error("this system does not tell who the caller is; answer in the window or in the terminal")]
    Unknown,
}

/// Programs of coding agents, by their file names.
const AGENTS: [&str; 9] =
    ["claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"];

/// Variables that agents set for what they start. Source: environments of hooks and tool calls of agents 2.1.329 and
/// 2.1.330, and the agents' documents.
const MARKERS: [&str; 7] =
    ["CLAUDECODE", "CLAUDE_PID", "AI_AGENT", "GEMINI_CLI", "COPILOT_CLI", "OPENCODE", "CURSOR_AGENT"];

/// Beginnings of such variables.
const MARKER_BEGINNINGS: [&str; 2] = ["CLAUDE_CODE_SESSION", "CODEX_SANDBOX"];

/// Whether a caller may answer. `is_agent` knows the processes of running sessions, `agents_terminal` their terminals.
///
/// # Errors
/// When it may not.
pub fn check(
    caller: &Caller,
    is_agent: &dyn Fn(u32) -> bool,
    agents_terminal: &dyn Fn(&str) -> bool,
    scripts: bool,
) -> Result<(), NotAllowed> {
    if caller.processes.is_empty() {
        return Err(NotAllowed::Unknown);
    }
    for process in &caller.processes {
        let agent = process.programs.iter().find(|program| AGENTS.contains(&agent_name(program)));
        if let Some(name) = agent {
            return Err(NotAllowed::Agent(format!("{} (process {})", visible_line(name, 40), process.pid)));
        }
        if is_agent(process.pid) {
            return Err(NotAllowed::Agent(format!("process {}", process.pid)));
        }
        if let Some(marker) = process.variables.iter().find(|name| is_marker(name)) {
            return Err(NotAllowed::Environment(marker.to_string()));
        }
    }
    match &caller.terminal {
        Some(terminal) if agents_terminal(terminal) => return Err(NotAllowed::AgentsTerminal),
        None if !scripts => return Err(NotAllowed::NoTerminal),
        _ => {}
    }
    match caller.tmux {
        Some(pressed) if !scripts && pressed.is_none_or(|ago| ago > KEY_PRESS) => Err(NotAllowed::NoKeyPress),
        _ => Ok(()),
    }
}

/// The name without what a package adds: `claude.exe`, `codex-linux-x64`, `gemini.js`.
fn agent_name(program: &str) -> &str {
    let name = program.split(['.', '_']).next().unwrap_or(program);
    ["-linux", "-darwin", "-x86", "-win"]
        .iter()
        .find_map(|system| name.split_once(system))
        .map_or(name, |(name, _)| name)
}

fn is_marker(name: &str) -> bool {
    MARKERS.contains(&name) || MARKER_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, program: &str, variables: &[&str]) -> CallerProcess {
        let variables = variables.iter().map(|name| Arc::from(*name)).collect();
        CallerProcess { pid, programs: vec![Arc::from(program)], variables }
    }

    fn person() -> Caller {
        let processes = vec![
            process(9, "watchbill", &["HOME", "TERM"]),
            process(8, "bash", &[]),
            process(7, "kitty", &[]),
        ];
        Caller { processes, terminal: Some("/dev/pts/3".into()), tmux: None }
    }

    fn checked(caller: &Caller) -> Result<(), NotAllowed> {
        check(caller, &|pid| pid == 66, &|terminal| terminal == "/dev/pts/66", false)
    }

    #[test]
    fn a_person_in_a_terminal_may() {
        assert_eq!(checked(&person()), Ok(()));
        let in_tmux = Caller { tmux: Some(Some(1)), ..person() };
        assert_eq!(checked(&in_tmux), Ok(()));
    }

    #[test]
    fn a_program_that_an_agent_started_may_not() {
        for program in
            ["claude", "codex", "codex-linux-x64", "gemini.js", "opencode", "copilot", "claude.exe"]
        {
            let mut caller = person();
            caller.processes.push(process(6, program, &[]));
            assert!(matches!(checked(&caller), Err(NotAllowed::Agent(_))), "{program}");
        }
        let mut caller = person();
        caller.processes.push(process(66, "node", &[]));
        assert!(matches!(checked(&caller), Err(NotAllowed::Agent(_))), "a session that runs");
    }

    #[test]
    fn an_agents_environment_gives_a_daemon_away() {
        for marker in ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SANDBOX_NETWORK_DISABLED", "AI_AGENT"] {
            let mut caller = person();
            caller.processes = vec![process(9, "watchbill", &["HOME", marker])];
            assert_eq!(checked(&caller), Err(NotAllowed::Environment(marker.to_owned())));
        }
    }

    #[test]
    fn a_caller_needs_a_terminal_that_is_no_agents_and_that_a_person_uses() {
        assert_eq!(checked(&Caller { terminal: None, ..person() }), Err(NotAllowed::NoTerminal));
        let agents = Caller { terminal: Some("/dev/pts/66".into()), ..person() };
        assert_eq!(checked(&agents), Err(NotAllowed::AgentsTerminal));
        for pressed in [None, Some(11)] {
            assert_eq!(checked(&Caller { tmux: Some(pressed), ..person() }), Err(NotAllowed::NoKeyPress));
        }
        assert_eq!(checked(&Caller::default()), Err(NotAllowed::Unknown));
    }

    #[test]
    fn allowed_scripts_need_no_terminal_and_are_still_no_agents() {
        let script = Caller { terminal: None, ..person() };
        assert_eq!(check(&script, &|_| false, &|_| false, true), Ok(()));
        let mut agents = script;
        agents.processes.push(process(6, "claude", &[]));
        assert!(check(&agents, &|_| false, &|_| false, true).is_err());
    }
}
