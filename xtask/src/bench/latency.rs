//! From an appended line to its event, with fifty clients at work.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::idle;
use super::measure::quantile;
use super::watching::{Event, Watching};
use super::{Bench, Row, corpus};

const SESSIONS: usize = 50;
/// The number of lines appended while measuring.
const APPENDS: usize = 2000;
/// The time between two lines, over all sessions: fifty clients that each write two and a half lines a second.
const PACE: Duration = Duration::from_millis(8);
/// Milliseconds that ninety-nine of a hundred lines may take.
const P99: f64 = 50.0;
/// Milliseconds of all threads for a line, until it is stored and can be found.
const CPU: f64 = 1.0;
/// The number of lines appended to an enormous session.
const TO_HUGE: usize = 200;
/// The time between two of them.
const HUGE_PACE: Duration = Duration::from_millis(25);
/// After that long without an event, everything is stored.
const QUIET_TIME: Duration = Duration::from_secs(5);
/// The wait for the last events, after the last line.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Appends lines and reads events.
pub fn latency(bench: &Bench) -> Result<Vec<Row>> {
    bench.forget("data")?;
    measure(bench, "line to event", &[])
}

/// One client that continues a session of half a gigabyte: the cost of a line must not grow with the file.
pub fn append_to_huge(bench: &Bench) -> Result<Vec<Row>> {
    bench.forget("append")?;
    let corpus = corpus::huge(bench)?;
    let mut writer = Writer::go_on(&corpus::largest(&corpus.claude_dir.join("projects"))?)?;
    let before = fs::metadata(&writer.path)?.len();
    let watching = Watching::start_on(bench, &[&corpus.claude_dir], "append")?;
    watching.snapshot()?;
    // The first line restores the evicted data; the others are typical.
    let (first, _) = go_on(&watching, &mut writer, 1)?;
    let (cpu, peak) = go_on(&watching, &mut writer, TO_HUGE)?;
    drop(watching);
    OpenOptions::new().write(true).open(&writer.path)?.set_len(before)?;
    Ok(vec![
        Row::without_target("first line to a huge session, CPU", format!("{first:.1} ms")),
        Row::at_most("line to a huge session, CPU until it can be found", cpu, "ms", CPU),
        Row::without_target("huge session, peak memory of the first start", format!("{peak:.0} MB")),
    ])
}

/// Appends that many lines to a program at rest. Returns the milliseconds that each cost until the program rests
/// again, and its peak memory in megabytes.
fn go_on(watching: &Watching, writer: &mut Writer, lines: usize) -> Result<(f64, f64)> {
    idle::settle(watching)?;
    let before = idle::measure_process(watching.pid())?.running;
    for _ in 0..lines {
        writer.append()?;
        idle::drain_events_for(watching, HUGE_PACE)?;
    }
    while watching.next(QUIET_TIME)?.is_some() {}
    let after = idle::measure_process(watching.pid())?;
    let used = after.running.saturating_sub(before);
    Ok((used.as_secs_f64() * 1000.0 / lines as f64, after.peak))
}

/// The same while the store is filled for the first time.
pub fn while_indexing(bench: &Bench) -> Result<Vec<Row>> {
    bench.forget("data")?;
    let corpus = corpus::many(bench)?;
    measure(bench, "line to event while indexing", &[&corpus.claude_dir])
}

