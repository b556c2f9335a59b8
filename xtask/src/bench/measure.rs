//! One run of a program and its use of CPU and memory.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

use crate::call::Call;

/// The use of one run.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    /// CPU time of the program itself and its children.
    pub user: Duration,
    /// CPU time of the system on their behalf. On a virtual machine that gives its free memory back, the first touch
    /// of each page counts here, and so does reading files outside the page cache. It may differ by a second between
    /// equal runs.
    pub system: Duration,
    /// From start to end.
    pub wall: Duration,
    /// Peak memory, in bytes.
    pub peak: u64,
}

impl Used {
    /// CPU seconds of the program and the system. Compare this figure: wall time depends on the machine's load.
    pub fn cpu_seconds(&self) -> f64 {
        (self.user + self.system).as_secs_f64()
    }

    /// Megabytes at the peak.
    pub fn peak_megabytes(&self) -> f64 {
        self.peak as f64 / 1e6
    }
}

/// Runs a program and drops its output. `good_ends` are the exit codes that mean success.
pub fn run(name: &str, call: &Call, good_ends: &[i32]) -> Result<Used> {
    let start = Instant::now();
    let child = call
        .command()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("`{}` could not be started", call.line()))?;
    let ended = child.wait4().context("could not wait for a child process")?;
    let wall = start.elapsed();
    if !ended.status.code().is_some_and(|code| good_ends.contains(&code)) {
        bail!("`{}` failed ({})", call.line(), ended.status);
    }
    let used = Used { user: ended.rusage.utime, system: ended.rusage.stime, wall, peak: ended.rusage.maxrss };
    println!(
        "  {:>7.3} CPU s ({:.3} of it the system's)  {:>7.3} s  {:>6.1} MB  {name}",
        used.cpu_seconds(),
        used.system.as_secs_f64(),
        used.wall.as_secs_f64(),
        used.peak_megabytes()
    );
    Ok(used)
}

/// The median; the mean of the two middle numbers if their count is even.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.into_iter().collect();
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => f64::midpoint(numbers[middle - 1], numbers[middle]),
        _ => numbers[middle],
    }
}

/// The number below which `share` (0 to 1) of the numbers lie, by the nearest rank.
pub fn quantile(numbers: &[f64], share: f64) -> f64 {
    let mut numbers = numbers.to_vec();
    numbers.sort_by(f64::total_cmp);
    let rank = (share * numbers.len() as f64).ceil().max(1.0) as usize;
    numbers.get(rank - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quantiles_follow_the_nearest_rank() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&hundred, 0.5), 50.0);
        assert_eq!(quantile(&hundred, 0.99), 99.0);
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[cfg(unix)]
    #[test]
    fn a_run_reports_time_and_memory_and_fails_by_its_exit_code() {
        let shell = |script: &str| Call::new(std::path::Path::new("."), "sh").args(["-c", script]);
        let used = run("sh", &shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"), &[0]).unwrap();
        assert!(used.cpu_seconds() > 0.0 && used.peak > 100_000, "{used:?}");
        assert!(run("sh", &shell("exit 1"), &[0]).is_err());
        assert!(run("sh", &shell("exit 1"), &[0, 1]).is_ok());
    }
}
