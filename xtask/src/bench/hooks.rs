//! The cost of a hook for the client: the time from start to end of the hook program, with and without a receiver.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::measure::{median, quantile};
use super::watching::Watching;
use super::{Bench, Row};

/// The number of events in each measurement.
const EVENTS: usize = 500;
/// Milliseconds at the median with a receiver, and without one.
const HEARD: f64 = 5.0;
const SPOOLED: f64 = 10.0;
/// The data folder of this part.
const DATA: &str = "hooks-data";
/// The longest wait for the receiver to listen.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends events without a receiver, then to a `watch`.
pub fn hooks(bench: &Bench) -> Result<Vec<Row>> {
    let home = bench.tree.target("bench-home");
    let (data, claude_dir) = (home.join(DATA), home.join("hooks-claude"));
    bench.forget(DATA)?;
    std::fs::create_dir_all(claude_dir.join("projects"))?;
    let mut rows = send(bench, &data, "hook, without a receiver", SPOOLED)?;
    let watching = Watching::start_on(bench, &[&claude_dir], DATA)?;
    let begun = Instant::now();
    let spool = data.join("hooks/spool");
    while !has_receiver(&data) || std::fs::read_dir(&spool)?.next().is_some() {
        if begun.elapsed() > TIMEOUT {
            bail!("nothing listens in {}", data.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    rows.extend(send(bench, &data, "hook, with a receiver", HEARD)?);
    let spooled = std::fs::read_dir(&spool)?.count();
    rows.push(Row::without_target("of these, spooled anyway", spooled.to_string()));
    drop(watching);
    Ok(rows)
}

fn has_receiver(data: &std::path::Path) -> bool {
    let mut entries = std::fs::read_dir(data.join("hooks/ears")).into_iter().flatten().flatten();
    entries.any(|entry| entry.path().extension().is_some_and(|end| end == "sock"))
}

fn send(bench: &Bench, data: &std::path::Path, what: &str, target: f64) -> Result<Vec<Row>> {
    let payload = serde_json::json!({
        "session_id": "5f3a2b10-0000-4000-8000-000000000001", "hook_event_name": "PreToolUse",
        "cwd": "/home/dev/work", "tool_name": "Bash", "tool_input": {"command": "x".repeat(2_000)},
    })
    .to_string();
    let events = if bench.small { EVENTS / 10 } else { EVENTS };
    let mut took: Vec<f64> = Vec::with_capacity(events);
    for _ in 0..events {
        let begun = Instant::now();
        let mut child = std::process::Command::new(&bench.program)
            .arg("hook")
            .arg("--data-dir")
            .arg(data)
            .env_clear()
            .env("HOME", bench.tree.target("bench-home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("the hook could not be started")?;
        child.stdin.take().context("a hook without a pipe")?.write_all(payload.as_bytes())?;
        if !child.wait()?.success() {
            bail!("a hook failed, and no hook may fail");
        }
        took.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(vec![
        Row::at_most(format!("{what}, median"), median(took.iter().copied()), "ms", target),
        Row::without_target(format!("{what}, 99 of 100 within"), format!("{:.1} ms", quantile(&took, 0.99))),
    ])
}
