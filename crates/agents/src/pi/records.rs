//! Tells a line of a session in the form of the transcripts that hosts write. Evidence: pi 1.5.2, Oh My Pi's files of version 3.
//!
//! A session is a tree: each entry names the one before it. All branches count, in the order of the file.

use std::path::Path;

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use super::layout;
use crate::fold::json::text;
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, compacted, ended, failed, in_our_words, interrupted, joined, message, prompt, result, titled,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// pi's own tools and their fields.
pub(super) const WORDS: &[Word] = &[
    ("bash", "Bash", &[]),
    ("read", "Read", &[("path", "file_path")]),
    ("write", "Write", &[("path", "file_path")]),
    ("edit", "Edit", &[("path", "file_path"), ("oldText", "old_string"), ("newText", "new_string")]),
    ("grep", "Grep", &[]),
    ("find", "Glob", &[]),
    ("ls", "LS", &[]),
];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let at = &line["timestamp"];
    Some(match text(line, "type")? {
        "session" => vec![head(line)],
        "message" => said(line, at, &line["message"]),
        "session_info" => text(line, "name").map(|name| titled(at, name, true)).into_iter().collect(),
        "title" | "title_change" => {
            text(line, "title").map(|name| titled(at, name, false)).into_iter().collect()
        }
        "compaction" => compacted(at, &id_of(line), &line["tokensBefore"], &line["summary"]),
        // Nothing of these is read or kept. `credential_pin` has a hash of a key.
        "model_change"
        | "thinking_level_change"
        | "branch_summary"
        | "label"
        | "usage"
        | "context_edit"
        | "custom"
        | "custom_message"
        | "session_init"
        | "credential_pin" => Vec::new(),
        _ => return None,
    })
}

/// What holds for the whole session. The head of a fork is younger than the entries that it copies, so it has no time.
fn head(line: &Value) -> Value {
    let mut head = json!({ "type": "system", "subtype": "session", "cwd": line["cwd"] });
    let parent = text(line, "parentSession").and_then(|path| layout::find(Path::new(path)));
    match parent {
        Some(crate::paths::ClientPath::Transcript { session, .. }) => {
            head["forkedFrom"] = json!({ "sessionId": session.as_str() });
        }
        _ => head["timestamp"] = line["timestamp"].clone(),
    }
    head
}

/// The id of an entry in all files that have it. Its own one is short, and the same may be in other sessions.
fn id_of(line: &Value) -> Value {
    let part = |name: &str| line[name].as_str().unwrap_or_default();
    format!("{} {}", part("id"), part("timestamp")).into()
}

fn said(line: &Value, at: &Value, said: &Value) -> Vec<Value> {
    match text(said, "role") {
        Some("user") => {
            let mut words = joined(&said["content"]);
            if words.is_empty() {
                words.push_str("[image]");
            }
            let mut line = prompt(&id_of(line), at, &words);
            if said["attribution"] == "agent" {
                line["origin"] = json!({ "kind": "peer" });
            }
            vec![line]
        }
        Some("assistant") => answer(line, at, said),
        Some("toolResult") => {
            let failed = said["isError"] == true;
            let mut result = result(at, &said["toolCallId"], &joined(&said["content"]), failed);
            result["uuid"] = id_of(line);
            vec![result]
        }
        Some("bashExecution") => {
            let part = |tag: &str, field: &str| {
                message(
                    "user",
                    at,
                    format!("<{tag}>{}</{tag}>", text(said, field).unwrap_or_default()).into(),
                )
            };
            vec![part("bash-input", "command"), part("bash-stdout", "output")]
        }
        // The instructions of the client, and what extensions say.
        _ => Vec::new(),
    }
}

/// One answer of the model: a step of a turn.
fn answer(line: &Value, at: &Value, said: &Value) -> Vec<Value> {
    let blocks = said["content"].as_array().into_iter().flatten().filter_map(|block| {
        Some(match text(block, "type")? {
            "toolCall" => {
                let (tool, input) =
                    in_our_words(text(block, "name").unwrap_or_default(), &block["arguments"], WORDS);
                json!({ "type": "tool_use", "id": block["id"], "name": tool, "input": input })
            }
            "text" => json!({ "type": "text", "text": block["text"] }),
            "thinking" => json!({ "type": "thinking", "thinking": block["thinking"] }),
            _ => return None,
        })
    });
    let mut answer = message("assistant", at, blocks.collect());
    answer["uuid"] = id_of(line);
    answer["message"]["id"] = id_of(line);
    answer["message"]["model"] = said["model"].clone();
    let usage = &said["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let tokens = json!({
        "input_tokens": count("input"),
        "output_tokens": count("output"),
        "cache_read_input_tokens": count("cacheRead"),
        "cache_creation_input_tokens": count("cacheWrite"),
    });
    // An answer that failed has counts of zero: the context is as full as before.
    if ["input", "output", "cacheRead", "cacheWrite"].map(count) != [0; 4] {
        answer["message"]["usage"] = tokens;
    }
    let end = match text(said, "stopReason") {
        Some("stop" | "length") => Some(ended(at)),
        Some("aborted") => Some(interrupted(at)),
        Some("error") => {
            Some(failed(at, "error", text(said, "errorMessage").unwrap_or("The model gave no answer.")))
        }
        _ => None,
    };
    std::iter::once(answer).chain(end).collect()
}
