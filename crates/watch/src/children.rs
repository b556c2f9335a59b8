//! The processes around an agent: what it has started, and who has started it.
//!
//! A tool that runs is a child of its agent. So a child that began after a call was made tells that the call
//! was not held back for an answer, where no better witness speaks.

use watchbill_core::time::Millis;

/// A process that another one has started and that still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// How long ago it was started, on a clock that goes on during a suspend; exact to ten milliseconds.
    pub age: Millis,
}

/// Whether somebody still stands behind a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parent {
    /// The process with this id started it, or has taken its place.
    Runs(u32),
    /// Whoever started it is gone: it belongs to the system's first process now.
    Gone,
    /// It cannot be found out.
    Unknown,
}

/// The children of `pid` that run, newest first. `None` when the system does not tell.
///
/// The kernel keeps a list for each thread; where it was built without it, the process table is looked through
/// once, which is why nobody must ask by the clock.
#[cfg(target_os = "linux")]
pub(crate) fn children(pid: u32) -> Option<Vec<Child>> {
    let uptime = uptime()?;
    let pids = listed(pid).or_else(|| searched(pid))?;
    let mut children: Vec<Child> = pids.into_iter().filter_map(|child| alive(child, uptime)).collect();
    children.sort_by_key(|child| (child.age, child.pid));
    Some(children)
}

/// Untried elsewhere: nothing is known of children there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn children(_pid: u32) -> Option<Vec<Child>> {
    None
}

/// Who stands behind `pid`.
#[cfg(target_os = "linux")]
pub(crate) fn parent(pid: u32) -> Parent {
    match std::fs::read(format!("/proc/{pid}/stat")).ok().and_then(|stat| Some(fields(&stat)?.parent)) {
        // In a container the first process may well be the shell that started everything; it is told as it is.
        Some(0 | 1) if pid != 1 => Parent::Gone,
        Some(parent) => Parent::Runs(parent),
        None => Parent::Unknown,
    }
}

/// Untried elsewhere.
#[cfg(not(target_os = "linux"))]
pub(crate) fn parent(_pid: u32) -> Parent {
    Parent::Unknown
}

/// `/proc/<pid>/stat` in `/proc` counts in hundredths of a second, whatever the kernel's own tick is (proc(5)).
#[cfg(target_os = "linux")]
const TICK: i64 = 10;

/// How long the machine has been up, suspends included; `None` without `/proc`.
#[cfg(target_os = "linux")]
fn uptime() -> Option<Millis> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let secs: i64 = now.tv_sec;
    Some(Millis(secs.checked_mul(1000)? + i64::from(u32::try_from(now.tv_nsec).ok()? / 1_000_000)))
}

/// What the kernel lists under each thread of `pid`.
#[cfg(target_os = "linux")]
fn listed(pid: u32) -> Option<Vec<u32>> {
    let mut pids = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        match std::fs::read_to_string(thread.path().join("children")) {
            Ok(children) => {
                pids.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            // The kernel keeps no such list, or the thread has just ended; the main thread tells which.
            Err(_) if thread.file_name() == *pid.to_string() => return None,
            Err(_) => {}
        }
    }
    Some(pids)
}

/// Looks through the process table for those whose parent is `pid`.
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

/// What is asked of `/proc/<pid>/stat` here.
#[cfg(target_os = "linux")]
struct Fields {
    state: u8,
    parent: u32,
    /// In hundredths of a second since the machine's start.
    start: i64,
}

#[cfg(target_os = "linux")]
fn fields(stat: &[u8]) -> Option<Fields> {
    let (state, start) = crate::proc_stat::parse_stat(stat)?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut words = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace();
    Some(Fields { state, parent: words.nth(1)?.parse().ok()?, start: start.parse().ok()? })
}
