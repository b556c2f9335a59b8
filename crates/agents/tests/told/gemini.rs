//! Single lines of Gemini.

use serde_json::{Value, json};
use watchbill_agents::gemini::records::parse_line;
use watchbill_core::ids::SessionId;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::time::Millis;

use crate::files::new_fold;

const WHOLE: &str = "14c59a54-cb06-4496-a11e-6790cf8c8cbf";

/// The fold of a chat with these lines, a second apart.
fn fold_of(lines: &[Value]) -> SessionFold {
    let mut fold = new_fold(SessionId::new("14c59a54"));
    let head = json!({ "sessionId": WHOLE, "projectHash": "d7", "startTime": "2026-11-23T16:28:00.000Z" });
    for (n, line) in std::iter::once(&head).chain(lines).enumerate() {
        let mut line = line.clone();
        if line.get("type").is_some() && line.get("timestamp").is_none() {
            line["timestamp"] = format!("2026-11-23T16:28:{n:02}.000Z").into();
        }
        if line.get("type").is_some() && line.get("id").is_none() {
            line["id"] = format!("m{n}").into();
        }
        parse_line(line.to_string().as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
    }
    fold
}

fn user(text: &str) -> Value {
    json!({ "type": "user", "content": [{ "text": text }] })
}

fn answer(id: &str, calls: &Value) -> Value {
    let tokens = json!({ "input": 100, "output": 10, "cached": 60, "thoughts": 5, "tool": 1, "total": 116 });
    let at = "2026-11-23T16:28:30.000Z";
    json!({ "type": "gemini", "id": id, "timestamp": at, "content": "I look.", "model": "m", "tokens": tokens, "toolCalls": calls })
}

fn call(id: &str, status: &str) -> Value {
    json!({ "id": id, "name": "run_shell_command", "args": { "command": "make" }, "status": status,
        "timestamp": "2026-11-23T16:28:40.000Z" })
}

fn state(fold: &SessionFold) -> String {
    let reading = fold.reading();
    format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()))
}

#[test]
fn the_notices_of_the_client_are_the_ends_of_turns() {
    let said = |kind: &str, words: &str| json!({ "type": kind, "content": words });
    for (line, ends) in [
        (said("info", "Request cancelled."), "waiting_for_input interrupted"),
        (said("error", "[API Error: quota]"), "waiting_for_input error"),
        (said("info", "Conversation checkpoint saved."), "working -"),
        (said("warning", "Slow."), "working -"),
        (json!({ "$rewindTo": "m1" }), "waiting_for_input turn_ended"),
        (answer("a", &json!([call("c", "cancelled")])), "waiting_for_input interrupted"),
        (answer("a", &json!([call("c", "success"), call("d", "error")])), "working -"),
    ] {
        assert_eq!(state(&fold_of(&[user("go"), line.clone()])), ends, "{line}");
    }
    // A call that Escape stopped is told after the notice.
    let late =
        [user("go"), said("info", "Request cancelled."), answer("a", &json!([call("c", "cancelled")]))];
    assert_eq!(state(&fold_of(&late)), "waiting_for_input interrupted");
    assert_eq!(state(&fold_of(&[said("info", "Welcome.")])), "idle -");
}

#[test]
fn an_answer_without_a_mark_is_over_after_silence_and_that_is_a_guess() {
    let mut fold = fold_of(&[user("go"), answer("a", &json!([]))]);
    assert_eq!(state(&fold), "working -");
    fold.advance(fold.clock().unwrap() + Millis::from_secs(61), &mut Vec::new());
    assert_eq!((&*state(&fold), fold.reading().by_timeout), ("waiting_for_input turn_ended", true));
}

#[test]
fn a_message_that_comes_again_brings_only_what_is_new() {
    let mut twice = vec![user("go"), answer("a", &json!([]))];
    twice.extend([answer("a", &json!([call("c", "success")])), answer("a", &json!([call("c", "success")]))]);
    let fold = fold_of(&twice);
    let total = fold.ledger().total();
    assert_eq!((total.input, total.cache_read, total.output), (41, 60, 15));
    // The prompt; text, tokens, call and result of the answer.
    assert_eq!((fold.record_count(), fold.pending_tools().len()), (5, 0));
}

#[test]
fn what_no_person_typed_is_no_prompt() {
    let response =
        json!({ "type": "user", "content": [{ "functionResponse": { "response": { "output": "x" } } }] });
    let context = json!({ "$set": { "messages": [user("<session_context>\nThis is the Gemini CLI")] } });
    let empty = fold_of(&[context, response, json!({ "$set": { "lastUpdated": "x", "summary": "Title" } })]);
    assert_eq!((&*state(&empty), empty.facts().created_at), ("idle -", None), "it has no row");
    assert_eq!(
        (empty.facts().title().as_deref(), empty.own_id().map(|id| &**id)),
        (Some("Title"), Some(WHOLE))
    );
    let mut expanded = user("the text of a file");
    expanded["displayContent"] = json!([{ "text": "look at @a.rs" }]);
    assert_eq!(fold_of(&[expanded]).facts().goal.as_deref(), Some("look at @a.rs"));
    let told = json!({ "type": "user", "content": [{ "text": "hello" }, { "text": "<hook_context>&lt;x" }] });
    assert_eq!(fold_of(&[told]).facts().goal.as_deref(), Some("hello"));
}

#[test]
fn history_that_is_written_again_changes_nothing() {
    let at = |mut line: Value, at: &str| {
        line["timestamp"] = format!("2026-11-23T16:28:{at}Z").into();
        line
    };
    let again = at(json!({ "type": "gemini", "content": [{ "text": "I look." }], "tokens": null }), "59.624");
    let mut lines = vec![
        user("go"),
        answer("a", &json!([])),
        at(json!({ "type": "info", "content": "Request cancelled." }), "59.617"),
    ];
    let before = fold_of(&lines);
    lines.extend([at(user("<session_context>\nx"), "59.624"), at(user("go"), "59.624"), again]);
    let after = fold_of(&lines);
    assert_eq!((state(&after), after.record_count()), (state(&before), before.record_count()));
    lines.push(
        json!({ "type": "user", "id": "n", "timestamp": "2026-11-23T16:29:03.000Z", "content": "next" }),
    );
    assert_eq!(state(&fold_of(&lines)), "working -", "the next prompt is one");
}
