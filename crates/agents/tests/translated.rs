//! Lines of agents that are translated: real ones are all known, and broken ones do no harm.

#![allow(clippy::disallowed_methods, reason = "fixtures are files")]
#![allow(clippy::unwrap_used, reason = "a broken fixture should fail loudly")]

use std::path::Path;

use watchbill_agents::traits::Parser;
use watchbill_core::ids::SessionId;
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::{State, StateKind, Timeouts};
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

/// The session that Copilot's events make, one after the other, and its state after each.
fn copilots(events: &[(&str, &str)]) -> (SessionFold, Vec<(State, Option<StateKind>)>) {
    let mut fold = SessionFold::new(SessionId::new("s"), Timeouts::default());
    let states = (100..).zip(events).map(|(at, (kind, data))| {
        let line = format!(
            r#"{{"type":"{kind}","id":"{at}","timestamp":"2026-11-28T19:50:19.{at}Z","data":{data}}}"#
        );
        let report = watchbill_agents::copilot::records::parse_line(line.as_bytes(), &mut |record, _| {
            fold.apply(&record, &mut Vec::new());
        });
        assert_eq!(report.unknown_type, None, "{kind}");
        (fold.reading().state, fold.reading().kind)
    });
    let states = states.collect();
    (fold, states)
}

/// Copilot may write the answer of a dialog after the end that Escape has made.
#[test]
fn a_dialog_that_escape_closed_begins_no_new_turn() {
    let asked = r#"{"requestId":"r","permissionRequest":{"kind":"shell","toolCallId":"c"}}"#;
    let answered = r#"{"requestId":"r","toolCallId":"c","result":{"kind":"cancelled"}}"#;
    let (fold, _) = copilots(&[
        ("user.message", r#"{"content":"go"}"#),
        ("permission.requested", asked),
        ("abort", r#"{"reason":"user_initiated"}"#),
        ("permission.completed", answered),
    ]);
    assert_eq!(fold.reading().kind, Some(StateKind::Interrupted));
}

#[test]
fn a_compaction_is_shown_while_it_runs_and_one_that_failed_cuts_nothing() {
    let prompt = ("user.message", r#"{"content":"go"}"#);
    let over = ("assistant.message", r#"{"content":"done","toolRequests":[]}"#);
    let start = ("session.compaction_start", "{}");
    let (failed, well) = (
        ("session.compaction_complete", r#"{"success":false,"error":"no"}"#),
        ("session.compaction_complete", r#"{"success":true,"summaryContent":"so far"}"#),
    );
    let compacting = (State::Working, Some(StateKind::Compacting));
    let ended = (State::WaitingForInput, Some(StateKind::TurnEnded));
    let (fold, states) = copilots(&[prompt, over, start, failed, start, well]);
    assert_eq!(states[1..], [ended, compacting, ended, compacting, ended]);
    assert_eq!(fold.lineage().segments.len(), 2, "one boundary");
    let (_, states) = copilots(&[prompt, start, well, over]);
    assert_eq!(states[1..], [compacting, (State::Working, None), ended]);
}
