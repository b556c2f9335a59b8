//! A process and all its descendants, as the kernel counts them.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// The memory of a tree of processes, and the CPU use of each thread so far.
#[derive(Default)]
pub struct ProcessUse {
    /// By process and thread: CPU time, and the number of voluntary sleeps, which equals the number of wake-ups.
    threads: HashMap<(u32, u32), (Duration, u64)>,
    /// Megabytes; pages that several processes share count once.
    pub memory: f64,
    /// The share of the first process in it.
    pub own: f64,
}

impl ProcessUse {
    /// CPU time and wake-ups since then. The difference is taken thread by thread: an ended thread takes its counters
    /// with it, so a difference of sums would be too small, even zero. The last use of an ended thread is unknown.
    pub fn since(&self, before: &Self) -> (Duration, u64) {
        let mut sum = (Duration::ZERO, 0);
        for (thread, (running, wake_ups)) in &self.threads {
            let (ran, woke) = before.threads.get(thread).copied().unwrap_or_default();
            sum.0 += running.saturating_sub(ran);
            sum.1 += wake_ups.saturating_sub(woke);
        }
        sum
    }
}

/// The first started process of this program and this home: the one with the least id.
pub fn find(program: &std::path::Path, home: &std::path::Path) -> Result<u32> {
    let program = program.canonicalize()?;
    let of_home = |pid: u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let wanted = format!("HOME={}", home.display());
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    };
    let is_it = |pid: &u32| {
        fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program) && of_home(*pid)
    };
    pids().filter(is_it).min().with_context(|| format!("{} does not run", program.display()))
}

/// Measures a process and its descendants.
pub fn used(root: u32) -> ProcessUse {
    let parents: HashMap<u32, u32> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let belongs = |mut pid: u32| {
        while let Some(parent) = parents.get(&pid) {
            if pid == root {
                return true;
            }
            pid = *parent;
        }
        false
    };
    let mut sum = ProcessUse::default();
    for pid in parents.keys().copied().filter(|pid| belongs(*pid)) {
        for thread in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
            let text = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
            let Some(id) = thread.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let running = Duration::from_nanos(number(&text("schedstat")));
            let wake_ups = field(&text("status"), "voluntary_ctxt_switches:");
            sum.threads.insert((pid, id), (running, wake_ups));
        }
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let held = field(&rollup, "Pss:") as f64 * 1024.0 / 1e6;
        sum.memory += held;
        if pid == root {
            sum.own = held;
        }
    }
    sum
}

/// The start time of a process in seconds since 1970, right to about 20 ms.
pub fn started(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("a line of fields")?;
    let ticks: f64 = fields.split(' ').nth(19).context("a start time")?.parse()?;
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime.split(' ').next().context("an uptime")?.parse()?;
    let now = jiff::Timestamp::now().as_millisecond() as f64 / 1000.0;
    // The kernel reports 100 ticks a second with any clock.
    Ok(now - uptime + ticks / 100.0)
}

/// The load of the last minute: programs that wanted a processor.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn field(text: &str, name: &str) -> u64 {
    text.lines().find_map(|line| line.strip_prefix(name)).map_or(0, number)
}

fn number(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_thread_does_not_reduce_the_use_of_others() {
        let used = |threads: &[(u32, u64)]| ProcessUse {
            threads: threads.iter().map(|&(id, n)| ((1, id), (Duration::from_millis(n), n))).collect(),
            ..ProcessUse::default()
        };
        let (before, after) = (used(&[(1, 5), (2, 1000)]), used(&[(1, 8), (3, 2)]));
        assert_eq!(after.since(&before), (Duration::from_millis(5), 5));
    }

    #[test]
    fn this_process_has_used_something() {
        let before = ProcessUse::default();
        assert!(used(std::process::id()).since(&before).0 > Duration::ZERO);
    }
}
