//! Ctrl-C while `index` reads the history: the part that was read stays, and the next run goes on from there.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::program::{Finished, run, watchbill};
use crate::tree::append;

/// More than one step takes in. Reading all of it takes seconds, and one file an instant.
const SESSIONS: usize = 230;
const LINES: usize = 40;

/// A home with enough sessions to keep `index` busy for a while.
pub fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for session in 0..SESSIONS {
        let id = format!("dddddddd-0000-4000-8000-{session:012}");
        let mut text = String::new();
        for line in 0..LINES {
            let words = format!("value{session}x{line} begins at row{line} ").repeat(60);
            let record = json!({
                "type": "assistant", "uuid": format!("{session:08}-0000-4000-8000-{line:012}"), "sessionId": id,
                "timestamp": format!("2026-11-20T15:{:02}:{:02}.000Z", line / 60, line % 60),
                "message": {"id": format!("m{line}"), "role": "assistant", "model": "claude-opus-4-6",
                    "content": [{"type": "text", "text": words}]},
            });
            text += &format!("{record}\n");
        }
        append(
            &home.path().join(".claude"),
            &PathBuf::from(format!("projects/-home-dev-x/{id}.jsonl")),
            &text,
        );
    }
    home
}

/// Indexes them into a data folder of this name.
pub fn index(home: &Path, data: &str) -> std::process::Command {
    let mut command = watchbill(home);
    command.arg("--data-dir").arg(home.join(data)).args(["index", "--json"]);
    command
}

fn json_of(output: &Finished) -> Value {
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    serde_json::from_str(&output.out).expect("JSON")
}

/// The answers of a count and of searches for a word of some sessions.
fn stored(home: &Path, data: &str) -> Vec<Value> {
    let ask = |words: &[&str]| {
        let mut answer = json_of(&run(watchbill(home).arg("--data-dir").arg(home.join(data)).args(words)));
        answer.as_object_mut().map(|answer| answer.remove("tookMs"));
        answer
    };
    let mut answers = vec![ask(&["stats", "--json"])];
    for session in (0..SESSIONS).step_by(17) {
        answers.push(ask(&["search", "--json", "--as-stored", &format!("value{session}x7")]));
    }
    answers
}

#[test]
fn an_interrupted_index_loses_no_record_and_the_next_run_goes_on() {
    let home = home();
    let mut child = index(home.path(), "data")
        .env("WATCHBILL_LOG", "watchbill_history::index=debug")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The log line comes after a first step, with more to do. If the program ends without it, reading the line ends
    // too.
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    assert!(line.contains("a step is stored") && !line.contains("left=0"), "{line}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("WARN") && !rest.contains("watchbill: "), "{rest}");
    let output: Finished = child.wait_with_output().unwrap().into();
    assert_eq!((output.code, output.out.as_str()), (130, ""));

    let report = json_of(&run(&mut index(home.path(), "data")));
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("files"), SESSIONS as u64);
    // The second run neither began anew nor found everything done: it went on.
    assert!((1..SESSIONS as u64).contains(&count("skipped")), "{report}");

    json_of(&run(&mut index(home.path(), "whole")));
    assert_eq!(stored(home.path(), "data"), stored(home.path(), "whole"));
}
