//! Decides who may answer and send prompts: a person at a terminal may, an agent may not.
//!
//! Each fact comes from the system. If not all processes above the caller can be seen, it is refused. A process whose
//! environment cannot be read counts as one without marks.

use std::sync::Arc;

use watchbill_core::requests::visible::visible_line;

use crate::marks::{is_agents_program, is_agents_variable};

/// How old a key press in tmux may be, in seconds: the one that sent the command.
pub const KEY_PRESS: i64 = 10;

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallerProcess {
    /// Its process id.
    pub pid: u32,
    /// When it was started, in clock ticks since boot.
    pub start: u64,
    /// The file names of its program and of the script that it runs, as far as they can be read. The last is its name in the
    /// process table.
    pub programs: Vec<Arc<str>>,
    /// The names of its environment's variables. Empty where they cannot be read.
    pub variables: Vec<Arc<str>>,
    /// Its control group.
    pub cgroup: Option<Arc<str>>,
    /// It is the host of an own session that runs an agent, or that an agent started.
    pub keeps_agent: bool,
}

/// A process, then those above it up to the first process of the system. Empty: the system does not show all of them.
pub type Line = Vec<CallerProcess>;

/// The known facts about the program at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    /// The caller and those above it.
    pub line: Line,
    /// Its controlling terminal.
    pub terminal: Option<Terminal>,
    /// In tmux: the clients of the server that show the caller's pane.
    pub tmux: Option<Vec<TmuxClient>>,
}

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terminal {
    /// Its path.
    pub path: Arc<str>,
    /// The processes that have its other end, such as a terminal emulator. Empty where the system does not show them.
    pub keepers: Vec<Keeper>,
}

/// A process that has the other end of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Keeper {
    /// The keeper and those above it.
    pub line: Line,
    /// Its own terminal.
    pub terminal: Option<Terminal>,
}

/// A client of tmux.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TmuxClient {
    /// Seconds since its last key press.
    pub pressed: i64,
    /// The client's process and those above it.
    pub caller: Caller,
}

/// The process of an agent whose session runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunningAgent {
    /// Its process id.
    pub pid: u32,
    /// When it was started, in clock ticks since boot.
    pub start: u64,
    /// Its control group.
    pub cgroup: Option<Arc<str>>,
    /// The path of its controlling terminal.
    pub terminal: Option<Arc<str>>,
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
    /// It has left the processes above it, in the control group of an agent that was there before.
    #[error(
        "an agent may not answer or send prompts: {0} is in the control group of an agent, began after it, and its parent \
         has ended; use another terminal"
    )]
    Detached(String),
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
    #[error(
        "this system does not tell who the caller is: not all processes above it can be seen; answer in the window or in the \
         terminal"
    )]
    Unknown,
}

/// Programs that keep a terminal without showing it, by their names in the process table.
const UNSEEN_KEEPERS: [&str; 10] =
    ["script", "expect", "unbuffer", "socat", "python", "perl", "ruby", "tclsh", "asciinema", "systemd-run"];

/// The manager of a user's services. It takes over processes whose parent has ended.
const SERVICE_MANAGER: &str = "systemd";

/// The name of tmux's server in the process table.
const TMUX_SERVER: &str = "tmux: server";

impl CallerProcess {
    /// Whether it is tmux's server.
    pub fn is_tmux_server(&self) -> bool {
        self.name() == TMUX_SERVER
    }

    fn name(&self) -> &str {
        self.programs.last().map_or("", |name| name)
    }

    fn keeps_unseen(&self) -> bool {
        let name = self.name().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        UNSEEN_KEEPERS.contains(&name)
    }
}

/// Whether a caller may answer. `agents`: the processes of sessions that run. `scripts`: it needs no terminal.
///
/// # Errors
/// When it may not.
pub fn check(caller: &Caller, agents: &[RunningAgent], scripts: bool) -> Result<(), NotAllowed> {
    let in_tmux = caller.tmux.as_ref().filter(|_| !scripts);
    check_line(&caller.line, agents, in_tmux.is_some())?;
    match &caller.terminal {
        None if !scripts => return Err(NotAllowed::NoTerminal),
        None => {}
        Some(terminal) => check_terminal(terminal, agents, in_tmux.is_some())?,
    }
    in_tmux.map_or(Ok(()), |clients| check_tmux(clients, agents))
}

