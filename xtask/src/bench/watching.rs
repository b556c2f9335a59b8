//! A running `watchbill watch --json`; each line gets its arrival time.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::measure::median;
use super::{Bench, Row, cold, corpus};
use crate::call::Call;

/// The longest wait for a first line; a debug build over a gigabyte needs some of it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Milliseconds from start to first rows.
const FIRST_ROWS: f64 = 150.0;

/// The process and its lines. It ends with this value.
pub struct Watching {
    child: Child,
    lines: Receiver<(Instant, String)>,
    /// The start time.
    pub started: Instant,
}

/// A parsed line, and its arrival time.
pub struct Event {
    pub at: Instant,
    pub value: Value,
}

impl Watching {
    /// Starts the program over a folder.
    pub fn start(bench: &Bench, claude_dir: &Path) -> Result<Self> {
        Self::start_on(bench, &[claude_dir], "data")
    }

    /// Starts the program over folders, the first of which has sessions, with a data folder of this name.
    pub fn start_on(bench: &Bench, claude_dirs: &[&Path], data: &str) -> Result<Self> {
        let Some((first, others)) = claude_dirs.split_first() else { bail!("no folder is named") };
        // The generated sessions are too old for the default roster.
        let mut call = bench.watchbill_on(&["watch", "--json", "--all"], first, data)?;
        for other in others {
            call = call.args(["--claude-dir"]).args([other]);
        }
        let started = Instant::now();
        let mut child = call
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("`{}` could not be started", call.line()))?;
        let output = child.stdout.take().context("the program has no output")?;
        let (sender, lines) = mpsc::channel();
        // The thread ends when the program ends, or when the receiver is dropped.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines, started })
    }

    /// The next event, or `None` if none came in time.
    pub fn next(&self, patience: Duration) -> Result<Option<Event>> {
        match self.lines.recv_timeout(patience) {
            Ok((at, line)) => {
                let value = serde_json::from_str(&line).with_context(|| format!("no JSON: {line:.200}"))?;
                Ok(Some(Event { at, value }))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("`watchbill watch --json` ended by itself"),
        }
    }

    /// The first event, which must be a snapshot.
    pub fn snapshot(&self) -> Result<Event> {
        let Some(event) = self.next(TIMEOUT)? else {
            bail!("`watchbill watch --json` said nothing for {} s", TIMEOUT.as_secs());
        };
        if event.value["event"] != "snapshot" {
            bail!("`watchbill watch --json` began with {} instead of a snapshot", event.value["event"]);
        }
        Ok(event)
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // Either it runs and ends now, or it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time from the start of the program to its first rows, and to all of them.
pub fn first_rows(bench: &Bench) -> Result<Vec<Row>> {
    let corpus = corpus::many(bench)?;
    let expected = rows_of(&cold::all_rows(bench, &corpus)?)?;
    let (mut first, mut all) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        bench.forget("data")?;
        let watching = Watching::start(bench, &corpus.claude_dir)?;
        let milliseconds = |event: &Event| (event.at - watching.started).as_secs_f64() * 1000.0;
        let mut event = watching.snapshot()?;
        let mut rows = event.value["sessions"].as_array().map_or(0, Vec::len);
        let (to_snapshot, mut to_first) = (milliseconds(&event), None);
        loop {
            if rows > 0 && to_first.is_none() {
                to_first = Some(milliseconds(&event));
            }
            if rows >= expected {
                break;
            }
            let Some(next) = watching.next(TIMEOUT)? else {
                bail!("{rows} of {expected} rows had come, and then nothing for {} s", TIMEOUT.as_secs());
            };
            event = next;
            match event.value["event"].as_str() {
                Some("discovered") => rows += 1,
                Some("removed") => rows = rows.saturating_sub(1),
                _ => {}
            }
        }
        let to_first = to_first.unwrap_or(to_snapshot);
        println!(
            "  snapshot after {to_snapshot:.0} ms, first row after {to_first:.0} ms, all {rows} after {:.0} ms",
            milliseconds(&event)
        );
        first.push(to_first);
        all.push(milliseconds(&event));
    }
    Ok(vec![
        Row::at_most("first rows", median(first), "ms", FIRST_ROWS),
        Row::without_target(format!("all {expected} rows"), format!("{:.0} ms", median(all))),
    ])
}

/// The number of rows that a call of `roster --json` prints.
fn rows_of(call: &Call) -> Result<usize> {
    let output = call.quiet_output().with_context(|| format!("`{}` failed", call.line()))?;
    let roster: Value = serde_json::from_str(&output).context("the roster is no JSON")?;
    roster["sessions"].as_array().map(Vec::len).context("the roster has no sessions")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// A stand-in for `watchbill` that prints these lines and then runs `then`.
    fn stand_in(lines: &[&str], then: &str) -> (tempfile::TempDir, Result<Watching>) {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("watchbill");
        let echoes: Vec<_> = lines.iter().map(|line| format!("echo '{line}'")).collect();
        std::fs::write(&script, format!("#!/bin/sh\n{}\n{then}\n", echoes.join("\n"))).unwrap();
        let mut permissions = std::fs::metadata(&script).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
        std::fs::set_permissions(&script, permissions).unwrap();
        let tree = Tree::find().unwrap();
        let bench = Bench { tree: &tree, rounds: 1, small: true, program: script };
        let watching = Watching::start(&bench, folder.path());
        (folder, watching)
    }

    #[test]
    fn the_snapshot_comes_first_and_the_program_ends_with_its_owner() {
        let lines = [r#"{"event":"snapshot","sessions":[{}]}"#, r#"{"event":"removed","sessionId":"a"}"#];
        let (_folder, watching) = stand_in(&lines, "exec tail -f /dev/null");
        let watching = watching.unwrap();
        assert_eq!(watching.snapshot().unwrap().value["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(watching.next(TIMEOUT).unwrap().unwrap().value["event"], "removed");
        assert!(watching.next(Duration::from_millis(20)).unwrap().is_none());
        let process = std::path::PathBuf::from(format!("/proc/{}", watching.pid()));
        drop(watching);
        assert!(!process.exists());
    }

    #[test]
    fn a_watch_that_ends_or_begins_without_a_snapshot_is_an_error() {
        let (_folder, watching) = stand_in(&[], "exit 1");
        let error = watching.unwrap().snapshot().map(drop).unwrap_err();
        assert!(error.to_string().contains("ended by itself"), "{error}");
        let (_folder, watching) = stand_in(&[r#"{"event":"updated"}"#], "exec tail -f /dev/null");
        let error = watching.unwrap().snapshot().map(drop).unwrap_err();
        assert!(error.to_string().contains("instead of a snapshot"), "{error}");
    }
}
