//! The full read that a first start makes.

use anyhow::Result;

use super::corpus::{self, Generated};
use super::measure::{self, Used, median};
use super::{Bench, Row};
use crate::call::Call;

/// CPU seconds for each gigabyte.
const CPU_PER_GIGABYTE: f64 = 0.9;
/// Megabytes, however much there is to read.
const PEAK: f64 = 80.0;
/// Seconds for the default roster of a hundred thousand sessions, on two free cores.
const CROWD_TIME: f64 = 3.0;
/// Megabytes for the same.
const CROWD_PEAK: f64 = 150.0;

/// Many sessions.
pub fn cold(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::many(bench)?;
    // The first round fills the page cache and is not counted.
    let first = one(bench, &corpus)?;
    let runs = (0..bench.rounds).map(|_| one(bench, &corpus)).collect::<Result<Vec<_>>>()?;
    let mut rows = summary("cold pass", &runs, &corpus);
    rows.push(Row::without_target(
        "cold pass, uncounted first run",
        format!("{:.2} s", first.wall.as_secs_f64()),
    ));
    Ok(rows)
}

/// One session of half a gigabyte: time may grow with it, memory may not.
pub fn huge(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::huge(bench)?;
    one(bench, &corpus)?;
    let runs = (0..bench.rounds).map(|_| one(bench, &corpus)).collect::<Result<Vec<_>>>()?;
    Ok(summary("huge session", &runs, &corpus))
}

/// A hundred thousand sessions, of which a few hundred are shown: memory must not grow with the others, and only
/// reading them may take long.
pub fn crowd(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::crowd(bench)?;
    let call = bench.watchbill_on(&["roster", "--json"], &corpus.claude_dir, "nothing")?;
    // The first run fills the page cache.
    measure::run("watchbill", &call, &[0])?;
    let runs =
        (0..bench.rounds).map(|_| measure::run("watchbill", &call, &[0])).collect::<Result<Vec<_>>>()?;
    let cpu = median(runs.iter().map(Used::cpu_seconds));
    let wall = median(runs.iter().map(|used| used.wall.as_secs_f64()));
    let peak = median(runs.iter().map(Used::peak_megabytes));
    Ok(vec![
        Row::at_most("roster of 100,000 sessions, time", wall, "s", CROWD_TIME),
        Row::without_target("  CPU", format!("{cpu:.2} s for {:.2} GB", corpus.gigabytes())),
        Row::at_most("  peak memory", peak, "MB", CROWD_PEAK),
    ])
}

fn summary(name: &str, runs: &[Used], corpus: &Generated) -> Vec<Row> {
    let cpu = median(runs.iter().map(|used| used.cpu_seconds() / corpus.gigabytes()));
    let wall = median(runs.iter().map(|used| used.wall.as_secs_f64()));
    let peak = median(runs.iter().map(Used::peak_megabytes));
    vec![
        Row::at_most(format!("{name}, CPU"), cpu, "CPU s/GB", CPU_PER_GIGABYTE),
        Row::without_target(format!("{name}, time"), format!("{wall:.2} s for {:.2} GB", corpus.gigabytes())),
        Row::at_most(format!("{name}, peak memory"), peak, "MB", PEAK),
    ]
}

fn one(bench: &Bench, corpus: &Generated) -> Result<Used> {
    let call = all_rows(bench, corpus)?;
    measure::run("watchbill", &call, &[0])
}

/// The roster of all sessions, from files alone.
pub fn all_rows(bench: &Bench, corpus: &Generated) -> Result<Call> {
    // With an empty data folder everything is read.
    bench.watchbill_on(&["roster", "--json", "--no-live", "--all"], &corpus.claude_dir, "nothing")
}
