//! Every line that a real client wrote is read, and means what it should.

use std::collections::BTreeMap;
use std::path::PathBuf;

use watchbill_core::transcript::parse::parse_line;
use watchbill_core::transcript::record::{Body, Record};

fn fixtures(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(folder)
}

/// The transcript lines of all recordings, with the name of the recording.
fn recorded_lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(fixtures("recordings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let op: serde_json::Value = serde_json::from_str(line).unwrap();
            let path = op["path"].as_str().unwrap_or("");
            if op["op"] == "append" && path.starts_with("projects/") && path.ends_with(".jsonl") {
                lines.extend(op["text"].as_str().unwrap().lines().map(|l| (name.clone(), l.to_owned())));
            }
        }
    }
    lines
}

#[test]
fn no_recorded_line_is_malformed_or_unknown() {
    let lines = recorded_lines();
    assert!(lines.len() > 1500, "only {} lines", lines.len());
    for (name, line) in lines {
        let report = parse_line(line.as_bytes(), &mut |_| {});
        assert_eq!(report.records, 1, "{name}: {line}");
        assert_eq!(report.problems().count(), 0, "{name}: {report:?} {line}");
    }
}

/// A word for what a record says, for counting.
fn word(record: &Record<'_>) -> String {
    match &record.body {
        Body::Prompt(p) => format!("prompt {:?}", p.origin),
        Body::ToolResults(results) => format!("results {:?}", results[0].denied),
        Body::Interrupt { for_tool_use } => format!("interrupt {for_tool_use}"),
        Body::LocalCommand { name } => format!("local {}", name.as_deref().unwrap_or("-")),
        Body::Assistant(a) => format!("assistant {:?}", a.stop),
        Body::ApiError { status, .. } => format!("api error {status:?}"),
        Body::System(s) => format!("system {}", format!("{s:?}").split([' ', '(']).next().unwrap()),
        Body::Attachment(a) => format!("attachment {a:?}"),
        Body::Queue(q) => format!("queue {}", format!("{q:?}").split(' ').next().unwrap()),
        Body::Title { kind, .. } => format!("title {kind:?}"),
        other => format!("{other:?}").split(['(', ' ']).next().unwrap().to_owned(),
    }
}

#[test]
fn the_recordings_say_what_their_drivers_did() {
    let mut counts = BTreeMap::<String, u32>::new();
    for (_, line) in recorded_lines() {
        parse_line(line.as_bytes(), &mut |record| *counts.entry(word(&record)).or_default() += 1);
    }
    insta::assert_debug_snapshot!(counts);
}
