//! The processes around a client process: its children and its parent.
//!
//! A running tool is a child of its client. So a child that began after a call shows that the call was not held back
//! for an answer, if no better witness speaks.

use watchbill_core::time::Millis;

/// A running child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// Time since its start, on a clock that goes on during a suspend; exact to ten milliseconds.
    pub age: Millis,
}

/// The parent of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parent {
    /// The process with this id started it, or has adopted it.
    Runs(u32),
    /// Its parent is gone: it belongs to the system's first process now.
    Gone,
    /// The system does not tell.
    Unknown,
}

/// The running children of `pid`, newest first; `None` if the system does not tell.
///
/// The kernel keeps a list for each thread. A kernel built without these lists needs a search through the whole
/// process table, so do not call this periodically.
#[cfg(target_os = "linux")]
pub(crate) fn children(pid: u32) -> Option<Vec<Child>> {
    let uptime = uptime()?;
    let pids = listed(pid).or_else(|| searched(pid))?;
    let mut children: Vec<Child> = pids.into_iter().filter_map(|child| alive(child, uptime)).collect();
    children.sort_by_key(|child| (child.age, child.pid));
    Some(children)
}

/// Untried on other systems, so nothing is known about children there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn children(_pid: u32) -> Option<Vec<Child>> {
    None
}

/// The parent of `pid`.
#[cfg(target_os = "linux")]
pub(crate) fn parent(pid: u32) -> Parent {
    match std::fs::read(format!("/proc/{pid}/stat")).ok().and_then(|stat| Some(fields(&stat)?.parent)) {
        // In a container the first process may be the shell that started everything. It counts as gone all the same.
        Some(0 | 1) if pid != 1 => Parent::Gone,
        Some(parent) => Parent::Runs(parent),
        None => Parent::Unknown,
    }
}

/// Untried on other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn parent(_pid: u32) -> Parent {
    Parent::Unknown
}

/// `/proc/<pid>/stat` counts in hundredths of a second, with any tick of the kernel (proc(5)).
#[cfg(target_os = "linux")]
const TICK: i64 = 10;

/// Time since the machine started, suspends included; `None` without `/proc`.
#[cfg(target_os = "linux")]
fn uptime() -> Option<Millis> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let secs: i64 = now.tv_sec;
    Some(Millis(secs.checked_mul(1000)? + i64::from(u32::try_from(now.tv_nsec).ok()? / 1_000_000)))
}

/// The children that the kernel lists under each thread of `pid`.
#[cfg(target_os = "linux")]
fn listed(pid: u32) -> Option<Vec<u32>> {
    let mut pids = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(children) => {
                pids.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            // The kernel keeps no such list, or the thread has just ended. The main thread shows which.
            Err(_) if thread.file_name() == *pid.to_string() => return None,
            Err(_) => {}
        }
    }
    Some(pids)
}

/// Searches the process table for processes whose parent is `pid`.
#[cfg(target_os = "linux")]
fn searched(pid: u32) -> Option<Vec<u32>> {
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let child_of = |child: &u32| {
        let stat = std::fs::read(format!("/proc/{child}/stat")).ok();
        stat.and_then(|stat| Some(fields(&stat)?.parent)) == Some(pid)
    };
    Some(pids.filter(child_of).collect())
}

#[cfg(target_os = "linux")]
fn alive(pid: u32, uptime: Millis) -> Option<Child> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let fields = fields(&stat)?;
    let runs = !matches!(fields.state, b'Z' | b'X' | b'x');
    let age = uptime.0.saturating_sub(fields.start.saturating_mul(TICK)).max(0);
    runs.then_some(Child { pid, age: Millis(age) })
}

/// The fields of `/proc/<pid>/stat` that this file needs.
#[cfg(target_os = "linux")]
struct Fields {
    state: u8,
    parent: u32,
    /// In hundredths of a second since the machine started.
    start: i64,
}

#[cfg(target_os = "linux")]
fn fields(stat: &[u8]) -> Option<Fields> {
    let (state, start) = crate::proc_stat::parse_stat(stat)?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut words = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    Some(Fields { state, parent: words.nth(1)?.parse().ok()?, start: start.parse().ok()? })
}
