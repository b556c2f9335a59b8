//! Reads lines of an agent whose records are told in the form of the transcripts that hosts write.
//!
//! One line becomes the lines that say the same, and these are read. So an agent needs a translation and no parser, and each reader
//! of payloads knows its calls. It takes a few times as long as a parser of its own.

use std::borrow::Cow;

use serde_json::{Value, json};
use watchbill_core::requests::visible::visible_line;
use watchbill_core::time::Timestamp;
use watchbill_core::tool::Ask;
use watchbill_core::transcript::record::{Block, Body, SessionRecord};
use watchbill_core::transcript::report::LineReport;

use crate::claude::records;
use crate::fold::json::object;
use crate::lines::TYPE_NAME_LIMIT;
use crate::traits::RecordSink;

/// The longest target of a request, in characters.
const TARGET: usize = 200;

/// The lines that say the same as one of the agent's. `None`: its type is not known.
pub(crate) type Translation = fn(&Value) -> Option<Vec<Value>>;

/// Reads a line. No call in it waits for permission by its tool alone: what an agent's lines do not say is not guessed.
pub(crate) fn parse_line(line: &[u8], translate: Translation, sink: RecordSink<'_>) -> LineReport {
    let mut report = LineReport::default();
    let text = String::from_utf8_lossy(line);
    report.invalid_utf8 = matches!(text, Cow::Owned(_));
    let text = text.trim_matches(['\u{feff}', '\0', ' ', '\r', '\t']);
    if text.is_empty() {
        return report;
    }
    let Ok(value) = object(text, "agent") else {
        report.malformed = true;
        return report;
    };
    let Some(lines) = translate(&value) else {
        let name: String = value["type"].as_str().unwrap_or_default().chars().take(TYPE_NAME_LIMIT).collect();
        report.unknown_type = Some(name.into());
        report.records += 1;
        return report;
    };
    for line in lines {
        let read = records::parse_line(line.to_string().as_bytes(), &mut |mut record, payloads| {
            match &mut record.body {
                Body::Assistant(answer) => answer.blocks.iter_mut().for_each(runs),
                body if line["type"] == PERMISSION => *body = asked(&line),
                body if line["type"] == COMPACTION => *body = Body::Compaction(line["runs"] == true),
                body if line["type"] == SESSION => *body = named(&line),
                _ => {}
            }
            sink(record, payloads);
        });
        report.records += read.records;
        report.absurd_tokens |= read.absurd_tokens;
    }
    report
}

/// A type of our own: no line of Claude Code says what it stands for.
const PERMISSION: &str = "permission";

/// The same: a compaction that runs, or is over.
const COMPACTION: &str = "compaction";

/// The same: which session the file holds.
const SESSION: &str = "session";

/// The session of the file, or another one whose history was copied from here on.
pub(crate) fn session(id: &Value) -> Value {
    json!({ "type": SESSION, "id": id })
}

fn named(line: &Value) -> Body<'static> {
    let id = line["id"].as_str().unwrap_or_default().to_owned().into();
    Body::Session(SessionRecord { id, ..SessionRecord::default() })
}

/// A dialog for permission about a tool and its target is open, or the user has answered it.
pub(crate) fn permission(at: &Value, id: &Value, (tool, target): (&str, &str), waits: bool) -> Value {
    json!({ "type": PERMISSION, "timestamp": at, "id": id, "tool": tool, "target": target, "waits": waits })
}

fn asked(line: &Value) -> Body<'static> {
    let word = |name: &str| Cow::from(line[name].as_str().unwrap_or_default().to_owned());
    let target = visible_line(&word("target"), TARGET).into();
    Body::Permission { id: word("id"), tool: word("tool"), target, waits: line["waits"] == true }
}

/// A call runs, unless it is itself a question.
pub(crate) fn runs(block: &mut Block<'_>) {
    if let Block::ToolUse { ask: ask @ (Ask::Edit | Ask::Tool), .. } = block {
        *ask = Ask::Never;
    }
}

