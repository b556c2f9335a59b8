//! `watch` as a process: its events replay to the roster, it sleeps while nothing happens, and it ends when asked.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use watchbill_protocol::event::{StoreEvent, replay};
use watchbill_protocol::roster::RosterSnapshot;

use crate::program::{run, watchbill};
use crate::tree::{act, now, recording};

/// Longer than any machine needs; only a failure waits this long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running `watch --json`. It ends with the test.
struct Watching {
    child: Child,
    events: Receiver<StoreEvent>,
}

impl Watching {
    fn start(home: &Path) -> Self {
        let mut child = watchbill(home)
            .args(["watch", "--json", "--all"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        let events = read(child.stdout.take().unwrap());
        Self { child, events }
    }

    /// Applies events until the roster is as wanted.
    fn follow(&self, roster: &mut RosterSnapshot, done: impl Fn(&RosterSnapshot) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !done(roster) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left.min(Duration::from_millis(300))) {
                Ok(event) => replay(roster, &event),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(error) => panic!("{error}; the last roster was {roster:#?}"),
            }
        }
    }

    fn first(&self) -> RosterSnapshot {
        match self.events.recv_timeout(TIMEOUT).expect("a snapshot comes first") {
            StoreEvent::Snapshot(snapshot) => snapshot,
            other => panic!("a snapshot comes first, not {other:?}"),
        }
    }

    /// The exit status, within a time limit.
    fn ended(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it goes on");
            std::thread::yield_now();
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(out: ChildStdout) -> Receiver<StoreEvent> {
    let (sender, events) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines() {
            let event = serde_json::from_str(&line.unwrap()).expect("one event a line");
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    events
}

fn roster(home: &Path) -> RosterSnapshot {
    serde_json::from_str(&run(watchbill(home).args(["roster", "--json", "--all"])).out).unwrap()
}

/// Carries a recording out on real files while they are watched, and compares the replayed events with a new roster.
fn same_as_a_fresh_look(name: &str) {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".claude");
    std::fs::create_dir(&root).unwrap();
    let recording = recording(name);
    let recording = recording.moved_to(now() - recording.length());
    let half = recording.operations.len() / 2;
    for (_, operation) in &recording.operations[..half] {
        act(&root, operation);
    }
    let watching = Watching::start(home.path());
    let mut seen = watching.first();
    for (_, operation) in &recording.operations[half..] {
        act(&root, operation);
    }
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let next = roster(home.path());
        while let Ok(event) = watching.events.recv_timeout(Duration::from_millis(100)) {
            replay(&mut seen, &event);
        }
        // Time passes between the two, and a state may change with it. Then the next pair agrees.
        if (&seen.sessions, &seen.problems) == (&next.sessions, &next.problems) && !seen.sessions.is_empty() {
            return;
        }
        if Instant::now() >= deadline {
            let lines = |roster: &RosterSnapshot| serde_json::to_string_pretty(roster).unwrap();
            let (seen, next) = (lines(&seen), lines(&next));
            let differ =
                seen.lines().zip(next.lines()).filter(|(a, b)| a != b).map(|(a, b)| format!("{a} | {b}\n"));
            panic!("{name}: replayed and fresh differ:\n{}", differ.collect::<String>());
        }
    }
}

#[test]
fn events_replay_to_the_next_roster() {
    for name in ["06a-compact-manual", "06e-clear", "07a-subagent-foreground"] {
        same_as_a_fresh_look(name);
    }
}

#[test]
fn a_new_session_is_discovered_changed_and_removed() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".claude");
    std::fs::create_dir(&root).unwrap();
    let watching = Watching::start(home.path());
    let mut roster = watching.first();
    assert!(roster.sessions.is_empty());
    let record = |n: u32, text: &str| {
        serde_json::json!({
            "type": "user", "uuid": format!("u{n}"), "message": { "role": "user", "content": text },
            "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": "s",
        })
    };
    let path = crate::tree::transcript(&root, "s", &[record(1, "first")]);
    watching.follow(&mut roster, |roster| roster.sessions.iter().any(|s| s.goal.as_deref() == Some("first")));
    let title = serde_json::json!({ "type": "custom-title", "customTitle": "Named", "sessionId": "s" });
    crate::tree::transcript(&root, "s", &[title]);
    watching.follow(&mut roster, |roster| roster.sessions[0].title.as_deref() == Some("Named"));
    std::fs::remove_file(path).unwrap();
    watching.follow(&mut roster, |roster| roster.sessions.is_empty());
}

