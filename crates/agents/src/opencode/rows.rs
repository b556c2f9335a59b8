//! Shows the rows of a message as lines of a transcript, in the form in which hosts write them.
//!
//! Rows change in place. A line only has what does not change any more, and its own time. So the lines of a session in the order
//! of their times only ever grow at the end, as those of a file do. Evidence: clients 1.16 to 1.18.

use std::sync::LazyLock;

use serde_json::{Value, json};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{Body, System};
use watchbill_core::transcript::report::LineReport;

use super::install::PLUGIN;
use crate::claude;
use crate::fold::json::text;
use crate::traits::{Line, RecordSink, Row};
use crate::translated::runs;

/// Reads a line. A call in it runs: only the plugin tells that one waits for permission. A question is one for certain.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    claude::records::parse_line(line, &mut |mut record, payloads| {
        match &mut record.body {
            Body::Assistant(answer) => answer.blocks.iter_mut().for_each(runs),
            Body::System(System::Other(kind)) if [COMPACTION_BEGINS, COMPACTION_OVER].contains(&&**kind) => {
                record.body = Body::Compaction(kind == COMPACTION_BEGINS);
            }
            _ => {}
        }
        sink(record, payloads);
    })
}

/// Types of our own: no line of Claude Code says when a compaction begins.
const COMPACTION_BEGINS: &str = "compaction_begins";
const COMPACTION_OVER: &str = "compaction_over";

/// The lines of a session's row, or of a message and its parts.
pub fn lines(rows: &[Row]) -> Vec<Line> {
    let Some((first, parts)) = rows.split_first() else { return Vec::new() };
    let data = json_of(first);
    let mut out = Lines(Vec::new());
    match first.kind.as_str() {
        "session" => head(&mut out, first.created, &data),
        _ if text(&data, "role") == Some("user") => {
            prompts(&mut out, data["time"]["created"].as_i64().unwrap_or(first.created), parts);
        }
        _ => answer(&mut out, first, &data, parts),
    }
    out.0
}

fn json_of(row: &Row) -> Value {
    serde_json::from_str(&row.data).unwrap_or_default()
}

struct Lines(Vec<Line>);

impl Lines {
    fn add(&mut self, at: i64, mut line: Value) {
        line["timestamp"] = Timestamp::from_millis(at).to_string().into();
        self.0.push(Line { at, text: format!("{line}\n") });
    }
}

/// What holds for the whole session. A new title changes the first lines, and the session is read anew.
fn head(out: &mut Lines, at: i64, session: &Value) {
    let (cwd, version) = (&session["directory"], &session["version"]);
    out.add(at, json!({ "type": "system", "subtype": "session", "cwd": cwd, "version": version }));
    // Until the model has named it, the title is a time.
    let is_made =
        |title: &&str| ["New session - ", "Child session - "].iter().any(|words| title.starts_with(words));
    if let Some(title) = text(session, "title").filter(|title| !is_made(title)) {
        out.add(at, json!({ "type": "ai-title", "aiTitle": title }));
    }
}

/// The texts that a person typed. Other texts are the client's own: files, instructions, "go on".
///
/// They have the time of their message. The rows of a fork's parts are as new as the fork.
fn prompts(out: &mut Lines, at: i64, parts: &[Row]) {
    for row in parts {
        let part = json_of(row);
        let words = match text(&part, "type") {
            Some("text") if part["synthetic"] != true && part["ignored"] != true => text(&part, "text"),
            Some("subtask") => text(&part, "description").or_else(|| text(&part, "prompt")),
            _ => None,
        };
        if let Some(words) = words {
            let message = json!({ "role": "user", "content": words });
            out.add(
                at,
                json!({ "type": "user", "uuid": row.id, "promptSource": "typed", "message": message }),
            );
        }
    }
}

/// One answer of the model: a step of a turn.
fn answer(out: &mut Lines, row: &Row, message: &Value, parts: &[Row]) {
    let time = &message["time"];
    let said = |blocks: Value| {
        let message =
            json!({ "id": row.id, "role": "assistant", "model": message["modelID"], "content": blocks });
        json!({ "type": "assistant", "message": message })
    };
    let mut begun = said(json!([]));
    begun["cwd"] = message["path"]["cwd"].clone();
    let created = time["created"].as_i64().unwrap_or(row.created);
    out.add(created, begun);
    let is_summary = message["summary"] == true;
    if is_summary {
        out.add(created, json!({ "type": "system", "subtype": COMPACTION_BEGINS }));
    }
    let (mut summary, mut was_refused) = (String::new(), false);
    for row in parts {
        let part = json_of(row);
        // A text ends when the call behind it runs already. It is told once it is whole, in its own place.
        let begun = || part["time"]["end"].as_i64().and(part["time"]["start"].as_i64());
        match (text(&part, "type"), text(&part, "text")) {
            (Some("text"), Some(words)) if is_summary => summary.push_str(words),
            (Some("text"), Some(words)) if !part["time"].is_object() || begun().is_some() => {
                out.add(begun().unwrap_or(row.created), said(json!([{ "type": "text", "text": words }])));
            }
            (Some("reasoning"), Some(words)) => {
                if let Some(at) = begun() {
                    out.add(at, said(json!([{ "type": "thinking", "thinking": words }])));
                }
            }
            (Some("tool"), _) => was_refused |= call(out, &part, &said),
            _ => {}
        }
    }
    if let Some(completed) = time["completed"].as_i64() {
        completed_lines(out, completed, message, said(json!([])), was_refused);
        if is_summary {
            out.add(completed, json!({ "type": "system", "subtype": "compact_boundary", "uuid": row.id }));
            let message = json!({ "role": "user", "content": summary });
            out.add(completed, json!({ "type": "user", "isCompactSummary": true, "message": message }));
            out.add(completed, json!({ "type": "system", "subtype": COMPACTION_OVER }));
        }
    }
}

