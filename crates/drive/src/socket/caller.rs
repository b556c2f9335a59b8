//! The program at the other end of a connection, as the system shows it.

use std::path::Path;

use interprocess::local_socket::Stream;
use watchbill_core::requests::caller::{Caller, RunningAgent, check};

use super::address::Address;
use crate::folder::Folder;

/// Looks at the caller and the processes above it. Unknown where the system does not tell.
#[cfg(target_os = "linux")]
pub fn look(stream: &Stream) -> Caller {
    pid_of(stream).map(linux::look).unwrap_or_default()
}

/// Looks at this program itself.
#[cfg(target_os = "linux")]
pub fn look_at_self() -> Caller {
    linux::look(std::process::id())
}

/// Why this program itself may not answer, as far as the processes above it tell. Ask at the start: they may end.
pub fn why_no_person_started_this() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    check(&look_at_self(), &[], true).err().map(|why| why.to_string())
}

/// Looks at the processes of running agents. One that has ended is left out.
#[cfg(target_os = "linux")]
pub fn agents(pids: &[u32]) -> Vec<RunningAgent> {
    pids.iter().filter_map(|pid| linux::agent(*pid)).collect()
}

/// All agents that run: programs with the name of one. For a host, which does not know the sessions of others.
#[cfg(target_os = "linux")]
pub fn all_agents() -> Vec<RunningAgent> {
    linux::all_agents()
}

/// Whether the caller is the window of this installation. It answers only by acts of the user, and has no terminal when the
/// desktop starts it.
pub fn is_window(stream: &Stream) -> bool {
    pid_of(stream).is_some_and(|pid| is_window_of(pid, std::process::id()))
}

/// Whether the process `pid` is the window of the installation that the program of the process `of` belongs to.
pub fn is_window_of(pid: u32, of: u32) -> bool {
    #[cfg(target_os = "linux")]
    let is = linux::is_window_of(pid, of);
    // Untried elsewhere.
    #[cfg(not(target_os = "linux"))]
    let is = pid == of && false;
    is
}

/// Whether the caller is the host of this session.
pub fn is_host_of(stream: &Stream, folder: &Folder) -> bool {
    let host = Address::at(&folder.socket()).connect().ok().and_then(|host| pid_of(&host));
    host.is_some() && pid_of(stream) == host
}

/// Whether a process holds the lock on this file.
pub(super) fn holds_lock(pid: u32, file: &Path) -> bool {
    #[cfg(target_os = "linux")]
    let holds = linux::holds_lock(pid, file);
    // Untried elsewhere: the socket alone decides.
    #[cfg(not(target_os = "linux"))]
    let holds = {
        let _ = (pid, file);
        true
    };
    holds
}

/// The process at the other end, and those above it. Empty where the system does not show all of them.
pub fn processes(stream: &Stream) -> Vec<u32> {
    #[cfg(target_os = "linux")]
    let line = pid_of(stream).map(linux::line).unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    let line = look(stream).line;
    line.iter().map(|process| process.pid).collect()
}

/// The process at the other end.
pub(super) fn pid_of(stream: &Stream) -> Option<u32> {
    use interprocess::local_socket::traits::StreamCommon as _;
    stream.peer_creds().ok().and_then(|peer| u32::try_from(peer.pid()?).ok())
}

/// Untried elsewhere: nothing is known of the caller.
#[cfg(not(target_os = "linux"))]
pub fn look(_stream: &Stream) -> Caller {
    Caller::default()
}

/// Untried elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn look_at_self() -> Caller {
    Caller::default()
}

/// Untried elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn all_agents() -> Vec<RunningAgent> {
    Vec::new()
}

