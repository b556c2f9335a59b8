//! Windows tells of processes by calls that need unsafe code. The crate `sysinfo` makes them.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use crate::facts::Process;

pub use crate::unknown::*;

/// What the system tells of a process. `None` for a process that has ended. Its start is in seconds since the epoch.
pub fn look(pid: u32) -> Option<Process> {
    with(pid, ProcessRefreshKind::nothing(), |found| Process {
        pid,
        // The id of a parent that has ended may belong to a later process by now.
        parent: found
            .parent()
            .filter(|parent| start(parent.as_u32()).is_some_and(|start| start <= found.start_time()))
            .map_or(0, Pid::as_u32),
        name: found.name().to_string_lossy().trim_end_matches(".exe").to_owned(),
        start: found.start_time().to_string(),
        has_ended: false,
        tty: None,
        reads_keys: None,
    })
}

/// The same for many processes.
pub(crate) fn lookup() -> impl Fn(u32) -> Option<Process> {
    look
}

/// When a process began, in seconds since the epoch.
pub(crate) fn start(pid: u32) -> Option<u64> {
    with(pid, ProcessRefreshKind::nothing(), sysinfo::Process::start_time)
}

/// The words of a process's command line; `None` if the system does not tell.
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    with(pid, ProcessRefreshKind::nothing().with_cmd(UpdateKind::Always), |found| {
        found.cmd().iter().map(|word| word.to_string_lossy().into_owned()).collect()
    })
}

fn with<T>(pid: u32, what: ProcessRefreshKind, read: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
    let (pid, mut system) = (Pid::from_u32(pid), System::new().ok()?);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
    system.process(pid).map(read)
}