#[test]
fn watch_prints_a_line_when_a_session_needs_the_user() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join(".claude");
    std::fs::create_dir(&root).unwrap();
    let long_ago = serde_json::json!({
        "type": "user", "uuid": "o1", "message": { "role": "user", "content": "long ago" },
        "timestamp": "2026-01-02T03:04:05.000Z", "cwd": "/home/dev/x", "sessionId": "old",
    });
    crate::tree::transcript(&root, "old", &[long_ago]);
    let mut child = watchbill(home.path()).arg("watch").stdout(Stdio::piped()).spawn().unwrap();
    let out = child.stdout.take().unwrap();
    let _ended = Watching { child, events: channel().1 };
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    let first = lines.recv_timeout(TIMEOUT).expect("it says that there is nothing yet");
    assert_eq!(
        first, "Nothing is going on now; new activity appears here as it happens.",
        "not: no sessions"
    );
    let text = "API Error: Repeated 529 Overloaded errors.";
    crate::tree::transcript(
        &root,
        "s",
        &[
            serde_json::json!({
                "type": "user", "uuid": "u1", "message": { "role": "user", "content": "go" },
                "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": "s",
            }),
            serde_json::json!({
                "type": "assistant", "uuid": "u2", "parentUuid": "u1", "isApiErrorMessage": true,
                "error": "overloaded", "message": { "role": "assistant", "model": "<synthetic>",
                    "stop_reason": "stop_sequence", "content": [{ "type": "text", "text": text }] },
                "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": "s",
            }),
        ],
    );
    // A need counts after a second; until then, the line may come without the sign.
    let needs = |line: &String| line.contains("API Error") && line.contains('▲');
    std::iter::repeat_with(|| lines.recv_timeout(TIMEOUT).expect("it is told in time")).find(needs);
}

#[test]
fn watch_does_not_wake_while_nothing_happens() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let watching = Watching::start(home.path());
    watching.first();
    let switches = || -> u64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", watching.child.id())).unwrap();
        let status = |task: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(task.unwrap().path().join("status"))
        };
        let count = |status: String| -> u64 {
            let line =
                status.lines().find(|line| line.starts_with("voluntary_ctxt_switches")).unwrap().to_owned();
            line.split_whitespace().last().unwrap().parse().unwrap()
        };
        tasks.filter_map(|task| status(task).ok()).map(count).sum()
    };
    // The work of the start takes a moment to end, a long one on a busy machine. After that nothing may wake.
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let before = switches();
        let quiet = watching.events.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout);
        // A thread that ends takes its count along, so the sum may also fall.
        let after = switches();
        if quiet && after == before {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "threads woke up in a second without a change: {before}, then {after}"
        );
    }
}

#[test]
fn watch_ends_when_its_reader_closes_or_on_an_interrupt() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let child = watchbill(home.path()).args(["watch", "--json"]).stdout(writer).spawn().unwrap();
    let mut watching = Watching { child, events: channel().1 };
    let mut line = String::new();
    let mut reader = BufReader::new(reader);
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"event\":\"snapshot\""), "{line}");
    drop(reader);
    assert_eq!(watching.ended().code(), Some(0), "nothing was written after the reader had gone");

    let mut watching = Watching::start(home.path());
    watching.first();
    let pid = rustix::process::Pid::from_child(&watching.child);
    // A shell starts background programs with Ctrl-C ignored, and they pass that on to this process and its child.
    let signal =
        if ignores_interrupts() { rustix::process::Signal::TERM } else { rustix::process::Signal::INT };
    rustix::process::kill_process(pid, signal).unwrap();
    let status = watching.ended();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal.as_raw()), "{status}");
}

/// Whether this process ignores Ctrl-C: bit 1 of the ignored signals is SIGINT.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits & 0b10 != 0)
}

#[test]
fn the_demo_can_be_watched_as_text() {
    let home = tempfile::tempdir().unwrap();
    // As in a hook of git: these variables name the repository of the user.
    let of_user = home.path().join("of-user");
    assert!(Command::new("git").args(["init", "--quiet"]).arg(&of_user).status().unwrap().success());
    let mut demo = watchbill(home.path());
    demo.args(["--demo", "watch"]).env("GIT_DIR", of_user.join(".git")).env("GIT_WORK_TREE", &of_user);
    let mut child = demo.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let _ended = Watching { child, events: channel().1 };
    assert!(lines.next().unwrap().starts_with("Needs you"), "the first sight is no empty list");
    // A line for a change begins with its time.
    let is_change = |line: &String| matches!(line.as_bytes(), [_, _, b':', _, _, b':', _, _, b' ', ..]);
    let change = lines.find(is_change).expect("something changes");
    assert!(change.is_char_boundary(9) && change.len() > 30, "{change}");
    assert!(!of_user.join(".git/index").exists(), "the repository of the demo is another one");
}