/// A record of the user or of the agent, with these content blocks, or with a text alone.
pub(crate) fn message(kind: &str, at: &Value, content: Value) -> Value {
    json!({ "type": kind, "timestamp": at, "message": { "role": kind, "content": content } })
}

/// A prompt that a person typed.
pub(crate) fn prompt(id: &Value, at: &Value, text: &str) -> Value {
    let mut line = message("user", at, text.into());
    line["uuid"] = id.clone();
    line["promptSource"] = "typed".into();
    line
}

/// A text, a thought or a call in an answer.
pub(crate) fn said(at: &Value, block: Value) -> Value {
    message("assistant", at, json!([block]))
}

/// The result of a call.
pub(crate) fn result(at: &Value, call: &Value, text: &str, failed: bool) -> Value {
    let block = json!({ "type": "tool_result", "tool_use_id": call, "is_error": failed, "content": text });
    message("user", at, json!([block]))
}

/// The turn is over.
pub(crate) fn ended(at: &Value) -> Value {
    json!({ "type": "system", "subtype": "turn_duration", "timestamp": at })
}

/// The user stopped the turn.
pub(crate) fn interrupted(at: &Value) -> Value {
    message("user", at, json!([{ "type": "text", "text": "[Request interrupted by user]" }]))
}

/// The turn failed.
pub(crate) fn failed(at: &Value, kind: &str, text: &str) -> Value {
    let mut line = said(at, json!({ "type": "text", "text": text }));
    line["isApiErrorMessage"] = true.into();
    line["error"] = kind.into();
    line
}

/// The tokens of a request: of the input, of the output, read from the cache and written to it.
pub(crate) fn counted(at: &Value, id: &Value, model: &Value, tokens: [u64; 4]) -> Value {
    let mut line = message("assistant", at, json!([]));
    line["message"]["id"] = id.clone();
    line["message"]["model"] = model.clone();
    let names = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    for (name, count) in names.into_iter().zip(tokens) {
        line["message"]["usage"][name] = count.into();
    }
    line
}

/// A compaction, with the number of tokens before it and its summary.
pub(crate) fn compacted(at: &Value, id: &Value, before: &Value, summary: &Value) -> Vec<Value> {
    let mut told = message("user", at, summary.clone());
    told["isCompactSummary"] = true.into();
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": id, "timestamp": at, "compactMetadata": { "preTokens": before },
    });
    vec![boundary, told]
}

/// A compaction begins, or is over.
pub(crate) fn compaction(at: &Value, runs: bool) -> Value {
    json!({ "type": COMPACTION, "timestamp": at, "runs": runs })
}

/// A title of the session, which the user gave, or the model made.
pub(crate) fn titled(at: &Value, name: &str, by_user: bool) -> Value {
    let (kind, field) = if by_user { ("custom-title", "customTitle") } else { ("ai-title", "aiTitle") };
    json!({ "type": kind, field: name, "timestamp": at })
}

/// A time in milliseconds in the usual form.
pub(crate) fn time(millis: &Value) -> Value {
    millis.as_i64().map_or(Value::Null, |millis| Timestamp::from_millis(millis).to_string().into())
}

/// A tool in an agent's words and in ours, and its fields where they differ.
pub(crate) type Word = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// A tool and its input in our words, so that each reader knows what a call does. A tool that is not known keeps its name.
pub(crate) fn in_our_words(tool: &str, input: &Value, words: &[Word]) -> (String, Value) {
    let Some((_, ours, fields)) = words.iter().find(|(theirs, ..)| *theirs == tool) else {
        return (tool.to_owned(), input.clone());
    };
    let field = |name: &String| {
        let known = fields.iter().find(|(theirs, _)| theirs == name);
        known.map_or_else(|| name.clone(), |(_, ours)| (*ours).to_owned())
    };
    let input = input.as_object().into_iter().flatten().map(|(name, value)| (field(name), value.clone()));
    ((*ours).to_owned(), input.collect::<serde_json::Map<_, _>>().into())
}

/// A text, or the texts of a list of blocks.
pub(crate) fn joined(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}
