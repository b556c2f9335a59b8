//! Single lines of Cursor.

use serde_json::{Value, json};
use watchbill_agents::cursor::records::parse_line;
use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::time::{Millis, Timestamp};

use crate::files::new_fold;

const PROMPT: &str =
    "<timestamp>Monday, Jan 5, 2026, 9:00 AM (UTC+1)</timestamp>\n<user_query>\nfix it\n</user_query>";

fn prompt() -> Value {
    json!({ "role": "user", "message": { "content": [{ "type": "text", "text": PROMPT }] } })
}

fn call() -> Value {
    let block = json!({ "type": "tool_use", "name": "Shell", "input": { "command": "make" } });
    json!({ "role": "assistant", "message": { "content": [block] } })
}

fn ended(status: &str, error: Option<&str>) -> Value {
    json!({ "type": "turn_ended", "status": status, "error": error })
}

fn fold_of(lines: &[Value]) -> SessionFold {
    let mut fold = new_fold(SessionId::new("s"));
    for line in lines {
        parse_line(line.to_string().as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
    }
    fold
}

fn state(fold: &SessionFold) -> String {
    let reading = fold.reading();
    format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()))
}

#[test]
fn the_status_of_the_end_is_the_state() {
    for (status, error, wanted) in [
        ("success", None, "waiting_for_input turn_ended"),
        ("aborted", Some("User aborted/interrupted manually."), "waiting_for_input interrupted"),
        ("error", Some("User aborted/interrupted manually."), "waiting_for_input interrupted"),
        ("error", Some("The service failed."), "waiting_for_input error"),
        ("error", None, "waiting_for_input error"),
    ] {
        let fold = fold_of(&[prompt(), call(), ended(status, error)]);
        assert_eq!((&*state(&fold), fold.pending_tools().len()), (wanted, 0), "{status} {error:?}");
    }
}

#[test]
fn no_call_is_a_question_and_none_is_open_for_ever() {
    let mut fold = fold_of(&[prompt(), call()]);
    assert_eq!(fold.clock().map(|at| at.to_string()).as_deref(), Some("2026-01-05T08:00:00.000Z"));
    let later =
        |minutes: i64| Timestamp::parse("2026-01-05T08:00:00.000Z").unwrap() + Millis(minutes * 60_000);
    fold.advance(later(5), &mut Vec::new());
    assert_eq!(state(&fold), "working -");
    fold.advance(later(20), &mut Vec::new());
    assert_eq!(state(&fold), "idle -");
    assert!(fold_of(&[prompt(), call(), prompt()]).pending_tools().is_empty());
}

#[test]
fn a_prompt_is_what_the_user_typed() {
    let around = format!("<open_files>x.rs</open_files>\n{PROMPT}");
    let bare = "no marks at all";
    let mut kept = Vec::new();
    for text in [&*around, bare] {
        let line = json!({
            "role": "user", "user_email": "dev@example.org", "message": { "content": [{ "type": "text", "text": text }] },
        });
        let mut history = HistoryFold::new(SessionId::new("s"), None);
        parse_line(line.to_string().as_bytes(), &mut |record, full| {
            assert!(!format!("{record:?} {:?}", full.content()).contains("example.org"));
            history.apply(0, &record, full, &HistorySettings::default(), &mut |item| {
                if let Item::Text(text) = item {
                    kept.push(text.text.to_string());
                }
            });
        });
    }
    assert_eq!(kept, ["fix it", bare]);
}
