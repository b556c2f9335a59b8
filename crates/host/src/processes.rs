//! The processes that a host is responsible for: all that descend from it. Each is known by its id and its start time.
//!
//! The host is the subreaper of what it starts (prctl(2)): a process whose parent ends becomes the host's child. So nothing that
//! the agent starts leaves the tree, but for what it asks another service to start.

use std::collections::HashMap;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal};
use watchbill_core::requests::visible::visible_line;
use watchbill_drive::folder::Folder;
use watchbill_drive::host_process::is_host_beside;
use watchbill_platform::process;
use watchbill_protocol::own::event::OwnProcess;

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
    let found = process::look(pid).filter(|found| !found.has_ended)?;
    Some(Process { pid, start: found.start_number()? })
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
    let ended = process::all().filter_map(process::look).filter(|it| it.has_ended && it.parent == own);
    let ids = ended.filter_map(|it| Pid::from_raw(it.pid.cast_signed()));
    ids.filter(|pid| rustix::process::getsid(Some(*pid)).ok() != session).collect()
}

/// All living processes below `root`, parents first. Another host and what it runs do not belong to the session of `own`.
pub fn descendants(root: u32, own: &Folder) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut found = HashMap::new();
    for process in process::all().filter_map(process::look) {
        let Some(start) = process.start_number() else { continue };
        children.entry(process.parent).or_default().push(process.pid);
        found.insert(process.pid, (Process { pid: process.pid, start }, process.has_ended));
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
    let mut words = process::command_line(process.pid).unwrap_or_default();
    words.retain(|word| !word.is_empty());
    OwnProcess { pid: process.pid, command: visible_line(&words.join(" "), SHOWN) }
}

/// The processes of the systemd scope that was made for this session, where there is one.
pub fn of_scope(scope: &str) -> Vec<Process> {
    let Some(path) = process::control_group(std::process::id()).filter(|path| path.ends_with(scope)) else {
        return Vec::new();
    };
    let listed = std::fs::read_to_string(format!("/sys/fs/cgroup{path}/cgroup.procs")).unwrap_or_default();
    listed
        .lines()
        .filter_map(|pid| look(pid.parse().ok()?))
        .filter(|found| found.pid != std::process::id())
        .collect()
}
