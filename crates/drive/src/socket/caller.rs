//! The program at the other end of a connection, as the system shows it. Known on Linux alone: elsewhere it is untried, and nothing
//! is known of a caller.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_agents::caller::{
    Caller, CallerProcess, Keeper, Line, RunningAgent, Terminal, TmuxClient, check,
};
use watchbill_agents::marks::is_agents_program;
use watchbill_platform::socket::{Address, Stream, peer};
use watchbill_platform::{process, program};

use crate::folder::Folder;
use crate::host_process::keeps_agent;

/// The program with the window, beside the other programs of an installation.
const WINDOW: &str = "watchbill-desktop";

/// The most processes above a caller. With more, nothing is known of it.
const LEVELS: usize = 256;

/// The most terminals and tmux servers that stand one in another. What lies beyond is unknown.
const NESTED: u8 = 6;

/// Looks at the caller and the processes above it.
pub fn look(stream: &Stream) -> Caller {
    peer(stream).map(|pid| look_within(pid, NESTED)).unwrap_or_default()
}

/// Looks at this program itself.
pub fn look_at_self() -> Caller {
    look_within(std::process::id(), NESTED)
}

/// Why this program itself may not answer, as far as the processes above it tell. Ask at the start: they may end.
pub fn why_no_person_started_this() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    check(&look_at_self(), &[], true).err().map(|why| why.to_string())
}

/// Looks at the processes of running agents. One that has ended is left out.
pub fn agents(pids: &[u32]) -> Vec<RunningAgent> {
    pids.iter().filter_map(|pid| agent(*pid)).collect()
}

/// All agents that run: programs with the name of one. For a host, which does not know the sessions of others.
pub fn all_agents() -> Vec<RunningAgent> {
    let is_agent =
        |process: &process::Process| programs(process).iter().any(|program| is_agents_program(program));
    process::all()
        .filter_map(process::look)
        .filter(is_agent)
        .filter_map(|process| agent(process.pid))
        .collect()
}

fn agent(pid: u32) -> Option<RunningAgent> {
    let process = process::look(pid)?;
    let (start, terminal) = (process.start_number()?, process.tty.map(Arc::from));
    Some(RunningAgent { pid, start, cgroup: process::control_group(pid), terminal })
}

/// Whether the caller is the window of this installation. It answers only by acts of the user, and has no terminal when the
/// desktop starts it.
pub fn is_window(stream: &Stream) -> bool {
    peer(stream).is_some_and(|pid| is_window_of(pid, std::process::id()))
}

/// Whether the process `pid` is the window of the installation that the program of the process `of` belongs to.
pub fn is_window_of(pid: u32, of: u32) -> bool {
    let (Some(file), Some(other)) = (process::program_file(pid), process::program_file(of)) else {
        return false;
    };
    // An update replaces the file of a running program. The system adds a word to its name then.
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.trim_end_matches(" (deleted)") == WINDOW && file.parent() == other.parent()
}

/// Whether the caller is the host of this session.
pub fn is_host_of(stream: &Stream, folder: &Folder) -> bool {
    let host = Address::at(&folder.socket()).connect().ok().and_then(|host| peer(&host));
    host.is_some() && peer(stream) == host
}

/// The process at the other end, and those above it. Empty where the system does not show all of them.
pub fn processes(stream: &Stream) -> Vec<u32> {
    let line = peer(stream).map(line).unwrap_or_default();
    line.iter().map(|process| process.pid).collect()
}

fn look_within(pid: u32, nested: u8) -> Caller {
    let line = line(pid);
    let Some(nested) = nested.checked_sub(1).filter(|_| !line.is_empty()) else {
        return Caller::default();
    };
    let terminal = terminal(pid, &line, nested);
    let tmux = tmux(&line, terminal.as_ref(), nested);
    Caller { line, terminal, tmux }
}

/// A process and those above it. Empty if one of them cannot be seen.
fn line(pid: u32) -> Line {
    if !cfg!(target_os = "linux") {
        return Line::new();
    }
    let mut line = Line::new();
    let mut top = pid;
    for process in process::line(pid).take(LEVELS) {
        let Some(start) = process.start_number().filter(|_| !process.has_ended) else { return Line::new() };
        let environment = process::environment(process.pid);
        let names = environment.iter().flat_map(|all| all.names());
        line.push(CallerProcess {
            pid: process.pid,
            start,
            programs: programs(&process),
            variables: names.map(|name| Arc::from(name.to_string_lossy())).collect(),
            cgroup: process::control_group(process.pid),
            keeps_agent: keeps_agent(process.pid),
        });
        top = process.parent;
    }
    if top > 1 { Line::new() } else { line }
}