/// A call from when it runs, and its result. Says whether the user refused it.
fn call(out: &mut Lines, part: &Value, said: &dyn Fn(Value) -> Value) -> bool {
    let state = &part["state"];
    // A pending call has no input yet.
    let Some(begin) = state["time"]["start"].as_i64() else { return false };
    let (tool, input) = tool(text(part, "tool").unwrap_or_default(), &state["input"]);
    let id = &part["callID"];
    let end = state["time"]["end"].as_i64();
    // A command has an output, if an empty one, as soon as it runs. Before that it may wait for permission, and rows do not say so.
    if tool != "Bash" || end.is_some() || state["metadata"].is_object() {
        out.add(begin, said(json!([{ "type": "tool_use", "id": id, "name": tool, "input": input }])));
    }
    let Some(end) = end else { return false };
    let error = text(state, "error");
    let refused = error.is_some_and(|error| {
        error.starts_with("The user rejected") || error.starts_with("The user dismissed")
    });
    let content = error.or_else(|| text(state, "output")).unwrap_or_default();
    let block =
        json!({ "type": "tool_result", "tool_use_id": id, "is_error": error.is_some(), "content": content });
    let mut result = json!({ "type": "user", "message": { "role": "user", "content": [block] } });
    if refused {
        result["toolDenialKind"] = "user-rejected".into();
    }
    if let Some(child) = text(&state["metadata"], "sessionId") {
        result["toolUseResult"] = json!({ "agentId": child });
    }
    out.add(end, result);
    // With a word of the user the turn goes on.
    refused && !error.is_some_and(|error| error.contains("with the following feedback"))
}

/// The tokens of an answer, and whether the turn is over.
fn completed_lines(out: &mut Lines, at: i64, message: &Value, mut usage: Value, was_refused: bool) {
    let tokens = &message["tokens"];
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    usage["message"]["usage"] = json!({
        "input_tokens": count(&tokens["input"]),
        "output_tokens": count(&tokens["output"]) + count(&tokens["reasoning"]),
        "cache_read_input_tokens": count(&tokens["cache"]["read"]),
        "cache_creation_input_tokens": count(&tokens["cache"]["write"]),
    });
    out.add(at, usage);
    let error = &message["error"];
    let stopped = json!([{ "type": "text", "text": "[Request interrupted by user]" }]);
    match (text(error, "name"), text(message, "finish")) {
        (Some("MessageAbortedError"), _) => {
            out.add(at, json!({ "type": "user", "message": { "content": stopped } }))
        }
        (Some(name), _) => {
            let words = text(&error["data"], "message").unwrap_or(name);
            let content = json!([{ "type": "text", "text": words }]);
            out.add(
                at,
                json!({ "type": "assistant", "isApiErrorMessage": true, "error": name, "message": { "content": content } }),
            );
        }
        (None, Some("tool-calls")) if was_refused => {
            out.add(at, json!({ "type": "user", "message": { "content": stopped } }));
        }
        (None, Some("tool-calls")) => {}
        (None, _) => out.add(at, json!({ "type": "system", "subtype": "turn_duration" })),
    }
}

/// The words for tools and for the fields of their inputs in the transcript's form: `tools` and `fields`. The plugin has the table.
static WORDS: LazyLock<Value> = LazyLock::new(|| {
    let table = PLUGIN.lines().find_map(|line| line.strip_prefix("const words = ")?.strip_suffix(';'));
    table.and_then(|table| serde_json::from_str(table).ok()).unwrap_or_default()
});

/// A tool and its input in the words of the transcript's form, so that each reader knows what a call does.
fn tool(name: &str, input: &Value) -> (String, Value) {
    let word = |kind: &str, name: &str| WORDS[kind][name].as_str().unwrap_or(name).to_owned();
    let fields = input.as_object().into_iter().flatten();
    let mut input: Value = fields
        .map(|(name, value)| (word("fields", name), value.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    for question in input.get_mut("questions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(several) = question.as_object_mut().and_then(|fields| fields.remove("multiple")) {
            question["multiSelect"] = several;
        }
    }
    (word("tools", name), input)
}
