//! Properties for any bytes: nothing panics, chunking does not matter, unknown fields change nothing.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use watchbill_agents::claude::records::parse_line;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::record::{Body, TEXT_LIMIT};
use watchbill_core::transcript::report::LineReport;
use watchbill_core::transcript::timeline::TimelineBuilder;

use crate::fixtures::{record_types, transcripts};

/// Real lines to start from, of bounded length so that hundreds of cases stay quick.
fn real_lines() -> Vec<String> {
    static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    LINES
        .get_or_init(|| {
            let recorded = transcripts();
            let mut lines: Vec<String> = record_types().into_iter().map(|(_, line)| line).collect();
            lines.extend(recorded.iter().flat_map(|t| t.text.lines()).map(str::to_owned));
            lines.retain(|line| line.len() < 8_000);
            lines
        })
        .clone()
}

fn real_line() -> impl Strategy<Value = String> {
    proptest::sample::select(real_lines())
}

/// The whole result of parsing a line.
fn reading(line: &[u8]) -> (Vec<String>, LineReport) {
    let mut records = Vec::new();
    let report = parse_line(line, &mut |record, _| records.push(format!("{record:?}")));
    (records, report)
}

fn lines_of(chunks: &[&[u8]], cap: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
    let mut splitter = LineSplitter::with_cap(0, cap);
    let mut lines = Vec::new();
    for chunk in chunks {
        splitter.push(chunk, &mut |split| {
            lines.push(match split {
                Split::Line(line) => (line.offset, Ok(line.bytes.to_vec())),
                Split::Huge { offset, len } => (offset, Err(len)),
            });
        });
    }
    lines
}

/// Bytes in which line endings are frequent.
fn bytes_with_lines() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"{\"type\":\"mode\"}".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn push_line(line: &[u8]) {
    let mut timeline = TimelineBuilder::default();
    parse_line(line, &mut |record, full| timeline.push(0, &record, full));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunking_does_not_matter(
        bytes in bytes_with_lines(),
        cuts in proptest::collection::vec(any::<Index>(), 0..12),
        cap in 1usize..60,
    ) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let chunks: Vec<&[u8]> = at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
        let whole = lines_of(&[&bytes], cap);
        prop_assert_eq!(&lines_of(&chunks, cap), &whole);

        // The whole equals a plain split.
        let mut offset = 0u64;
        let mut plain = Vec::new();
        for line in bytes.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n")) {
            let body = &line[..line.len() - 1];
            let kept = body.strip_suffix(b"\r").unwrap_or(body).to_vec();
            plain.push((offset, if body.len() > cap { Err(body.len() as u64) } else { Ok(kept) }));
            offset += line.len() as u64;
        }
        prop_assert_eq!(whole, plain);
    }

    #[test]
    fn no_bytes_make_it_panic(line in proptest::collection::vec(any::<u8>(), 0..400)) {
        let (records, report) = reading(&line);
        prop_assert_eq!(records.len(), report.records as usize);
        push_line(&line);
    }

    #[test]
    fn no_damage_to_a_real_line_makes_it_panic(
        line in real_line(),
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
        let (records, report) = reading(&bytes);
        prop_assert_eq!(records.len(), report.records as usize);
        push_line(&bytes);
    }

    #[test]
    fn a_torn_line_is_never_taken_for_a_record(line in real_line(), at in any::<Index>()) {
        let torn = &line.as_bytes()[..at.index(line.len())];
        let (records, report) = reading(torn);
        prop_assert!(records.is_empty());
        prop_assert_eq!(report.malformed, !torn.is_empty());
    }

    #[test]
    fn unknown_fields_and_the_order_of_keys_change_nothing(
        line in real_line(),
        places in proptest::collection::vec(any::<Index>(), 5),
        order in any::<Index>(),
    ) {
        let Value::Object(object) = serde_json::from_str(&line).expect("a real line") else { unreachable!() };
        let plain = reading(Value::Object(object.clone()).to_string().as_bytes());

        let strange = [
            json!(null),
            json!(-1.5e300),
            json!("quote \" brace } bracket ] backslash \\ café \u{1F600}"),
            json!([{"type": "assistant", "message": {"content": "no"}}, [[]], {}]),
            json!({"type": "user", "uuid": "no", "isMeta": true, "nested": {"a": ["}"]}}),
        ];
        let mut entries: Vec<(String, Value)> = object.into_iter().collect();
        let start = order.index(entries.len());
        entries.rotate_left(start);
        for (n, (place, value)) in places.iter().zip(strange).enumerate() {
            entries.insert(place.index(entries.len() + 1), (format!("zzUnknown{n}"), value));
        }
        let changed = Value::Object(Map::from_iter(entries)).to_string();
        prop_assert_eq!(reading(changed.as_bytes()), plain);
    }

    #[test]
    fn two_records_on_a_line_are_read_like_two_lines(a in real_line(), b in real_line(), gap in "[ \t]{0,3}") {
        let (mut one, _) = reading(a.as_bytes());
        one.extend(reading(b.as_bytes()).0);
        prop_assert_eq!(reading(format!("{a}{gap}{b}").as_bytes()).0, one);
    }

    #[test]
    fn a_prompt_holds_the_typed_text(text in "\\PC{0,60}|[\"\\\\\\n\\t/u{}\\[\\]é😀\u{1}]{0,60}", many in 1usize..120) {
        let text = text.repeat(many);
        prop_assume!(!text.is_empty());
        let line = json!({"promptSource": "typed", "message": {"content": &text}, "type": "user"}).to_string();
        let mut read = None;
        parse_line(line.as_bytes(), &mut |record, _| {
            if let Body::Prompt(p) = record.body {
                read = Some(p.text.into_owned());
            }
        });
        prop_assert_eq!(read.as_deref(), Some(&text[..text.floor_char_boundary(TEXT_LIMIT)]));
    }
}