fn measure(bench: &Bench, name: &str, beside: &[&Path]) -> Result<Vec<Row>> {
    let claude_dir = bench.tree.target("bench-live").join(".claude");
    let appends = if bench.small { APPENDS / 10 } else { APPENDS };
    let mut writers = (0..SESSIONS).map(|n| Writer::create(&claude_dir, n)).collect::<Result<Vec<_>>>()?;
    let folders: Vec<&Path> = std::iter::once(&*claude_dir).chain(beside.iter().copied()).collect();
    let watching = Watching::start_on(bench, &folders, "data")?;
    let snapshot = watching.snapshot()?;
    let mut ledger = Ledger::default();
    let before = idle::measure_process(watching.pid())?.running;
    let start = Instant::now();
    for n in 0..appends {
        let due = start + PACE * u32::try_from(n).unwrap_or(u32::MAX);
        // It reads events while it waits for the next line's time.
        while let Some(left) = due.checked_duration_since(Instant::now()) {
            match watching.next(left)? {
                Some(event) => ledger.record_event(&event),
                None => break,
            }
        }
        let writer = &mut writers[n % SESSIONS];
        let (stamp, at) = writer.append()?;
        ledger.record_line(&writer.session, stamp, at);
    }
    let deadline = Instant::now() + TIMEOUT;
    while ledger.open() > 0 {
        let Some(left) = deadline.checked_duration_since(Instant::now()) else { break };
        if let Some(event) = watching.next(left)? {
            ledger.record_event(&event);
        }
    }
    if ledger.times.is_empty() {
        bail!(
            "no event reported an appended line; the snapshot had {} sessions",
            sessions_in(&snapshot.value)
        );
    }
    // The texts follow the rows within a moment. Beside other indexing work the two cannot be separated.
    let alone = beside.is_empty();
    while alone && watching.next(QUIET_TIME)?.is_some() {}
    let used = idle::measure_process(watching.pid())?.running.saturating_sub(before);
    let cpu = alone.then(|| used.as_secs_f64() * 1000.0 / appends as f64);
    let milliseconds: Vec<f64> = ledger.times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
    // The place of a stall helps to find its cause.
    let slowest = ledger.slowest.map_or_else(String::new, |(took, written)| {
        let after = written.duration_since(start).as_secs_f64();
        format!("{:.1} ms, {after:.1} s after the first line", took.as_secs_f64() * 1000.0)
    });
    let cpu = cpu.map(|cpu| Row::at_most(format!("{name}, CPU until it can be found"), cpu, "ms", CPU));
    let times = [
        Row::without_target(format!("{name}, p50"), format!("{:.1} ms", quantile(&milliseconds, 0.5))),
        Row::at_most(format!("{name}, p99"), quantile(&milliseconds, 0.99), "ms", P99),
        Row::without_target(format!("{name}, slowest"), slowest),
        Row::at_most(format!("{name}, lines without an event"), ledger.open() as f64, "lines", 0.0),
    ];
    Ok(times.into_iter().chain(cpu).collect())
}

fn sessions_in(snapshot: &Value) -> usize {
    snapshot["sessions"].as_array().map_or(0, Vec::len)
}

/// Written lines, and the time until an event reported each.
#[derive(Default)]
struct Ledger {
    waiting: BTreeMap<String, VecDeque<(String, Instant)>>,
    times: Vec<Duration>,
    /// The longest of them, and the time when its line was written.
    slowest: Option<(Duration, Instant)>,
}

impl Ledger {
    fn record_line(&mut self, session: &str, stamp: String, at: Instant) {
        self.waiting.entry(session.to_owned()).or_default().push_back((stamp, at));
    }

    /// An event with a time reports every line up to that time: events may be coalesced.
    fn record_event(&mut self, event: &Event) {
        let value = &event.value;
        let (session, told) = match value["event"].as_str() {
            Some("updated") => (&value["sessionId"], &value["updates"]["lastActivityAt"]),
            Some("discovered") => (&value["session"]["sessionId"], &value["session"]["lastActivityAt"]),
            _ => return,
        };
        let (Some(session), Some(told)) = (session.as_str(), told.as_str()) else { return };
        let Some(waiting) = self.waiting.get_mut(session) else { return };
        // Times of one form and zone sort like their texts.
        while waiting.front().is_some_and(|(stamp, _)| stamp.as_str() <= told) {
            if let Some((_, written)) = waiting.pop_front() {
                let took = event.at.saturating_duration_since(written);
                self.times.push(took);
                self.slowest = self.slowest.max(Some((took, written)));
            }
        }
    }

    fn open(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }
}

/// One simulated client that writes its transcript.
struct Writer {
    session: String,
    path: PathBuf,
    cwd: String,
    lines: u64,
    last: u64,
}

impl Writer {
    fn create(claude_dir: &Path, number: usize) -> Result<Self> {
        let session = format!("bec40000-0000-4000-8000-{number:012x}");
        let cwd = format!("/home/dev/bench-{}", number % 7);
        let folder = claude_dir.join("projects").join(cwd.replace('/', "-"));
        fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
        let path = folder.join(format!("{session}.jsonl"));
        // An earlier run leaves its own transcript.
        fs::write(&path, "").with_context(|| format!("could not write {}", path.display()))?;
        let mut writer = Self { session, path, cwd, lines: 0, last: 0 };
        for _ in 0..4 {
            writer.append()?;
        }
        Ok(writer)
    }

