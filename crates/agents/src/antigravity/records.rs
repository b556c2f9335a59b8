//! Tells a line of a transcript in the form of the transcripts that hosts write. Evidence: pages and programs of others that read
//! these files, of 2026.
//!
//! A call has no id, and a step with what it gave does not name it. So each call is closed at once, without its output.

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;
use watchbill_core::transcript::report::LineReport;

use crate::claude::records::user::tagged;
use crate::fold::json::{list, text};
use crate::traits::RecordSink;
use crate::translated::{self, Word, in_our_words, message, prompt, result};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Antigravity's own tools and their fields.
const WORDS: &[Word] = &[
    ("run_command", "Bash", &[("CommandLine", "command")]),
    ("view_file", "Read", &[("AbsolutePath", "file_path")]),
    ("write_to_file", "Write", &[("TargetFile", "file_path"), ("CodeContent", "content")]),
    ("replace_file_content", "Edit", &[("TargetFile", "file_path")]),
    ("multi_replace_file_content", "Edit", &[("TargetFile", "file_path")]),
    ("list_dir", "LS", &[("DirectoryPath", "path")]),
    ("grep_search", "Grep", &[("Query", "pattern"), ("SearchPath", "path")]),
];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let at = &line["created_at"];
    Some(match (text(line, "type")?, text(line, "content").unwrap_or_default()) {
        ("USER_INPUT", words) => {
            let typed = tagged(words, "USER_REQUEST").unwrap_or(words).trim();
            vec![prompt(&Value::Null, at, typed)]
        }
        ("PLANNER_RESPONSE", words) => answer(line, words, at),
        // What a call gave, and what the client adds for the model.
        _ if line.get("step_index").is_some() => Vec::new(),
        _ => return None,
    })
}

/// One step of a turn.
fn answer(line: &Value, words: &str, at: &Value) -> Vec<Value> {
    let thought = text(line, "thinking").map(|words| json!({ "type": "thinking", "thinking": words }));
    let words = Some(words).filter(|words| !words.is_empty());
    let words = words.map(|words| json!({ "type": "text", "text": words }));
    let hash = stable_hash(line.to_string().as_bytes());
    let calls: Vec<Value> = list(line, "tool_calls")
        .enumerate()
        .map(|(n, call)| {
            let (tool, input) = in_our_words(text(call, "name").unwrap_or_default(), &call["args"], WORDS);
            json!({ "type": "tool_use", "id": format!("{hash:016x}-{n}"), "name": tool, "input": input })
        })
        .collect();
    let results = calls.iter().map(|call| result(at, &call["id"], "", false)).collect::<Vec<_>>();
    let blocks = thought.into_iter().chain(words).chain(calls);
    std::iter::once(message("assistant", at, blocks.collect())).chain(results).collect()
}
