//! Translates lines of a session file. Evidence: client 0.225.2.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, text};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, compacted, ended, failed, in_our_words, interrupted, joined, message, prompt, result, titled,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Droid's own tools and their fields. The others have our names.
const WORDS: &[Word] = &[
    ("Execute", "Bash", &[]),
    ("Create", "Write", &[]),
    ("Edit", "Edit", &[("old_str", "old_string"), ("new_str", "new_string")]),
    ("LS", "LS", &[("directory_path", "path")]),
    ("FetchUrl", "WebFetch", &[]),
];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let (at, id) = (&line["timestamp"], &line["id"]);
    Some(match text(line, "type")? {
        "session_start" => head(line),
        "message" => match text(&line["message"], "role") {
            Some("assistant") => vec![answer(line)],
            _ => said_to_it(line),
        },
        // It has no time: it belongs to the line before.
        "agent_turn_outcome" => vec![match text(line, "reason") {
            Some("cancelled" | "process_exit") => interrupted(at),
            Some("error" | "model_request_rejected") => failed(at, "error", "The request failed."),
            _ => ended(at),
        }],
        "compaction_state" => compacted(at, id, &Value::Null, &line["summaryText"]),
        _ => return None,
    })
}

/// What holds for the whole session. Its parent is the session that it was copied from, or that it continues after a compaction.
fn head(line: &Value) -> Vec<Value> {
    let mut head = json!({ "type": "system", "subtype": "session", "cwd": line["cwd"] });
    if let Some(parent) = text(line, "parent") {
        head["forkedFrom"] = json!({ "sessionId": parent });
    }
    let title = text(line, "title").filter(|title| *title != "New Session");
    let by_user = line["isSessionTitleManuallySet"] == true;
    std::iter::once(head).chain(title.map(|title| titled(&Value::Null, title, by_user))).collect()
}

/// Results of calls, and prompts. What the program tells the model, and the runs of hooks, are no prompts.
fn said_to_it(line: &Value) -> Vec<Value> {
    let (at, said) = (&line["timestamp"], &line["message"]);
    if said["visibility"].is_string() || said["hookEventName"].is_string() {
        return Vec::new();
    }
    let results = list(said, "content").filter(|block| block["type"] == "tool_result");
    let mut lines: Vec<Value> = results
        .map(|block| {
            let failed = block["is_error"] == true;
            result(at, &block["tool_use_id"], &joined(&block["content"]), failed)
        })
        .collect();
    let is_typed = |block: &&Value| block["type"] != "tool_result" && !is_reminder(block);
    let typed: Vec<&str> = list(said, "content")
        .filter(is_typed)
        .map(|block| text(block, "text").unwrap_or("[image]"))
        .collect();
    if !typed.is_empty() {
        lines.push(prompt(&line["id"], at, &typed.join("\n")));
    }
    lines
}

fn is_reminder(block: &Value) -> bool {
    text(block, "text").is_some_and(|words| words.starts_with("<system-reminder>"))
}

/// One answer of the model: a step of a turn.
fn answer(line: &Value) -> Value {
    let said = &line["message"];
    let blocks = list(said, "content").map(|block| match text(block, "type") {
        Some("tool_use") => {
            let (tool, input) = call(text(block, "name").unwrap_or_default(), &block["input"]);
            json!({ "type": "tool_use", "id": block["id"], "name": tool, "input": input })
        }
        _ => block.clone(),
    });
    let mut answer = message("assistant", &line["timestamp"], blocks.collect());
    answer["uuid"] = line["id"].clone();
    answer["message"]["id"] = line["id"].clone();
    answer["message"]["model"] = said["modelId"].clone();
    answer
}

/// A call in our words. A question has its texts in one: `1. [question] Which colour?` and other lines.
fn call(tool: &str, input: &Value) -> (String, Value) {
    if tool != "AskUser" {
        return in_our_words(tool, input, WORDS);
    }
    let lines = text(input, "questionnaire").unwrap_or_default().lines();
    let questions = lines.filter_map(|line| Some(json!({ "question": line.split_once("[question] ")?.1 })));
    ("AskUserQuestion".into(), json!({ "questions": questions.collect::<Vec<_>>() }))
}
