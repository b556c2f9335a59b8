//! Tells a line of a thread in the form of the transcripts that hosts write. Evidence: programs of others that read these files, of
//! 2026.
//!
//! A line is a message, or has what stands around the messages.

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, number, text, texts};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, counted, ended, failed, in_our_words, interrupted, prompt, result, said, time, titled,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Amp's own tools and their fields, where they differ.
const WORDS: &[Word] = &[
    ("Bash", "Bash", &[("cmd", "command")]),
    ("Read", "Read", PATH),
    ("create_file", "Write", PATH),
    ("edit_file", "Edit", &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")]),
    ("glob", "Glob", &[("filePattern", "pattern")]),
    ("todo_write", "TodoWrite", &[]),
    ("read_web_page", "WebFetch", &[]),
    ("web_search", "WebSearch", &[]),
];
const PATH: &[(&str, &str)] = &[("path", "file_path")];

fn translate(line: &Value) -> Option<Vec<Value>> {
    Some(match text(line, "role") {
        Some("user") => typed(line),
        Some("assistant") => answer(line),
        // What the client tells the person.
        Some("info") => Vec::new(),
        Some(_) => return None,
        None => head(line),
    })
}

/// A part of what stands around the messages.
fn head(line: &Value) -> Vec<Value> {
    let at = time(&line["created"]);
    let tree = list(&line["env"]["initial"], "trees").find_map(|tree| text(tree, "uri"));
    let cwd = tree.and_then(|uri| uri.strip_prefix("file://")).map(decoded);
    let begun = (cwd.is_some() || !at.is_null())
        .then(|| json!({ "type": "system", "subtype": "session", "timestamp": at, "cwd": cwd }));
    let title = text(line, "title").map(|title| titled(&at, title, false));
    begun.into_iter().chain(title).collect()
}

/// The path of an address.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let hex = more.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex {
            Some(byte) if *first == b'%' => (bytes.push(byte), rest = &more[2..]).0,
            _ => (bytes.push(*first), rest = more).0,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A message of the person, or the results of calls.
fn typed(line: &Value) -> Vec<Value> {
    let at = time(&line["meta"]["sentAt"]);
    let results = list(line, "content").filter_map(|block| {
        let run = &block["run"];
        let status = text(run, "status")?;
        // Others run, or wait.
        let is_over = ["done", "error", "cancelled", "rejected-by-user"].contains(&status);
        is_over.then(|| result(&at, &block["toolUseID"], &given(run), status != "done"))
    });
    let words = list(line, "content").filter(|block| block["type"] == "text");
    let words = words.filter_map(|block| text(block, "text")).collect::<Vec<_>>().join("\n");
    let typed = (!words.is_empty()).then(|| prompt(&Value::Null, &at, &words));
    results.chain(typed).collect()
}

/// What a call gave.
fn given(run: &Value) -> String {
    let told = text(&run["error"], "message").or_else(|| text(&run["result"], "output"));
    told.map_or_else(|| texts(&run["result"]), str::to_owned)
}

/// One step of a turn.
fn answer(line: &Value) -> Vec<Value> {
    let usage = &line["usage"];
    let at = &usage["timestamp"];
    let mut lines: Vec<Value> = list(line, "content")
        .filter_map(|block| match text(block, "type")? {
            "text" | "thinking" => Some(said(at, block.clone())),
            "tool_use" => {
                let (tool, input) =
                    in_our_words(text(block, "name").unwrap_or_default(), &block["input"], WORDS);
                let call = json!({ "type": "tool_use", "id": block["id"], "name": tool, "input": input });
                Some(said(at, call))
            }
            _ => None,
        })
        .collect();
    if usage.is_object() {
        let count = |name: &str| number(usage, name).unwrap_or_default();
        let names = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
        // A thread that goes on in another one has no ids of its own. The counts with their time tell requests apart.
        let id = format!("{:016x}", stable_hash(usage.to_string().as_bytes())).into();
        lines.push(counted(at, &id, &usage["model"], names.map(count)));
    }
    lines.extend(match (text(&line["state"], "type"), text(&line["state"], "stopReason")) {
        (Some("complete"), Some("tool_use")) => None,
        (Some("complete"), _) => Some(ended(at)),
        (Some("cancelled"), _) => Some(interrupted(at)),
        (Some("error"), _) => Some(failed(at, "error", &texts(&line["state"]["error"]["message"]))),
        _ => None,
    });
    lines
}
