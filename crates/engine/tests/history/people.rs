//! What the person has a say in: what is left out, what is forgotten; and files that are not what they seem.

use watchbill_core::history::{Exclude, Heard, Role};
use watchbill_core::hook::{HookOrigin, HookTexts, parse_payload};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use crate::house::House;

fn prompt(id: &str, session: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"{session}","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"{text}"}}}}"#
    ) + "\n"
}

#[test]
fn a_subagent_of_the_flat_layout_is_stored_with_the_session_its_records_name() {
    let mut house = House::new();
    house.append("agent-abc1234.jsonl", "{\"type\":\"file-history-snapshot\"}\n");
    assert!(house.index("agent-abc1234.jsonl").skipped, "nobody knows whose it is");
    house.append("agent-abc1234.jsonl", &prompt("1", "parent", "look around"));
    house.index("agent-abc1234.jsonl");
    assert_eq!(house.texts("parent", Role::Prompt), ["look around"]);
    house.restart();
    house.append("agent-abc1234.jsonl", &prompt("2", "parent", "go on"));
    assert_eq!(house.index("agent-abc1234.jsonl").texts, 1);
    assert_eq!(house.texts("parent", Role::Prompt), ["look around", "go on"]);
}

#[test]
fn what_was_forgotten_is_not_stored_again() {
    let mut house = House::new();
    house.append("s.jsonl", &prompt("1", "s", "words"));
    house.index("s.jsonl");
    let (index, _) = house.index_handle();
    index.set_forgotten([SessionId::new("s")]);
    house.append("s.jsonl", &prompt("2", "s", "more words"));
    assert!(house.index("s.jsonl").skipped);
    assert_eq!(house.texts("s", Role::Prompt), ["words"], "the rest is for the store to remove");
}

#[test]
fn a_transcript_that_is_left_out_is_removed_and_not_stored_again() {
    let mut house = House::new();
    house.append("s.jsonl", &prompt("1", "s", "words"));
    house.index("s.jsonl");
    house.restart();
    house.settings.exclude = Exclude::new(["/home/dev/.claude/projects/p/**".to_owned()]);
    assert!(house.index("s.jsonl").skipped);
    assert_eq!(house.texts("s", Role::Prompt), [""; 0]);
}

#[test]
fn lines_that_cannot_be_read_before_the_first_that_can_are_counted_with_it() {
    for at_once in [true, false] {
        let mut house = House::new();
        for lines in ["not json\n", "nor\nthis\n", "{\"type\":\"user\"", ",\n", &prompt("1", "s", "words")] {
            house.append("s.jsonl", lines);
            if !at_once {
                house.index("s.jsonl");
            }
        }
        house.index("s.jsonl");
        assert_eq!(house.texts("s", Role::Prompt), ["words"]);
        assert_eq!(house.store.totals().unwrap().problems, 4, "at once: {at_once}");
    }
}

#[test]
fn torn_huge_and_broken_lines_lose_nothing_around_them() {
    let mut house = House::new();
    house.append("s.jsonl", &prompt("1", "s", "before"));
    house.append("s.jsonl", "not json\n\u{0}\u{0}\n{\"type\":\"user\",\"message\":{\"content\":\"torn");
    let indexed = house.index("s.jsonl");
    assert_eq!((indexed.texts, indexed.problems), (1, 2));
    house.restart();
    house.append("s.jsonl", " and whole\"}}\n");
    house.append("s.jsonl", &prompt("2", "s", "after"));
    house.index("s.jsonl");
    assert_eq!(house.texts("s", Role::Prompt), ["before", "torn and whole", "after"]);
}

#[test]
fn hooks_and_transcript_fill_one_row() {
    let mut house = House::new();
    house.append("s.jsonl", &prompt("1", "s", "make it so"));
    house.index("s.jsonl");
    let payload = r#"{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"It is so."}"#;
    let origin = HookOrigin {
        id: "e1".into(),
        at: Timestamp::parse("2026-11-20T15:00:09.000Z").unwrap(),
        order: 1,
        agent: None,
        ancestors: std::sync::Arc::from([]),
        terminal: None,
    };
    let (parsed, texts) = (parse_payload(payload.as_bytes()).unwrap(), HookTexts::read(payload).unwrap());
    let (index, store) = house.index_handle();
    let mut step = store.step().unwrap();
    index.hear(&mut step, Heard { origin: &origin, payload: &parsed, texts: &texts }).unwrap();
    step.commit().unwrap();
    let key = house.store.session_key(&SessionId::new("s")).unwrap().unwrap();
    let batches = house.store.batches(key).unwrap();
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].batch.prompt.as_deref(), Some("make it so"));
    assert_eq!(batches[0].batch.response.as_ref().map(|(_, text)| text.as_str()), Some("It is so."));
}