    /// Continues an existing transcript.
    fn go_on(path: &Path) -> Result<Self> {
        let session =
            path.file_stem().and_then(|stem| stem.to_str()).context("a transcript without a name")?;
        let cwd = "/home/dev/bench".to_owned();
        Ok(Self { session: session.to_owned(), path: path.to_owned(), cwd, lines: 0, last: 0 })
    }

    /// Appends one record with a time that no other record of this session has. Returns that time, and the moment of
    /// the write.
    fn append(&mut self) -> Result<(String, Instant)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.last = u64::try_from(now).unwrap_or(u64::MAX).max(self.last + 1);
        let stamp = rfc3339(self.last);
        let line = format!("{}\n", self.record(&stamp));
        self.lines += 1;
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        let at = Instant::now();
        file.write_all(line.as_bytes())
            .with_context(|| format!("could not write {}", self.path.display()))?;
        Ok((stamp, at))
    }

    /// A prompt, an answer, a prompt, and so on.
    fn record(&self, stamp: &str) -> Value {
        let uuid = |line: u64| format!("{line:08x}{}", &self.session[8..]);
        let number = self.lines;
        let mut record = json!({
            "type": "user", "uuid": uuid(number), "parentUuid": number.checked_sub(1).map(uuid),
            "sessionId": self.session, "timestamp": stamp, "cwd": self.cwd, "version": "2.1.220",
            "gitBranch": "main", "isSidechain": false, "userType": "external",
            "message": { "role": "user", "content": format!("Prompt {number} of the benchmark") },
        });
        if number % 2 == 1 {
            record["type"] = json!("assistant");
            record["requestId"] = json!(format!("req_bench_{number}"));
            record["message"] = json!({
                "id": format!("msg_bench_{number}"), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
                "content": [{ "type": "text", "text": format!("Answer {number} of the benchmark") }],
                "stop_reason": "end_turn",
                "usage": { "input_tokens": 9, "output_tokens": number, "cache_read_input_tokens": 20000 },
            });
        }
        record
    }
}

/// Milliseconds since 1970 as RFC 3339 in UTC.
fn rfc3339(milliseconds: u64) -> String {
    let (days, rest) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
    // Years begin in March, so that the leap day is the last one; an era is 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", rest % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_the_transcripts_form() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
            (1_767_225_599_000, "2025-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(milliseconds), text);
        }
    }

    #[test]
    fn an_event_reports_every_line_up_to_its_time() {
        let (start, mut ledger) = (Instant::now(), Ledger::default());
        let after = |ms| start + Duration::from_millis(ms);
        for (session, second) in [("a", 1), ("a", 2), ("a", 3), ("b", 1)] {
            ledger.record_line(session, rfc3339(second * 1000), start);
        }
        let event = |at, value| Event { at, value };
        ledger.record_event(&event(
            after(5),
            json!({ "event": "updated", "sessionId": "a", "updates": { "title": "x" } }),
        ));
        assert_eq!((ledger.open(), ledger.times.len()), (4, 0));
        let told = json!({ "lastActivityAt": rfc3339(2000) });
        ledger
            .record_event(&event(after(7), json!({ "event": "updated", "sessionId": "a", "updates": told })));
        assert_eq!(ledger.times, [Duration::from_millis(7); 2]);
        let session = json!({ "sessionId": "b", "lastActivityAt": rfc3339(1000) });
        ledger.record_event(&event(after(9), json!({ "event": "discovered", "session": session })));
        assert_eq!((ledger.open(), ledger.times.len()), (1, 3));
    }

    #[test]
    fn a_simulated_client_writes_whole_lines_with_rising_times() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = Writer::create(folder.path(), 3).unwrap();
        writer.append().unwrap();
        let text = fs::read_to_string(&writer.path).unwrap();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records.len(), 5);
        let times: Vec<_> = records.iter().map(|record| record["timestamp"].as_str().unwrap()).collect();
        assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
        assert_eq!(records[1]["parentUuid"], records[0]["uuid"]);
        assert_eq!(records[1]["type"], "assistant");
    }
}
