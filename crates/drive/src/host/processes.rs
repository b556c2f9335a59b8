//! The processes that a host is responsible for: all that descend from it. Each is known by its id and its start time.
//!
//! The host is the subreaper of what it starts (prctl(2)): a process whose parent ends becomes the host's child. So nothing that
//! the agent starts leaves the tree, but for what it asks another service to start.

use std::collections::HashMap;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal};
use watchbill_core::requests::visible::visible_line;
use watchbill_hooks::ancestors;
use watchbill_protocol::own::event::OwnProcess;

use crate::folder::Folder;
use crate::host_process::is_host_beside;

/// How much of a command line is shown, in characters.
const SHOWN: usize = 120;

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its id. The system gives it to another process later.
    pub pid: u32,
    /// When it was started, in clock ticks since boot. With the id it names one process until the next boot.
    pub start: u64,
}

/// Looks at one process; `None` if it has ended.
pub fn look(pid: u32) -> Option<Process> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let found = ancestors::Process::parse(&stat)?;
    (!matches!(found.state, b'Z' | b'X')).then_some(Process { pid, start: found.start })
}

/// Its id, as system calls take it.
pub fn pid_of(process: Process) -> Option<Pid> {
    i32::try_from(process.pid).ok().and_then(Pid::from_raw)
}

/// Whether it still runs.
pub fn is_alive(process: Process) -> bool {
    look(process.pid) == Some(process)
}

/// Children of this process that have ended and wait to be taken note of. Leaves out what a thread of the host runs and waits for
/// itself. Only such a child is in the host's own session, because the agent begins one for itself and what it starts.
pub fn ended_children() -> Vec<Pid> {
    let own = std::process::id();
    let session = rustix::process::getsid(None).ok();
    let ended = |pid: &Pid| {
        let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        ancestors::Process::parse(&stat).is_some_and(|found| found.parent == own && found.state == b'Z')
            && rustix::process::getsid(Some(*pid)).ok() != session
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).filter(ended).collect()
}

/// All living processes below `root`, parents first. Another host and what it runs do not belong to the session of `own`.
pub fn descendants(root: u32, own: &Folder) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut found = HashMap::new();
    for pid in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = pid.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { continue };
        let Some(stat) = ancestors::Process::parse(&stat) else { continue };
        children.entry(stat.parent).or_default().push(pid);
        found.insert(pid, (Process { pid, start: stat.start }, matches!(stat.state, b'Z' | b'X')));
    }
    let mut below = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for pid in children.remove(&parent).unwrap_or_default() {
            if is_host_beside(pid, own) {
                continue;
            }
            open.push(pid);
            if let Some((process, false)) = found.get(&pid) {
                below.push(*process);
            }
        }
    }
    below
}

/// Sends a signal to this process, and to no other one that has got its id meanwhile. A process that has ended is no error.
///
/// # Errors
/// When the system refuses.
pub fn signal(process: Process, signal: Signal) -> io::Result<()> {
    let Some(pid) = pid_of(process) else { return Ok(()) };
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return Ok(()) };
    // The handle names one process for good. It is the right one if the start time agrees now.
    if !is_alive(process) {
        return Ok(());
    }
    match rustix::process::pidfd_send_signal(&handle, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// As readers get it.
pub fn shown(process: Process) -> OwnProcess {
    let line = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    let words: Vec<_> =
        line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
    OwnProcess { pid: process.pid, command: visible_line(&words.join(" "), SHOWN) }
}

/// The processes of the systemd scope that was made for this session, where there is one.
pub fn of_scope(scope: &str) -> Vec<Process> {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) =
        own.lines().find_map(|line| line.strip_prefix("0::")).filter(|path| path.ends_with(scope))
    else {
        return Vec::new();
    };
    let listed = std::fs::read_to_string(format!("/sys/fs/cgroup{path}/cgroup.procs")).unwrap_or_default();
    listed
        .lines()
        .filter_map(|pid| look(pid.parse().ok()?))
        .filter(|found| found.pid != std::process::id())
        .collect()
}