/// Untried elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn agents(_pids: &[u32]) -> Vec<RunningAgent> {
    Vec::new()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use watchbill_core::requests::caller::{
        Caller, CallerProcess, Keeper, Line, RunningAgent, Terminal, TmuxClient,
    };
    use watchbill_core::requests::marks::is_agents_program;
    use watchbill_hooks::ancestors::{Process, terminal_of};

    use crate::host_process::keeps_agent;
    use crate::socket::bounded::output;

    /// How long tmux may take.
    const TMUX: Duration = Duration::from_secs(2);

    /// The program with the window, beside the other programs of an installation.
    const WINDOW: &str = "watchbill-desktop";

    /// The most processes above a caller. With more, nothing is known of it.
    const LEVELS: usize = 256;

    /// The most terminals and tmux servers that stand one in another. What lies beyond is unknown.
    const NESTED: u8 = 6;

    /// Whether `pid` is the window of the installation that the program of `of` belongs to.
    pub fn is_window_of(pid: u32, of: u32) -> bool {
        let file = |pid: u32| std::fs::read_link(format!("/proc/{pid}/exe"));
        let (Ok(file), Ok(other)) = (file(pid), file(of)) else { return false };
        // An update replaces the file of a running program. The system adds a word to its name then.
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.trim_end_matches(" (deleted)") == WINDOW && file.parent() == other.parent()
    }

    pub fn look(pid: u32) -> Caller {
        look_within(pid, NESTED)
    }

    pub fn agent(pid: u32) -> Option<RunningAgent> {
        let start = Process::parse(&read(pid, "stat"))?.start;
        Some(RunningAgent { pid, start, cgroup: cgroup(pid), terminal: terminal_of(pid).map(Arc::from) })
    }

    pub fn all_agents() -> Vec<RunningAgent> {
        let is_agent = |pid: &u32| programs(*pid).iter().any(|program| is_agents_program(program));
        all_processes().filter(is_agent).filter_map(agent).collect()
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
    pub fn line(pid: u32) -> Line {
        let mut line = Line::new();
        let mut at = pid;
        while at > 1 {
            let stat = read(at, "stat");
            let seen = Process::parse(&stat).filter(|stat| !matches!(stat.state, b'Z' | b'X'));
            let Some(stat) = seen.filter(|_| line.len() < LEVELS) else { return Line::new() };
            line.push(CallerProcess {
                pid: at,
                start: stat.start,
                programs: programs(at),
                variables: environment(at)
                    .iter()
                    .filter_map(|entry| Some(Arc::from(entry.split_once('=')?.0)))
                    .collect(),
                cgroup: cgroup(at),
                keeps_agent: keeps_agent(at),
            });
            at = stat.parent;
        }
        line
    }

    fn read(pid: u32, name: &str) -> Vec<u8> {
        std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default()
    }

    /// The program's file, the first words of its command line, and its name in the process table.
    fn programs(pid: u32) -> Vec<Arc<str>> {
        let executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let executable = executable.iter().map(|path| path.to_string_lossy().into_owned());
        let words = read(pid, "cmdline");
        let words =
            words.split(|byte| *byte == 0).take(2).map(|word| String::from_utf8_lossy(word).into_owned());
        let file_name =
            |path: String| Path::new(&path).file_name().map(|name| Arc::from(name.to_string_lossy()));
        let name = String::from_utf8_lossy(&read(pid, "comm")).trim().to_owned();
        executable.chain(words).filter_map(file_name).chain([Arc::from(name)]).collect()
    }

    /// The environment's entries, as they were when the process started.
    fn environment(pid: u32) -> Vec<String> {
        let bytes = read(pid, "environ");
        bytes.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
    }

    /// The control group that systemd gave a process: of the second version, or of systemd's own hierarchy.
    fn cgroup(pid: u32) -> Option<Arc<str>> {
        let text = String::from_utf8_lossy(&read(pid, "cgroup")).into_owned();
        let of =
            |hierarchy: &str| text.lines().find_map(|line| line.split_once(hierarchy)).map(|(_, path)| path);
        let unified = of("0::").filter(|path| *path != "/");
        unified.or_else(|| of(":name=systemd:")).or_else(|| of("0::")).map(Arc::from)
    }

    /// The controlling terminal, and who has its other end.
    fn terminal(pid: u32, line: &Line, nested: u8) -> Option<Terminal> {
        let path = terminal_of(pid)?;
        let keepers = keepers(&path, line, nested);
        Some(Terminal { path: path.into(), keepers })
    }

    /// The processes that have the other end of a pseudo-terminal: mostly one above the caller, else any.
    fn keepers(terminal: &str, caller: &Line, nested: u8) -> Vec<Keeper> {
        let Some(number) = terminal.strip_prefix("/dev/pts/") else { return Vec::new() };
        let Some(nested) = nested.checked_sub(1) else { return vec![Keeper::default()] };
        let above = caller.iter().position(|process| has_other_end(process.pid, number));
        let lines = match above {
            Some(place) => vec![caller[place..].to_vec()],
            None => all_processes().filter(|pid| has_other_end(*pid, number)).map(line).collect(),
        };
        let keeper = |line: Line| Keeper {
            terminal: line.first().and_then(|keeper| self::terminal(keeper.pid, &line, nested)),
            line,
        };
        lines.into_iter().map(keeper).collect()
    }

    /// Whether a process has the lock of a file: `fdinfo` lists the locks of each open file (proc_pid_fdinfo(5)).
    pub fn holds_lock(pid: u32, file: &Path) -> bool {
        let Ok(wanted) = std::fs::metadata(file) else { return false };
        let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        // Only a file of that name is looked at: another one may be on a dead mount.
        open.filter(|entry| {
            std::fs::read_link(entry.path()).is_ok_and(|to| to.file_name() == file.file_name())
        })
        .filter(|entry| {
            std::fs::metadata(entry.path())
                .is_ok_and(|held| (held.dev(), held.ino()) == (wanted.dev(), wanted.ino()))
        })
        .any(|entry| {
            let info = read(pid, &format!("fdinfo/{}", entry.file_name().to_string_lossy()));
            let info = String::from_utf8_lossy(&info);
            info.lines().any(|line| line.starts_with("lock:") && line.contains(" WRITE "))
        })
    }

    fn all_processes() -> impl Iterator<Item = u32> {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
    }

    /// Whether a process has the controlling end of this pseudo-terminal open. Another user's processes do not show that.
    fn has_other_end(pid: u32, number: &str) -> bool {
        let folder = PathBuf::from(format!("/proc/{pid}/fd"));
        let open = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        open.filter(|file| {
            std::fs::read_link(file.path())
                .is_ok_and(|to| to == Path::new("/dev/ptmx") || to == Path::new("/dev/pts/ptmx"))
        })
        .any(|file| {
            let info = read(pid, &format!("fdinfo/{}", file.file_name().to_string_lossy()));
            String::from_utf8_lossy(&info)
                .lines()
                .any(|line| line.strip_prefix("tty-index:").is_some_and(|index| index.trim() == number))
        })
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
            let entries = environment(process.pid);
            let value = entries.iter().find_map(|entry| entry.strip_prefix("TMUX="))?;
            value.split(',').next().map(str::to_owned)
        });
        Some(socket.map(|socket| clients(&socket, &terminal.path, nested)).unwrap_or_default())
    }

    /// The clients of a tmux server whose active pane has this terminal.
    fn clients(socket: &str, terminal: &str, nested: u8) -> Vec<TmuxClient> {
        let mut lists = Command::new("tmux");
        lists.args(["-S", socket, "list-clients", "-F", "#{client_activity} #{client_pid} #{pane_tty}"]);
        // The caller names the socket: perhaps no tmux answers there.
        let listed = output(&mut lists, TMUX).unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs().cast_signed());
        let client = |line: &str| {
            let mut words = line.split(' ');
            let (pressed, pid) = (words.next()?.parse::<i64>().ok()?, words.next()?.parse().ok()?);
            let shows = words.next()? == terminal;
            shows.then(|| TmuxClient { pressed: now - pressed, caller: look_within(pid, nested) })
        };
        listed.lines().filter_map(client).collect()
    }

    #[cfg(test)]
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
            while !matches!(Process::parse(&read(shells.id(), "stat")), Some(process) if process.state == b'Z')
            {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            assert_eq!((line(shells.id()), look(shells.id())), (Line::new(), Caller::default()));
            shells.wait().unwrap();
            assert_eq!(look(shells.id()), Caller::default());
        }
    }
}
