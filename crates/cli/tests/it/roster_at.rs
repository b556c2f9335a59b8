//! `roster --at T` shows the same as a roster that has read only the records up to T.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use watchbill_engine::Timestamp;
use watchbill_engine::demo::replay::Operation;

use crate::program::{run, watchbill};
use crate::tree::{append, recording, transcript};

/// The complete transcripts of a recording.
fn files(name: &str) -> BTreeMap<PathBuf, String> {
    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (_, operation) in recording(name).operations {
        if let Operation::Append { path, text } = operation
            && path.starts_with("projects")
        {
            files.entry(path).or_default().push_str(&text);
        }
    }
    files
}

fn time_of(line: &str) -> Option<Timestamp> {
    let record: Value = serde_json::from_str(line).ok()?;
    Timestamp::parse(record["timestamp"].as_str()?)
}

/// The lines up to `until`. A line without a time belongs to the line before it. At the head of a file it belongs to
/// the first line with a time.
fn up_to(text: &str, until: Timestamp) -> String {
    let mut beyond = text.lines().find_map(time_of).is_none_or(|first| first > until);
    let mut kept = String::new();
    for line in text.lines() {
        if let Some(at) = time_of(line) {
            beyond = at > until;
        }
        if !beyond {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn roster(home: &Path, files: impl Iterator<Item = (PathBuf, String)>, until: Timestamp) -> Value {
    let root = home.join(".claude");
    if root.exists() {
        std::fs::remove_dir_all(&root).unwrap();
    }
    std::fs::create_dir(&root).unwrap();
    files.filter(|(_, text)| !text.is_empty()).for_each(|(path, text)| append(&root, &path, &text));
    let output = run(watchbill(home).args(["roster", "--json", "--all", "--at", &until.to_string()]));
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let roster: Value = serde_json::from_str(&output.out).unwrap();
    roster["sessions"].clone()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_past_roster_equals_one_of_the_records_up_to_that_time(
        name in prop::sample::select(vec!["06a-compact-manual", "06e-clear", "07a-subagent-foreground", "04b-permission-deny"]),
        part in 0.0..1.05f64,
    ) {
        let files = files(name);
        let times: Vec<Timestamp> = files.values().flat_map(|text| text.lines().filter_map(time_of)).collect();
        let (first, last) = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
        let until = Timestamp::from_millis(first.as_millis() + (last.since(first).0 as f64 * part) as i64);
        let home = tempfile::tempdir().unwrap();
        let told = roster(home.path(), files.clone().into_iter(), until);
        let fed = roster(home.path(), files.into_iter().map(|(path, text)| (path, up_to(&text, until))), until);
        prop_assert_eq!(told, fed);
    }
}

#[test]
fn a_past_roster_ignores_later_markers() {
    let home = tempfile::tempdir().unwrap();
    let work = home.path().join("work");
    std::fs::create_dir_all(work.join(".claude")).unwrap();
    let record = |session: &str, at: &str| {
        serde_json::json!({
            "type": "user", "uuid": format!("{session}-{at}"), "message": { "role": "user", "content": "x" },
            "timestamp": at, "cwd": work, "sessionId": session,
        })
    };
    let root = home.path().join(".claude");
    crate::tree::transcript(&root, "before", &[record("before", "2026-11-20T10:00:00.000Z")]);
    crate::tree::transcript(&root, "after", &[record("after", "2026-11-20T10:10:00.000Z")]);
    let marker = serde_json::json!({ "newSessionId": "after", "cwd": work, "compactedAt": "2026-11-20T10:10:00.000Z" });
    std::fs::write(work.join(".claude/compacted.after.marker"), marker.to_string()).unwrap();
    let superseded = |at: &str| -> Vec<String> {
        let output = run(watchbill(home.path()).args(["roster", "--json", "--all", "--at", at]));
        let roster: Value = serde_json::from_str(&output.out).unwrap();
        let sessions = roster["sessions"].as_array().unwrap().iter();
        sessions
            .filter(|s| s["superseded"] == true)
            .map(|s| s["sessionId"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(superseded("2026-11-20T10:20:00Z"), ["before"]);
    assert_eq!(superseded("2026-11-20T10:05:00Z"), [""; 0]);
    assert_eq!(superseded("0m"), ["before"], "a span is counted back from now");
    assert_eq!(superseded("5000w"), [""; 0]);
}

#[test]
fn an_empty_past_roster_speaks_of_the_past() {
    let home = tempfile::tempdir().unwrap();
    let line = serde_json::json!({
        "type": "user", "uuid": "1", "sessionId": "a", "timestamp": "2026-11-10T15:00:00.000Z",
        "message": {"role": "user", "content": "hello"},
    });
    transcript(&home.path().join(".claude"), "a", &[line]);
    let at = |time: &str| run(watchbill(home.path()).args(["roster", "--at", time])).out;
    assert_eq!(at("2026-11-10T14:00:00Z"), "There were no sessions then.\n");
    assert_eq!(at("2026-11-20T14:00:00Z"), "Nothing went on then; --all shows 1 older session.\n");
}