/// The program's file, the first words of its command line, and its name in the process table.
fn programs(process: &process::Process) -> Vec<Arc<str>> {
    let executable = process::program_file(process.pid);
    let executable = executable.iter().map(|path| path.to_string_lossy().into_owned());
    let words = process::command_line(process.pid).unwrap_or_default().into_iter().take(2);
    let file_name = |path: String| Path::new(&path).file_name().map(|name| Arc::from(name.to_string_lossy()));
    executable.chain(words).filter_map(file_name).chain([Arc::from(process.name.trim())]).collect()
}

/// The controlling terminal, and who has its other end.
fn terminal(pid: u32, line: &Line, nested: u8) -> Option<Terminal> {
    let path = process::look(pid)?.tty?;
    let keepers = keepers(&path, line, nested);
    Some(Terminal { path: path.into(), keepers })
}

/// The processes that have the other end of a pseudo-terminal: mostly one above the caller, else any.
fn keepers(terminal: &str, caller: &Line, nested: u8) -> Vec<Keeper> {
    if !terminal.starts_with("/dev/pts/") {
        return Vec::new();
    }
    let Some(nested) = nested.checked_sub(1) else { return vec![Keeper::default()] };
    let above = caller.iter().position(|process| process::controls_terminal(process.pid, terminal));
    let lines = match above {
        Some(place) => vec![caller[place..].to_vec()],
        None => process::all().filter(|pid| process::controls_terminal(*pid, terminal)).map(line).collect(),
    };
    let keeper = |line: Line| Keeper {
        terminal: line.first().and_then(|keeper| self::terminal(keeper.pid, &line, nested)),
        line,
    };
    lines.into_iter().map(keeper).collect()
}

/// In tmux: the clients that show the caller's pane.
fn tmux(line: &Line, terminal: Option<&Terminal>, nested: u8) -> Option<Vec<TmuxClient>> {
    let is_server = |line: &Line| line.first().is_some_and(CallerProcess::is_tmux_server);
    let below = line.iter().position(CallerProcess::is_tmux_server);
    let keepers = terminal.map(|terminal| &terminal.keepers[..]).unwrap_or_default();
    if below.is_none() && !keepers.iter().any(|keeper| is_server(&keeper.line)) {
        return None;
    }
    let Some(terminal) = terminal else { return Some(Vec::new()) };
    // `socket,server,session`. A program may clear its own environment, and the shell of the pane has it.
    let socket = line[..below.unwrap_or(line.len())].iter().find_map(|process| {
        let value = process::environment(process.pid)?.get("TMUX")?;
        value.to_string_lossy().split(',').next().map(str::to_owned)
    });
    Some(socket.map(|socket| clients(&socket, &terminal.path, nested)).unwrap_or_default())
}

/// The clients of a tmux server whose active pane has this terminal.
fn clients(socket: &str, terminal: &str, nested: u8) -> Vec<TmuxClient> {
    let mut lists = Command::new("tmux");
    lists.args(["-S", socket, "list-clients", "-F", "#{client_activity} #{client_pid} #{pane_tty}"]);
    // The caller names the socket: perhaps no tmux answers there.
    let listed = program::run(&mut lists, None).done().unwrap_or_default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs().cast_signed());
    let client = |line: &str| {
        let mut words = line.split(' ');
        let (pressed, pid) = (words.next()?.parse::<i64>().ok()?, words.next()?.parse().ok()?);
        let shows = words.next()? == terminal;
        shows.then(|| TmuxClient { pressed: now - pressed, caller: look_within(pid, nested) })
    };
    listed.lines().filter_map(client).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_line_is_whole_or_empty() {
        let own = std::process::id();
        let pids = |line: Line| line.iter().map(|process| process.pid).collect::<Vec<_>>();
        let above = pids(line(own));
        assert_eq!(above.first(), Some(&own));
        // A shell below forty shells.
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("pid");
        let script = r#"[ "$1" -gt 0 ] && { sh -c "$2" sh $(($1 - 1)) "$2" "$3"; exit; }
            echo $$ >"$3.part"; mv "$3.part" "$3"; read -r _"#;
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", "40", script]).arg(&told);
        let mut shells = command.stdin(Stdio::piped()).spawn().unwrap();
        let deepest = loop {
            match std::fs::read_to_string(&told) {
                Ok(pid) => break pid.trim().parse::<u32>().unwrap(),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        let line_of_deepest = pids(line(deepest));
        assert!(line_of_deepest.len() > 40 && line_of_deepest.ends_with(&above), "{line_of_deepest:?}");
        drop(shells.stdin.take());
        // It has ended, and its parent has not taken note of that.
        while !process::look(shells.id()).is_some_and(|process| process.has_ended) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!((line(shells.id()), look_within(shells.id(), NESTED)), (Line::new(), Caller::default()));
        shells.wait().unwrap();
        assert_eq!(look_within(shells.id(), NESTED), Caller::default());
    }
}
