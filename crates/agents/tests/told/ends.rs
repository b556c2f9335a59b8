//! Ends of turns that no recording shows.

use serde_json::{Value, json};
use watchbill_agents::traits::Parser;
use watchbill_agents::{droid, kimi, qwen};
use watchbill_core::ids::SessionId;

use crate::files::{fold_lines, new_fold};

const AT: &str = "2026-11-27T05:36:00.000Z";

fn kimis(line: Value) -> [Value; 2] {
    [
        json!({ "type": "turn.prompt", "time": 1, "input": [{ "type": "text", "text": "go" }], "origin": { "kind": "user" } }),
        line,
    ]
}

fn droids(reason: &str) -> [Value; 2] {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": "go" }] });
    [
        json!({ "type": "message", "id": "a", "timestamp": AT, "message": message }),
        json!({ "type": "agent_turn_outcome", "reason": reason }),
    ]
}

fn qwens(mut line: Value) -> [Value; 2] {
    line["timestamp"] = AT.into();
    let message = json!({ "role": "user", "parts": [{ "text": "go" }] });
    [json!({ "type": "user", "uuid": "a", "timestamp": AT, "message": message }), line]
}

fn qwen_failed(prompt: &str) -> Value {
    let event = json!({ "event.name": "qwen-code.api_error", "error_message": "400", "prompt_id": prompt });
    json!({ "type": "system", "subtype": "ui_telemetry", "systemPayload": { "uiEvent": event } })
}

#[test]
fn the_last_line_is_the_state() {
    const KIMI: Parser = kimi::records::parse_line;
    const DROID: Parser = droid::records::parse_line;
    const QWEN: Parser = qwen::records::parse_line;
    let over = |reason: &str| kimis(json!({ "type": "turn.ended", "time": 2, "reason": reason }));
    let cut = json!({ "type": "assistant", "message": { "parts": [{ "text": "one two" }] } });
    let mut whole = cut.clone();
    whole["usageMetadata"] = json!({ "promptTokenCount": 1 });
    for (parse, lines, wanted) in [
        (KIMI, over("completed"), "waiting_for_input turn_ended"),
        (KIMI, over("cancelled"), "waiting_for_input interrupted"),
        (KIMI, over("failed"), "waiting_for_input error"),
        (DROID, droids("completed"), "waiting_for_input turn_ended"),
        (DROID, droids("cancelled"), "waiting_for_input interrupted"),
        (DROID, droids("process_exit"), "waiting_for_input interrupted"),
        (DROID, droids("error"), "waiting_for_input error"),
        (DROID, droids("model_request_rejected"), "waiting_for_input error"),
        (QWEN, qwens(whole), "waiting_for_input turn_ended"),
        (QWEN, qwens(cut), "waiting_for_input interrupted"),
        (QWEN, qwens(qwen_failed("s########1")), "waiting_for_input error"),
        (QWEN, qwens(qwen_failed("memory")), "working -"),
    ] {
        let lines = lines.map(|line| line.to_string());
        let mut fold = new_fold(SessionId::new("s"));
        fold_lines(&mut fold, parse, lines.iter().map(String::as_str));
        let reading = fold.reading();
        let state = format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()));
        assert_eq!(state, wanted, "{}", lines[1]);
    }
}
