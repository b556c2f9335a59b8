//! The cost of watching two thousand idle sessions. Linux only, since it reads `/proc`.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::watching::Watching;
use super::{Bench, Row, corpus};

/// The length of the measurement.
const SPAN: Duration = Duration::from_secs(30);
/// The longest time until the program rests.
const SETTLING: Duration = Duration::from_secs(120);

/// Waits until the program rests, then measures its use.
pub fn idle(bench: &Bench) -> Result<Vec<Row>> {
    if !cfg!(target_os = "linux") {
        bail!("needs /proc, which only Linux has");
    }
    let corpus = corpus::many(bench)?;
    let watching = Watching::start(bench, &corpus.claude_dir)?;
    watching.snapshot()?;
    settle(&watching)?;
    let span = if bench.small { SPAN / 6 } else { SPAN };
    println!("  at rest; measuring for {} s", span.as_secs());
    let before = measure_process(watching.pid())?;
    let start = Instant::now();
    drain_events_for(&watching, span)?;
    let (after, seconds) = (measure_process(watching.pid())?, start.elapsed().as_secs_f64());
    let cpu = (after.running.saturating_sub(before.running)).as_secs_f64() / seconds * 100.0;
    let wake_ups = after.wake_ups.saturating_sub(before.wake_ups) as f64 / seconds;
    Ok(vec![
        Row::without_target("idle, CPU", format!("{cpu:.4} % of a core")),
        Row::without_target("idle, wake-ups", format!("{wake_ups:.2} a second")),
        Row::without_target(
            "idle, memory",
            format!("{:.1} MB, {:.1} MB at the peak", after.resident, after.peak),
        ),
    ])
}

/// Waits until two seconds in a row use almost no CPU time.
pub fn settle(watching: &Watching) -> Result<()> {
    let deadline = Instant::now() + SETTLING;
    let mut before = measure_process(watching.pid())?.running;
    let mut quiet = 0;
    while quiet < 2 {
        if Instant::now() > deadline {
            bail!("the program did not come to rest within {} s", SETTLING.as_secs());
        }
        drain_events_for(watching, Duration::from_secs(1))?;
        let now = measure_process(watching.pid())?.running;
        quiet = if now.saturating_sub(before) < Duration::from_millis(10) { quiet + 1 } else { 0 };
        before = now;
    }
    Ok(())
}

/// Lets time pass while events are read and dropped.
pub fn drain_events_for(watching: &Watching, time: Duration) -> Result<()> {
    let end = Instant::now() + time;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        watching.next(left)?;
    }
    Ok(())
}

/// The use of a process, all threads added up.
pub struct Look {
    /// CPU time.
    pub running: Duration,
    wake_ups: u64,
    /// Megabytes.
    resident: f64,
    /// Megabytes.
    pub peak: f64,
}

pub fn measure_process(pid: u32) -> Result<Look> {
    let folder = Path::new("/proc").join(pid.to_string());
    let (mut running, mut wake_ups) = (Duration::ZERO, 0);
    let threads =
        fs::read_dir(folder.join("task")).with_context(|| format!("could not look at process {pid}"))?;
    for thread in threads.flatten() {
        // A thread may end between the listing and the read.
        let text = |name| fs::read_to_string(thread.path().join(name)).unwrap_or_default();
        running += Duration::from_nanos(first_number(&text("schedstat")));
        wake_ups += field(&text("status"), "voluntary_ctxt_switches:");
    }
    let status = fs::read_to_string(folder.join("status"))?;
    let megabytes = |name| field(&status, name) as f64 * 1024.0 / 1e6;
    Ok(Look { running, wake_ups, resident: megabytes("VmRSS:"), peak: megabytes("VmHWM:") })
}

/// `schedstat` begins with the CPU time in nanoseconds: far finer than the ticks in `stat`.
fn first_number(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The number after a name at the start of a line.
fn field(status: &str, name: &str) -> u64 {
    status.lines().find_map(|line| line.strip_prefix(name)).map_or(0, first_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_the_kernels_lines() {
        let status =
            "Name:\tx\nVmRSS:\t    2000 kB\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n";
        assert_eq!(field(status, "VmRSS:"), 2000);
        assert_eq!(field(status, "voluntary_ctxt_switches:"), 17);
        assert_eq!(field(status, "VmHWM:"), 0);
        assert_eq!(first_number("123456 789 3\n"), 123_456);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_use_of_this_process_can_be_read() {
        let look = measure_process(std::process::id()).unwrap();
        assert!(look.running > Duration::ZERO);
        assert!(look.resident > 0.1 && look.peak >= look.resident);
    }
}
