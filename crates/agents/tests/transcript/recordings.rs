//! Every line of a real client is read, and has the right meaning.

use std::collections::BTreeMap;

use watchbill_agents::claude::records::parse_line;
use watchbill_core::transcript::record::{Body, Record};

use crate::fixtures::{record_types, transcripts};

#[test]
fn no_recorded_line_is_malformed_or_unknown() {
    let mut lines = 0;
    for transcript in transcripts() {
        for line in transcript.text.lines() {
            let report = parse_line(line.as_bytes(), &mut |_, _| {});
            assert_eq!(report.records, 1, "{}: {line}", transcript.name);
            assert_eq!(report.problems().count(), 0, "{}: {report:?} {line}", transcript.name);
            lines += 1;
        }
    }
    assert!(lines > 1500, "only {lines} lines: the fixtures are gone");
}

#[test]
fn each_record_type_is_read_as_what_it_is() {
    let mut bodies = BTreeMap::new();
    for (name, line) in record_types() {
        let mut body = String::new();
        let report = parse_line(line.as_bytes(), &mut |record, _| body = format!("{:?}", record.body));
        assert_eq!((report.records, report.problems().count()), (1, 0), "{name}: {report:?}");
        bodies.insert(name, body);
    }
    insta::assert_debug_snapshot!(bodies);
}

/// A short name of a record's content, for counting.
fn word(record: &Record<'_>) -> String {
    let first = |debug: String| debug.split(['(', ' ']).next().unwrap_or_default().to_owned();
    match &record.body {
        Body::Prompt(p) => format!("prompt {:?}", p.origin),
        Body::ToolResults(results) => format!("results {:?}", results[0].denied),
        Body::Interrupt => "interrupt".to_owned(),
        Body::LocalCommand { name } => format!("local {}", name.as_deref().unwrap_or("-")),
        Body::Assistant(a) => format!("assistant {:?}", a.stop),
        Body::ApiError { kind, .. } => format!("api error {kind:?}"),
        Body::System(s) => format!("system {}", first(format!("{s:?}"))),
        Body::Attachment(a) => format!("attachment {a:?}"),
        Body::Queue(q) => format!("queue {}", first(format!("{q:?}"))),
        Body::Title { kind, .. } => format!("title {kind:?}"),
        other => first(format!("{other:?}")),
    }
}

#[test]
fn the_recordings_say_what_their_drivers_did() {
    let mut counts = BTreeMap::<String, u32>::new();
    for transcript in transcripts() {
        for line in transcript.text.lines() {
            parse_line(line.as_bytes(), &mut |record, _| *counts.entry(word(&record)).or_default() += 1);
        }
    }
    insta::assert_debug_snapshot!(counts);
}
