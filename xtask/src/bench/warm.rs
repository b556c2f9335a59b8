//! Starts with everything in the store and no changes since.

use std::time::Duration;

use anyhow::Result;

use super::corpus::{self, Generated};
use super::measure::{self, Used, median};
use super::watching::Watching;
use super::{Bench, Row};

/// CPU milliseconds of a start with two thousand sessions.
const CPU: f64 = 30.0;
/// Milliseconds of a start with twenty thousand.
const MANY_TIME: f64 = 300.0;
/// Megabytes with twenty thousand.
const MANY_PEAK: f64 = 150.0;
/// After that long without an event, everything is stored.
const QUIET_TIME: Duration = Duration::from_secs(5);

/// Two thousand sessions.
pub fn warm(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::many(bench)?;
    let runs = starts(bench, &corpus, "warm")?;
    let cpu = median(runs.iter().map(|used| used.cpu_seconds() * 1000.0));
    Ok(vec![
        Row::at_most("warm start, CPU", cpu, "ms", CPU),
        Row::without_target("warm start, time", time(&runs)),
        Row::without_target("warm start, peak memory", format!("{:.0} MB", peak(&runs))),
    ])
}

/// Twenty thousand.
pub fn many(bench: &Bench) -> Result<Vec<Row>> {
    let runs = starts(bench, &corpus::very_many(bench)?, "warm-many")?;
    let wall = median(runs.iter().map(|used| used.wall.as_secs_f64() * 1000.0));
    Ok(vec![
        Row::at_most("warm start of 20,000 sessions, time", wall, "ms", MANY_TIME),
        Row::at_most("warm start of 20,000 sessions, peak memory", peak(&runs), "MB", MANY_PEAK),
    ])
}

fn time(runs: &[Used]) -> String {
    format!("{:.0} ms", median(runs.iter().map(|used| used.wall.as_secs_f64() * 1000.0)))
}

fn peak(runs: &[Used]) -> f64 {
    median(runs.iter().map(Used::peak_megabytes))
}

/// Lets a program store everything, then runs starts that only look.
fn starts(bench: &Bench, corpus: &Generated, data: &str) -> Result<Vec<Used>> {
    bench.forget(data)?;
    let watching = Watching::start_on(bench, &[&corpus.claude_dir], data)?;
    watching.snapshot()?;
    while watching.next(QUIET_TIME)?.is_some() {}
    drop(watching);
    let call = bench.watchbill_on(&["status"], &corpus.claude_dir, data)?;
    // The first run brings the store into the page cache.
    measure::run("watchbill", &call, &[0])?;
    (0..bench.rounds).map(|_| measure::run("watchbill", &call, &[0])).collect()
}
