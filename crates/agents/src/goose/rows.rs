//! Shows the rows of a session and of its messages as lines of a transcript, in the form in which hosts write them.
//!
//! Evidence: the public source of goose 1.10 and later. Nothing says that a turn is over.

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;

use crate::fold::json::{list, text};
use crate::traits::{Line, Row};
use crate::translated::{Word, in_our_words, joined, prompt, result, said, titled};

/// goose's own tools and their fields.
const WORDS: &[Word] = &[
    ("developer__shell", "Bash", &[]),
    ("developer__write", "Write", &[("path", "file_path")]),
    ("developer__edit", "Edit", EDIT),
    ("developer__text_editor", "Edit", EDIT),
];
const EDIT: &[(&str, &str)] =
    &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string"), ("file_text", "content")];

/// The lines of a session's row, or of a message.
pub fn lines(rows: &[Row]) -> Vec<Line> {
    let Some(row) = rows.first() else { return Vec::new() };
    let data: Value = serde_json::from_str(&row.data).unwrap_or_default();
    let at = Timestamp::from_millis(row.created).to_string().into();
    let lines = if row.kind == "session" { head(&data, &at) } else { message(row, &data, &at) };
    lines.into_iter().map(|line| Line { at: row.created, text: format!("{line}\n") }).collect()
}

fn head(session: &Value, at: &Value) -> Vec<Value> {
    let cwd = &session["directory"];
    let mut lines = vec![json!({ "type": "system", "subtype": "session", "timestamp": at, "cwd": cwd })];
    // Until the model has named it, each session has one of these names.
    let is_made = |name: &&str| name.starts_with("New ") || ["", "CLI Session"].contains(name);
    lines.extend(text(session, "title").filter(|name| !is_made(name)).map(|name| titled(at, name, false)));
    lines
}

fn message(row: &Row, message: &Value, at: &Value) -> Vec<Value> {
    let is_typed = text(message, "role") == Some("user") && message["shown"] != 0;
    let mut lines = Vec::new();
    for (n, part) in list(message, "content").enumerate() {
        lines.extend(match text(part, "type") {
            Some("text") if is_typed => {
                text(part, "text").map(|words| prompt(&format!("{} {n}", row.id).into(), at, words))
            }
            Some("text") if text(message, "role") == Some("assistant") => Some(said(at, part.clone())),
            Some("thinking") => Some(said(at, json!({ "type": "thinking", "thinking": part["thinking"] }))),
            Some("toolRequest") => {
                let call = &part["toolCall"]["value"];
                let (tool, input) =
                    in_our_words(text(call, "name").unwrap_or_default(), &call["arguments"], WORDS);
                Some(said(at, json!({ "type": "tool_use", "id": part["id"], "name": tool, "input": input })))
            }
            Some("toolResponse") => Some(answered(part, at)),
            _ => None,
        });
    }
    lines
}

/// What a call gave. Older versions have its contents alone.
fn answered(part: &Value, at: &Value) -> Value {
    let (given, error) = (&part["toolResult"]["value"], text(&part["toolResult"], "error"));
    let words = joined(given.get("content").unwrap_or(given));
    let failed = error.is_some() || given["isError"] == true;
    result(at, &part["id"], error.unwrap_or(&words), failed)
}
