//! Properties for any bytes: nothing panics, unknown fields and the order of keys change nothing.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};
use watchbill_agents::codex::records::parse_line;
use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::record::Usage;
use watchbill_core::transcript::report::LineReport;
use watchbill_core::transcript::timeline::TimelineBuilder;

use crate::fixtures::{new_fold, rollouts};

/// Real lines to start from, of bounded length so that hundreds of cases stay quick.
fn real_line() -> impl Strategy<Value = String> {
    static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let texts = rollouts().into_iter().map(|rollout| rollout.text);
        let lines: Vec<String> =
            texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
        lines.into_iter().filter(|line| line.len() < 8_000).collect()
    });
    proptest::sample::select(lines.as_slice())
}

/// The whole result of parsing a line, payloads included. Fold and timeline take its records.
fn reading(line: &[u8]) -> (Vec<String>, LineReport) {
    let (mut fold, mut timeline, mut records) = (new_fold("s"), TimelineBuilder::default(), Vec::new());
    let report = parse_line(line, &mut |record, full| {
        fold.apply(&record, &mut Vec::new());
        timeline.push(0, &record, full);
        records.push(format!("{record:?} {:?} {}", full.content(), full.words(400)));
    });
    records.push(format!("{:?}", timeline.entries()));
    (records, report)
}

/// The object with its keys in another order, and with others among them.
fn changed(value: &Value, places: &[Index], order: Index) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let strange = [
        json!(null),
        json!(-1.5e300),
        json!("quote \" brace } bracket ] backslash \\ café \u{1F600}"),
        json!([{"type": "message", "text": "no"}, [[]], {}]),
        json!({"type": "session_meta", "payload": {"id": "no", "item": ["}"]}}),
    ];
    let mut entries: Vec<(String, Value)> = object.clone().into_iter().collect();
    let start = order.index(entries.len());
    entries.rotate_left(start);
    for (n, (place, value)) in places.iter().zip(strange).enumerate() {
        entries.insert(place.index(entries.len() + 1), (format!("zzUnknown{n}"), value));
    }
    Value::Object(Map::from_iter(entries))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(line in proptest::collection::vec(any::<u8>(), 0..400)) {
        reading(&line);
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
        prop_assert_eq!(records.len() - 1, report.records as usize);
    }

    #[test]
    fn lines_of_any_rollouts_in_any_order_make_nothing_panic(
        lines in proptest::collection::vec(real_line(), 1..40),
    ) {
        let (mut session, mut timeline) = (new_fold("s"), TimelineBuilder::default());
        let mut history = HistoryFold::new(SessionId::new("s"), None);
        let mut tokens = Usage::default();
        for (offset, line) in (0..).zip(&lines) {
            parse_line(line.as_bytes(), &mut |record, full| {
                session.apply(&record, &mut Vec::new());
                timeline.push(offset, &record, full);
                history.apply(offset, &record, full, &HistorySettings::default(), &mut |item| {
                    if let Item::Request(request) = item {
                        tokens.add(request.usage);
                    }
                });
            });
        }
        prop_assert!(tokens.output >= session.ledger().total().output, "a total that comes twice is one request");
    }

    #[test]
    fn a_torn_line_is_never_taken_for_a_record(line in real_line(), at in any::<Index>()) {
        let torn = &line.as_bytes()[..at.index(line.len())];
        let (_, report) = reading(torn);
        prop_assert_eq!((report.records, report.malformed), (0, !torn.is_empty()));
    }

    #[test]
    fn unknown_fields_and_the_order_of_keys_change_nothing(
        line in real_line(),
        places in proptest::collection::vec(any::<Index>(), 5),
        order in any::<Index>(),
    ) {
        let value: Value = serde_json::from_str(&line).expect("a real line");
        let plain = reading(value.to_string().as_bytes());
        let mut other = changed(&value, &places, order);
        other["payload"] = changed(&value["payload"], &places, order);
        prop_assert_eq!(reading(other.to_string().as_bytes()), plain);
    }
}
