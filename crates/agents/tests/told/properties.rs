//! Properties for any bytes: nothing panics, and a torn line is no record.

use proptest::prelude::*;
use proptest::sample::Index;
use watchbill_agents::document;
use watchbill_agents::traits::Parser;
use watchbill_core::history::{HistoryFold, HistorySettings};
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::report::LineReport;
use watchbill_core::transcript::timeline::TimelineBuilder;

use crate::files::{files, new_fold};

/// Real lines to start from, of bounded length so that hundreds of cases stay quick.
fn real_lines() -> &'static [(Parser, String)] {
    static LINES: std::sync::OnceLock<Vec<(Parser, String)>> = std::sync::OnceLock::new();
    let of = |file: crate::files::File| {
        let parse = file.parser();
        file.lines.into_iter().filter(|line| line.len() < 8_000).map(move |line| (parse, line))
    };
    LINES.get_or_init(|| files().into_iter().flat_map(of).collect())
}

fn real_line() -> impl Strategy<Value = (Parser, String)> {
    proptest::sample::select(real_lines())
}

/// The whole result of parsing a line, payloads included. Folds and timeline take its records.
fn reading(parse: Parser, line: &[u8]) -> (Vec<String>, LineReport) {
    let (mut fold, mut timeline) = (new_fold(SessionId::new("s")), TimelineBuilder::default());
    let (mut history, mut records) = (HistoryFold::new(SessionId::new("s"), None), Vec::new());
    let report = parse(line, &mut |record, full| {
        fold.apply(&record, &mut Vec::new());
        timeline.push(0, &record, full);
        history.apply(0, &record, full, &HistorySettings::default(), &mut |_| {});
        records.push(format!("{record:?} {:?} {}", full.content(), full.words(400)));
    });
    (records, report)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_to_a_real_line_makes_it_panic(
        (parse, line) in real_line(),
        flips in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..6),
        removed in proptest::option::of((any::<Index>(), 1usize..40)),
    ) {
        let mut bytes = line.into_bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some((at, len)) = removed {
            let at = at.index(bytes.len());
            bytes.drain(at..(at + len).min(bytes.len()));
        }
        reading(parse, &bytes);
    }

    #[test]
    fn any_bytes_as_a_document_give_lines_of_the_same_length_or_none(
        bytes in proptest::collection::vec(proptest::sample::select(br#"{}[]",:\ messages1"#.as_slice()), 0..200),
        before in any::<bool>(),
    ) {
        let begin = if before { &br#"{"a":1,"messages":["#[..] } else { &b""[..] };
        let document = [begin, &bytes].concat();
        if let Some(lines) = document::lines(document.clone()) {
            prop_assert_eq!((lines.len(), lines.last()), (document.len() + 1, Some(&b'\n')));
        }
    }

    #[test]
    fn a_torn_line_is_never_taken_for_a_record((parse, line) in real_line(), at in any::<Index>()) {
        let torn = &line.as_bytes()[..at.index(line.len())];
        let (records, report) = reading(parse, torn);
        prop_assert_eq!((records.len(), report.malformed), (0, !torn.is_empty()));
    }
}

#[test]
fn a_field_that_is_not_known_changes_nothing() {
    for (parse, line) in real_lines() {
        let mut value: serde_json::Value = serde_json::from_str(line).expect("a real line");
        let plain = reading(*parse, line.as_bytes());
        value["zzUnknown"] = serde_json::json!([{ "type": "message", "text": "no" }, null]);
        assert_eq!(reading(*parse, value.to_string().as_bytes()), plain);
    }
}
