//! The program at the other end of a connection, as the system shows it.

use interprocess::local_socket::Stream;
use watchbill_core::requests::caller::Caller;

/// Looks at the caller and the processes above it. Unknown where the system does not tell.
#[cfg(target_os = "linux")]
pub fn look(stream: &Stream) -> Caller {
    use interprocess::local_socket::traits::StreamCommon as _;
    let pid = stream.peer_creds().ok().and_then(|peer| u32::try_from(peer.pid()?).ok());
    pid.map(linux::look).unwrap_or_default()
}

/// Whether the caller is the window of this installation. It answers only by acts of the user, and has no terminal when the
/// desktop starts it.
#[cfg(target_os = "linux")]
pub fn is_window(stream: &Stream) -> bool {
    use interprocess::local_socket::traits::StreamCommon as _;
    let pid = stream.peer_creds().ok().and_then(|peer| peer.pid());
    pid.is_some_and(linux::is_window)
}

/// Untried elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn is_window(_stream: &Stream) -> bool {
    false
}

/// Untried elsewhere: nothing is known of the caller.
#[cfg(not(target_os = "linux"))]
pub fn look(_stream: &Stream) -> Caller {
    Caller::default()
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;
    use std::process::Command;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use watchbill_core::requests::caller::{Caller, CallerProcess};
    use watchbill_hooks::ancestors::{self, terminal_of};

    use crate::socket::bounded::output;

    /// How long tmux may take.
    const TMUX: Duration = Duration::from_secs(2);

    /// The program with the window, beside the other programs of an installation.
    const WINDOW: &str = "watchbill-desktop";

    pub fn is_window(pid: i32) -> bool {
        let file = std::fs::read_link(format!("/proc/{pid}/exe"));
        let (Ok(file), Ok(own)) = (file, std::env::current_exe()) else { return false };
        // An update replaces the file of a running program. The system adds a word to its name then.
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.trim_end_matches(" (deleted)") == WINDOW && file.parent() == own.parent()
    }

    /// Ancestors that are looked at: a shell, multiplexers, a terminal, a desktop, containers.
    const LEVELS: usize = 32;

    pub fn look(pid: u32) -> Caller {
        let mut processes = Vec::new();
        let mut at = Some(pid);
        while let Some(pid) = at.filter(|pid| *pid > 1 && processes.len() < LEVELS) {
            processes.push(CallerProcess { pid, programs: programs(pid), variables: variables(pid) });
            at = ancestors::parent_of(pid);
        }
        Caller { processes, terminal: terminal_of(pid).map(Arc::from), tmux: key_press(pid) }
    }

    /// The program's file, its name in the process table, and the first words of its command line.
    fn programs(pid: u32) -> Vec<Arc<str>> {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let executable = executable.iter().map(|path| path.to_string_lossy().into_owned());
        let line = read("cmdline");
        let words =
            line.split(|byte| *byte == 0).take(2).map(|word| String::from_utf8_lossy(word).into_owned());
        let name = String::from_utf8_lossy(&read("comm")).trim().to_owned();
        let file_name =
            |path: String| Path::new(&path).file_name().map(|name| Arc::from(name.to_string_lossy()));
        executable.chain(words).chain([name]).filter_map(file_name).collect()
    }

    /// The names of the environment's variables, as they were when the process started.
    fn variables(pid: u32) -> Vec<Arc<str>> {
        environment(pid).iter().filter_map(|entry| Some(Arc::from(entry.split_once('=')?.0))).collect()
    }

    fn environment(pid: u32) -> Vec<String> {
        let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        bytes.split(|byte| *byte == 0).map(|entry| String::from_utf8_lossy(entry).into_owned()).collect()
    }

    /// In tmux: the seconds since the last key press in a client that shows the caller's session.
    fn key_press(pid: u32) -> Option<Option<i64>> {
        let environment = environment(pid);
        let value =
            |name: &str| environment.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
        // `socket,server pid,session`
        let socket = value("TMUX")?.split(',').next()?;
        let pane = value("TMUX_PANE").unwrap_or_default();
        let mut lists = Command::new("tmux");
        lists.args(["-S", socket, "list-clients", "-t", pane, "-F", "#{client_activity}"]);
        // The caller names the socket: perhaps no tmux answers there.
        let listed = output(&mut lists, TMUX).unwrap_or_default();
        let newest = listed.lines().filter_map(|line| line.trim().parse::<i64>().ok()).max();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs().cast_signed());
        Some(newest.map(|pressed| now - pressed))
    }
}
