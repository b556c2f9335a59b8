//! Tells a line of a chat in the form of the transcripts that hosts write. Evidence: 0.61, and files of April 2026; for documents
//! ([`crate::document`]) the client's public source.
//!
//! A message that comes again replaces the one of its id. So each part of it has an id of its own, and a part that is known changes
//! nothing: the text, the tokens, each call, each result. What `$rewindTo` takes back stays, and its turn is over. A list in
//! `$set.messages` is not followed.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, text};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, ended, failed, in_our_words, interrupted, message, prompt, result, said, session,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Gemini's own tools and their fields, where they differ.
pub(super) const WORDS: &[Word] = &[
    ("run_shell_command", "Bash", &[]),
    ("read_file", "Read", &[("absolute_path", "file_path")]),
    ("write_file", "Write", &[]),
    ("replace", "Edit", &[]),
    ("list_directory", "LS", &[("dir_path", "path")]),
    ("search_file_content", "Grep", &[]),
    ("grep_search", "Grep", &[]),
    ("glob", "Glob", &[]),
    ("web_fetch", "WebFetch", &[]),
    ("google_web_search", "WebSearch", &[]),
    ("write_todos", "TodoWrite", &[]),
    ("ask_user", "AskUserQuestion", &[]),
    ("exit_plan_mode", "ExitPlanMode", &[]),
    ("invoke_agent", "Task", &[]),
    ("activate_skill", "Skill", &[("name", "skill")]),
];

/// What the client puts before the first prompt.
const CONTEXT: &str = "<session_context>";
/// What hooks add to a prompt.
const OF_HOOKS: &str = "<hook_context>";
/// What the client writes when the user has pressed Escape, or refused a call.
const CANCELLED: &str = "Request cancelled.";

fn translate(line: &Value) -> Option<Vec<Value>> {
    if line.get("id").or(line.get("type")).or(line.get("$rewindTo")).is_none() {
        // The head, a part of it, or a change of it.
        let set = line.get("$set").unwrap_or(line);
        let head = line.get("projectHash").map(|_| session(&line["sessionId"]));
        let title = text(set, "summary").map(|title| json!({ "type": "ai-title", "aiTitle": title }));
        return Some(head.into_iter().chain(title).collect());
    }
    if line.get("$rewindTo").is_some() {
        // The person takes messages back at the prompt.
        return Some(vec![ended(&Value::Null)]);
    }
    let (content, at) = (line.get("content")?, &line["timestamp"]);
    Some(match text(line, "type")? {
        "user" => typed(line, at),
        // History that is written again, under new ids.
        "gemini" if content.is_array() => Vec::new(),
        "gemini" => answer(line, at),
        "info" if content == CANCELLED => vec![part(line, "cancelled", interrupted(at))],
        "error" => {
            let words = translated::joined(content);
            vec![part(line, "error", failed(at, "error", &words))]
        }
        "info" | "warning" => Vec::new(),
        _ => return None,
    })
}

/// A part of a message, with an id of its own.
fn part(message: &Value, name: &str, mut part: Value) -> Value {
    part["uuid"] = format!("{} {name}", text(message, "id").unwrap_or_default()).into();
    part
}

fn typed(line: &Value, at: &Value) -> Vec<Value> {
    if list(line, "content").any(|part| part.get("functionResponse").is_some()) {
        return Vec::new();
    }
    let shown = line.get("displayContent").filter(|shown| !shown.is_null()).unwrap_or(&line["content"]);
    let words: Vec<&str> = match shown.as_array() {
        None => shown.as_str().into_iter().collect(),
        Some(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
    };
    let words = words.into_iter().filter(|words| !words.starts_with(OF_HOOKS)).collect::<Vec<_>>().join("\n");
    if words.starts_with(CONTEXT) {
        // The client writes the whole history again. It counts as that of another session.
        let mut again = session(&line["id"]);
        again["timestamp"] = at.clone();
        return vec![again];
    }
    vec![prompt(&line["id"], at, if words.is_empty() { "[image]" } else { &words })]
}

/// One step of a turn. Its calls come when they are done.
fn answer(line: &Value, at: &Value) -> Vec<Value> {
    let thoughts = list(line, "thoughts").filter_map(|thought| text(thought, "description"));
    let thoughts = thoughts.map(|words| json!({ "type": "thinking", "thinking": words }));
    let words = text(line, "content").map(|words| json!({ "type": "text", "text": words }));
    let mut lines = vec![part(line, "text", message("assistant", at, thoughts.chain(words).collect()))];
    lines.extend(line.get("tokens").filter(|tokens| tokens.is_object()).map(|tokens| used(line, at, tokens)));
    let mut cancelled_at = None;
    for call in list(line, "toolCalls") {
        let (id, at) = (&call["id"], call.get("timestamp").unwrap_or(at));
        let (tool, input) = in_our_words(text(call, "name").unwrap_or_default(), &call["args"], WORDS);
        let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        lines.push(part(call, "call", said(at, block)));
        if let Some(status @ ("success" | "error" | "cancelled")) = text(call, "status") {
            let done = result(at, id, &output(call), status != "success");
            lines.push(part(call, "result", done));
            if status == "cancelled" {
                cancelled_at = Some(at);
            }
        }
    }
    for said in lines.iter_mut().filter(|said| said["type"] == "assistant") {
        said["message"]["id"] = line["id"].clone();
        said["message"]["model"] = line["model"].clone();
    }
    // One call that is cancelled cancels the turn. It may be told after the notice.
    lines.extend(cancelled_at.map(|at| part(line, "cancelled", interrupted(at))));
    lines
}

/// The tokens of one request. The input contains the cached ones. The output does not contain the thoughts.
fn used(line: &Value, at: &Value, tokens: &Value) -> Value {
    let count = |name: &str| tokens[name].as_u64().unwrap_or_default();
    let mut used = part(line, "tokens", message("assistant", at, json!([])));
    used["message"]["usage"] = json!({
        "input_tokens": count("input").saturating_sub(count("cached")).saturating_add(count("tool")),
        "output_tokens": count("output").saturating_add(count("thoughts")),
        "cache_read_input_tokens": count("cached"),
    });
    used
}

/// What a call gave, as the model got it.
fn output(call: &Value) -> String {
    let given = list(call, "result").map(|part| {
        let response = &part["functionResponse"]["response"];
        let words =
            text(response, "output").or_else(|| text(response, "error")).or_else(|| text(part, "text"));
        words.unwrap_or_default()
    });
    given.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
}
