//! Measurements of a whole process, which need a process of their own: its threads and its memory, with a transcript
//! of three gigabytes.

#![cfg(target_os = "linux")]
// A test that cannot go on panics.
#![allow(clippy::expect_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use watchbill_engine::handle::start;
use watchbill_engine::model::publish::Subscription;
use watchbill_protocol::roster::RosterMessage;
use watchbill_settings::Settings;

const TIMEOUT: Duration = Duration::from_secs(60);

/// The threads of this process, by number and name.
fn threads() -> BTreeSet<String> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("every process has threads");
    tasks
        .flatten()
        .map(|task| {
            // A thread may end between the two reads.
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            format!("{} {}", task.file_name().to_string_lossy(), name.trim())
        })
        .collect()
}

/// The peak memory of this process, in bytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("every process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("with its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("in kilobytes") << 10
}

fn prompt(path: &Path) {
    let line = concat!(
        r#"{"type":"user","uuid":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-20T15:30:52.694Z","#,
        r#""message":{"role":"user","content":"go"},"sessionId":"s","cwd":"/","version":"1.0.0"}"#,
        "\n"
    );
    std::fs::write(path, line).expect("a temporary folder can be written");
}

#[test]
fn a_huge_empty_file_delays_no_session_and_a_stop_leaves_no_thread() {
    let dir = tempfile::tempdir().expect("there is room for a temporary folder");
    let project = dir.path().join("projects/p");
    std::fs::create_dir_all(&project).expect("a temporary folder can be written");
    let huge = std::fs::File::create(project.join("huge.jsonl")).expect("a temporary folder can be written");
    huge.set_len(3 << 30).expect("a hole takes no room");
    prompt(&project.join("small.jsonl"));

    let (threads_before, memory_before) = (threads(), most_memory());
    let handle = start(Settings::for_roots(vec![dir.path().to_owned()])).expect("the engine starts");
    let (sender, messages) = channel();
    let wants = Subscription { all: true, ..Subscription::default() };
    handle.subscribe(wants, Box::new(move |message| sender.send(message).is_ok()));
    let end = Instant::now() + TIMEOUT;
    let mut shown = false;
    while !shown {
        let message = messages.recv_timeout(end.saturating_duration_since(Instant::now()));
        shown = match message.expect("the small session is shown while the huge one is read") {
            RosterMessage::Snapshot(snapshot) => {
                snapshot.sessions.iter().any(|row| row.session_id == "small")
            }
            RosterMessage::Delta(delta) => delta.upserts.iter().any(|row| row.session.session_id == "small"),
            RosterMessage::Select { .. } | RosterMessage::Stopped => false,
        };
    }
    handle.stop();
    while !threads().is_subset(&threads_before) {
        assert!(Instant::now() < end, "these still run: {:?}", threads().difference(&threads_before));
        std::thread::yield_now();
    }

    // The whole file costs the memory of one line, and is reported as a problem. A sixth of the file is enough for
    // that in a debug build.
    huge.set_len(512 << 20).expect("a file can be cut");
    let handle = start(Settings::for_roots(vec![dir.path().to_owned()])).expect("the engine starts");
    let end = Instant::now() + TIMEOUT;
    let problems = loop {
        let roster = handle.roster(true).expect("the engine runs");
        if !roster.reading {
            break roster.problems;
        }
        assert!(Instant::now() < end, "it is read in vain");
        std::thread::yield_now();
    };
    handle.stop();
    assert_eq!(problems.iter().map(|problem| problem.kind.as_str()).collect::<Vec<_>>(), ["huge_line"]);
    let grown = most_memory() - memory_before;
    assert!(grown < 300 << 20, "{} MiB for a file of nothing", grown >> 20);
}