/// Checks a process and those above it. A server of tmux has no parent; its clients are checked instead.
fn check_line(line: &Line, agents: &[RunningAgent], in_tmux: bool) -> Result<(), NotAllowed> {
    if line.is_empty() {
        return Err(NotAllowed::Unknown);
    }
    for process in line {
        if let Some(name) = process.programs.iter().find(|program| is_agents_program(program)) {
            return Err(NotAllowed::Agent(format!("{} (process {})", visible_line(name, 40), process.pid)));
        }
        if process.keeps_agent || agents.iter().any(|agent| agent.pid == process.pid) {
            return Err(NotAllowed::Agent(format!("process {}", process.pid)));
        }
        if let Some(mark) = process.variables.iter().find(|name| is_agents_variable(name)) {
            return Err(NotAllowed::Environment(mark.to_string()));
        }
    }
    match top(line) {
        Some(top) if in_tmux && top.is_tmux_server() => Ok(()),
        Some(top) if top.cgroup.as_deref().is_some_and(is_of_one_program) => not_left(top, agents),
        _ => Ok(()),
    }
}

/// Checks the terminal, and the programs that have its other end.
fn check_terminal(terminal: &Terminal, agents: &[RunningAgent], in_tmux: bool) -> Result<(), NotAllowed> {
    if agents.iter().any(|agent| agent.terminal.as_ref() == Some(&terminal.path)) {
        return Err(NotAllowed::AgentsTerminal);
    }
    for keeper in &terminal.keepers {
        check_line(&keeper.line, agents, in_tmux)?;
        if !keeper.line.first().is_some_and(CallerProcess::keeps_unseen) {
            continue;
        }
        match (&keeper.terminal, top(&keeper.line)) {
            (Some(outer), _) => check_terminal(outer, agents, in_tmux)?,
            (None, Some(top)) => not_left(top, agents)?,
            (None, None) => return Err(NotAllowed::Unknown),
        }
    }
    Ok(())
}

/// One of the agents that show the pane must belong to a person who pressed a key there.
fn check_tmux(clients: &[TmuxClient], agents: &[RunningAgent]) -> Result<(), NotAllowed> {
    let mut refused = NotAllowed::NoKeyPress;
    for client in clients.iter().filter(|client| client.pressed <= KEY_PRESS) {
        match check(&client.caller, agents, false) {
            Ok(()) => return Ok(()),
            Err(why) => refused = why,
        }
    }
    Err(refused)
}

/// The uppermost process of a line that is no part of the system.
fn top(line: &Line) -> Option<&CallerProcess> {
    line.iter().rev().find(|process| process.name() != SERVICE_MANAGER)
}

/// A process whose parent has ended may be an agent's if it is in the control group of one that was there before it. What a
/// person started in the same terminal has the person's shell above it, or is older.
fn not_left(top: &CallerProcess, agents: &[RunningAgent]) -> Result<(), NotAllowed> {
    let is_of = |agent: &RunningAgent| agent.cgroup == top.cgroup && agent.start <= top.start;
    if top.cgroup.is_some() && agents.iter().any(is_of) {
        return Err(NotAllowed::Detached(format!("{} (process {})", visible_line(top.name(), 40), top.pid)));
    }
    Ok(())
}

/// Whether a control group holds one program, one tab or one service. In the group of a login or of a container, programs that
/// a desktop starts have no parent either.
fn is_of_one_program(cgroup: &str) -> bool {
    let name = cgroup.rsplit('/').next().unwrap_or_default();
    let is_unit = name.ends_with(".scope") || name.ends_with(".service");
    is_unit && !name.starts_with("session-") && !name.starts_with("user@") && name != "init.scope"
}

#[cfg(test)]
mod tests;
