//! Lines of agents that are translated: real ones are all known, and broken ones do no harm.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]
#![allow(clippy::unwrap_used, reason = "a broken fixture should fail loudly")]

use std::path::Path;

use watchbill_agents::traits::Parser;
use watchbill_core::ids::SessionId;
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::{StateKind, Timeouts};
use watchbill_core::transcript::report::LineReport;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
/// The agents, with their folders of whole files.
const AGENTS: [(&str, Parser); 1] = [("copilot/shapes", watchbill_agents::copilot::records::parse_line)];

fn each_line(mut see: impl FnMut(Parser, &str)) {
    for (folder, parse) in AGENTS {
        let files = std::fs::read_dir(Path::new(FIXTURES).join(folder)).unwrap();
        for file in files {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            text.lines().for_each(|line| see(parse, line));
        }
    }
}

#[test]
fn real_lines_are_known() {
    let mut lines = 0;
    each_line(|parse, line| {
        let report = parse(line.as_bytes(), &mut |_, _| {});
        assert!(report.unknown_type.is_none() && !report.malformed && !report.absurd_tokens, "{line}");
        lines += 1;
    });
    assert!(lines > 100);
}

#[test]
fn a_line_that_was_cut_is_counted_and_harms_nothing() {
    each_line(|parse, line| {
        for cut in (1..line.len()).step_by(97) {
            let report = parse(&line.as_bytes()[..cut], &mut |_, _| {});
            assert_eq!(
                LineReport { invalid_utf8: false, ..report },
                LineReport { malformed: true, ..LineReport::default() }
            );
        }
        for odd in ["{}", "[]", "7", "{\"type\":7}", "{\"type\":\"later\"}", "\u{0}"] {
            parse(odd.as_bytes(), &mut |_, _| {});
        }
    });
}

/// Copilot may write the answer of a dialog after the end that Escape has made.
#[test]
fn a_dialog_that_escape_closed_begins_no_new_turn() {
    let event = |kind: &str, at: u32, data: &str| {
        format!(r#"{{"type":"{kind}","id":"{at}","timestamp":"2026-11-28T19:50:19.{at}Z","data":{data}}}"#)
    };
    let asked = r#"{"requestId":"r","permissionRequest":{"kind":"shell","toolCallId":"c"}}"#;
    let answered = r#"{"requestId":"r","toolCallId":"c","result":{"kind":"cancelled"}}"#;
    let lines = [
        event("user.message", 100, r#"{"content":"go"}"#),
        event("permission.requested", 200, asked),
        event("abort", 300, r#"{"reason":"user_initiated"}"#),
        event("permission.completed", 301, answered),
    ];
    let mut fold = SessionFold::new(SessionId::new("s"), Timeouts::default());
    for line in &lines {
        watchbill_agents::copilot::records::parse_line(line.as_bytes(), &mut |record, _| {
            fold.apply(&record, &mut Vec::new());
        });
    }
    assert_eq!(fold.reading().kind, Some(StateKind::Interrupted));
}
