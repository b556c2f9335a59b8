//! Agents of which only the history is read: Antigravity, goose and Amp. The fixtures are written by documents.

use serde_json::Value;
use watchbill_agents::traits::Row;
use watchbill_agents::{Agent, document, traits};
use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::time::Millis;

use crate::files::new_fold;

/// The fold of some lines, and the texts that a search finds.
fn read(agent: Agent, lines: &str) -> (SessionFold, Vec<String>) {
    let session = SessionId::new("s");
    let (mut fold, mut texts) = (new_fold(session.clone()), Vec::new());
    let mut history = HistoryFold::new(session, None);
    for line in lines.lines() {
        let report = (traits(agent).layout.parse_line)(line.as_bytes(), &mut |record, payloads| {
            fold.apply(&record, &mut Vec::new());
            history.apply(0, &record, payloads, &HistorySettings::default(), &mut |item| {
                if let Item::Text(row) = item {
                    texts.push(row.text.to_string());
                }
            });
        });
        assert!(!report.malformed && report.unknown_type.is_none(), "{line}");
    }
    (fold, texts)
}

fn after_silence(fold: &mut SessionFold) -> String {
    fold.advance(fold.clock().unwrap() + Millis::from_secs(61), &mut Vec::new());
    let reading = fold.reading();
    format!(
        "{} {} {}",
        reading.state.as_str(),
        reading.kind.map_or("-", |kind| kind.as_str()),
        reading.by_timeout
    )
}

#[test]
fn a_transcript_of_antigravity_has_prompts_answers_and_calls() {
    let lines = include_str!("../../../../tests/fixtures/antigravity/shapes/transcript-1.jsonl");
    let (mut fold, texts) = read(Agent::Antigravity, lines);
    assert_eq!(fold.facts().goal.as_deref(), Some("mend the kettle"));
    for words in ["mend the kettle", "I look.", "ls kettles", "It is a teapot."] {
        assert!(texts.iter().any(|text| text.contains(words)), "{words}: {texts:?}");
    }
    assert!(!texts.iter().any(|text| text.contains("made up") || text.contains("earlier")), "{texts:?}");
    assert_eq!(fold.pending_tools().len(), 0);
    assert_eq!(after_silence(&mut fold), "waiting_for_input turn_ended true");
}

/// The lines of a thread with these messages.
fn thread(messages: &[Value]) -> String {
    let thread = serde_json::json!({ "created": 1_767_865_803_494_u64, "messages": messages });
    String::from_utf8(document::lines(thread.to_string().into_bytes()).unwrap()).unwrap()
}

#[test]
fn a_thread_of_amp_says_how_its_turn_ended() {
    let whole = include_bytes!("../../../../tests/fixtures/amp/thread.json");
    let lines = String::from_utf8(document::lines(whole.to_vec()).unwrap()).unwrap();
    let (fold, texts) = read(Agent::Amp, &lines);
    assert_eq!(fold.facts().title().as_deref(), Some("Kettle repair"));
    assert_eq!(fold.pending_tools().len(), 0);
    assert!(!texts.iter().any(|text| text.contains("a notice")), "{texts:?}");
    let said = |role: &str, state: Value| {
        let content = serde_json::json!([{ "type": "text", "text": "go" }]);
        serde_json::json!({ "role": role, "content": content, "state": state })
    };
    let call = serde_json::json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "c", "name": "Bash", "input": {} }] });
    let run = |status: &str| {
        let run = serde_json::json!({ "status": status, "error": { "message": "no" } });
        serde_json::json!({ "role": "user", "content": [{ "type": "tool_result", "toolUseID": "c", "run": run }] })
    };
    for (state, ends) in [
        (serde_json::json!({ "type": "complete", "stopReason": "end_turn" }), "waiting_for_input turn_ended"),
        (serde_json::json!({ "type": "complete", "stopReason": "tool_use" }), "working -"),
        (serde_json::json!({ "type": "streaming" }), "working -"),
        (serde_json::json!({ "type": "cancelled" }), "waiting_for_input interrupted"),
        (serde_json::json!({ "type": "error", "error": { "message": "quota" } }), "waiting_for_input error"),
    ] {
        let (fold, _) = read(Agent::Amp, &thread(&[said("user", Value::Null), said("assistant", state)]));
        let reading = fold.reading();
        let kind = reading.kind.map_or("-", |kind| kind.as_str());
        assert_eq!(format!("{} {kind}", reading.state.as_str()), ends);
    }
    for (status, open) in [("in-progress", 1), ("blocked-on-user", 1), ("done", 0), ("rejected-by-user", 0)] {
        let (fold, _) = read(Agent::Amp, &thread(&[said("user", Value::Null), call.clone(), run(status)]));
        assert_eq!(fold.pending_tools().len(), open, "{status}");
    }
}

#[test]
fn rows_of_goose_are_lines_in_their_order() {
    let database = traits(Agent::Goose).layout.database.unwrap();
    let row = |kind: &str, id: &str, data: Value| Row {
        kind: kind.to_owned(),
        id: id.to_owned(),
        created: 1_767_600_000_000,
        data: data.to_string(),
    };
    let message = |id, role: &str, content: Value| {
        row("message", id, serde_json::json!({ "role": role, "content": content }))
    };
    let call = serde_json::json!([{ "type": "toolRequest", "id": "c",
        "toolCall": { "status": "success", "value": { "name": "developer__shell", "arguments": { "command": "make" } } } }]);
    let old = serde_json::json!([{ "type": "toolResponse", "id": "c",
        "toolResult": { "status": "success", "value": [{ "type": "text", "text": "made" }] } }]);
    let units = [
        row("session", "s", serde_json::json!({ "directory": "/home/dev/work", "title": "CLI Session" })),
        message("m1", "user", serde_json::json!([{ "type": "text", "text": "go" }])),
        message("m2", "assistant", call),
        message("m3", "user", old),
        row("message", "m4", serde_json::json!({ "role": "assistant", "content": null })),
    ];
    let lines: String = units
        .iter()
        .flat_map(|unit| (database.lines)(std::slice::from_ref(unit)))
        .map(|line| line.text)
        .collect();
    let (mut fold, texts) = read(Agent::Goose, &lines);
    assert_eq!(fold.facts().title().as_deref(), Some("go"), "not the name that each session has");
    assert_eq!(
        (fold.pending_tools().len(), texts.iter().any(|text| text.contains("made"))),
        (0, true),
        "{texts:?}"
    );
    assert_eq!(after_silence(&mut fold), "waiting_for_input turn_ended true");
}
