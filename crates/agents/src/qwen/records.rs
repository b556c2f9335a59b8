//! Translates lines of a chat. Evidence: client 0.24.4.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, text};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, compacted, counted, ended, failed, in_our_words, interrupted, prompt, result, said, titled,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Qwen's own tools and their fields.
const WORDS: &[Word] = &[
    ("run_shell_command", "Bash", &[]),
    ("read_file", "Read", FILE),
    ("write_file", "Write", FILE),
    ("edit", "Edit", FILE),
    ("grep_search", "Grep", &[]),
    ("glob", "Glob", &[]),
    ("list_directory", "LS", &[]),
    ("web_fetch", "WebFetch", &[]),
    ("web_search", "WebSearch", &[]),
    ("todo_write", "TodoWrite", &[]),
    ("agent", "Task", &[]),
    ("task", "Task", &[]),
    ("exit_plan_mode", "ExitPlanMode", &[]),
    ("ask_user_question", "AskUserQuestion", &[]),
];
const FILE: &[(&str, &str)] = &[("absolute_path", "file_path"), ("path", "file_path")];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let at = &line["timestamp"];
    let mut lines = match text(line, "type")? {
        "user" => vec![typed(line, at)],
        "assistant" => answer(line, at),
        "tool_result" => results(line, at),
        "system" => happened(line, at),
        _ => return None,
    };
    for told in &mut lines {
        for name in ["cwd", "version", "forkedFrom"] {
            if !line[name].is_null() {
                told[name] = line[name].clone();
            }
        }
    }
    Some(lines)
}

fn parts(line: &Value) -> impl Iterator<Item = &Value> {
    list(&line["message"], "parts")
}

/// A prompt of the user, or the report of a subagent that has ended.
fn typed(line: &Value, at: &Value) -> Value {
    let words: Vec<&str> = parts(line).map(|part| text(part, "text").unwrap_or("[image]")).collect();
    let mut typed = prompt(&line["uuid"], at, &words.join("\n"));
    if line["subtype"] == "notification" {
        typed["origin"] = json!({ "kind": "task-notification" });
    }
    typed
}

/// One answer of the model. Without a call it ends the turn. One without tokens was cut by Escape.
fn answer(line: &Value, at: &Value) -> Vec<Value> {
    let blocks = parts(line).filter_map(|part| {
        let call = &part["functionCall"];
        Some(match text(part, "text") {
            Some(words) if part["thought"] == true => json!({ "type": "thinking", "thinking": words }),
            Some(words) => json!({ "type": "text", "text": words }),
            None if call.is_object() => {
                let (tool, input) =
                    in_our_words(text(call, "name").unwrap_or_default(), &call["args"], WORDS);
                json!({ "type": "tool_use", "id": call["id"], "name": tool, "input": input })
            }
            None => return None,
        })
    });
    let mut answer = said(at, Value::Null);
    answer["message"]["content"] = blocks.collect();
    answer["message"]["model"] = line["model"].clone();
    let mut lines = vec![answer];
    let usage = &line["usageMetadata"];
    if usage.is_object() {
        let count = |name: &str| usage[name].as_u64().unwrap_or_default();
        let cached = count("cachedContentTokenCount");
        let input = count("promptTokenCount").saturating_sub(cached);
        let output = count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount"));
        lines.push(counted(at, &line["uuid"], &line["model"], [input, output, cached, 0]));
    }
    if !parts(line).any(|part| part["functionCall"].is_object()) {
        lines.push(if usage.is_object() { ended(at) } else { interrupted(at) });
    }
    lines
}

/// Results of calls. One that the user cancelled ends the turn.
fn results(line: &Value, at: &Value) -> Vec<Value> {
    let told = parts(line).filter(|part| part["functionResponse"].is_object()).map(|part| {
        let (id, response) = (&part["functionResponse"]["id"], &part["functionResponse"]["response"]);
        let words = ["output", "error"].iter().find_map(|name| text(response, name));
        result(at, id, words.unwrap_or_default(), response["error"].is_string())
    });
    let cancelled = line["toolCallResult"]["status"] == "cancelled";
    told.chain(cancelled.then(|| interrupted(at))).collect()
}

/// What the client notes. Half of it is telemetry, also of its helpers; a failed request stands nowhere else.
fn happened(line: &Value, at: &Value) -> Vec<Value> {
    let payload = &line["systemPayload"];
    let event = &payload["uiEvent"];
    match text(line, "subtype").unwrap_or_default() {
        "custom_title" => {
            let name = ["title", "customTitle"].iter().find_map(|name| text(payload, name));
            name.map(|name| titled(at, name, true)).into_iter().collect()
        }
        "chat_compression" => {
            compacted(at, &line["uuid"], &payload["info"]["originalTokenCount"], &Value::Null)
                .into_iter()
                .take(1)
                .collect()
        }
        "ui_telemetry" if event["event.name"] == "qwen-code.api_error" && is_of_turn(event) => {
            let why = ["error_message", "error"].iter().find_map(|name| text(event, name));
            vec![failed(at, "error", why.unwrap_or("The request failed."))]
        }
        _ => Vec::new(),
    }
}

/// The requests of a turn are named after the session and the turn: `<session>########2`.
fn is_of_turn(event: &Value) -> bool {
    text(event, "prompt_id").is_some_and(|id| id.contains("########"))
}
