//! Translates lines of a wire file. They say when a dialog is open, so no call is guessed to ask. Evidence: client 2.1.0.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::text;
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, compacted, compaction, counted, ended, failed, in_our_words, interrupted, joined, permission,
    prompt, result, said, time,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Kimi's own tools and their fields. Most have our names.
const WORDS: &[Word] = &[
    ("Read", "Read", FILE),
    ("ReadFile", "Read", FILE),
    ("Write", "Write", FILE),
    ("WriteFile", "Write", FILE),
    ("Edit", "Edit", FILE),
    ("StrReplaceFile", "Edit", FILE),
    ("Shell", "Bash", &[]),
];
const FILE: &[(&str, &str)] = &[("path", "file_path"), ("old", "old_string"), ("new", "new_string")];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let at = &time(&line["time"]);
    Some(match text(line, "type")? {
        "profile.bind" => {
            let cwd = &line["environmentDisclosure"]["cwd"];
            vec![json!({ "type": "system", "subtype": "session", "timestamp": at, "cwd": cwd })]
        }
        "turn.prompt" => vec![begun(line, at)],
        "context.append_loop_event" => step(&line["event"], at).into_iter().collect(),
        "interaction.request" if line["kind"] == "approval" => vec![asked(line, at)],
        "interaction.resolved" => vec![permission(at, &line["id"], ("", ""), false)],
        "turn.ended" => vec![match text(line, "reason") {
            Some("cancelled") => interrupted(at),
            Some("failed") => {
                failed(at, "error", text(&line["error"], "message").unwrap_or("The turn failed."))
            }
            _ => ended(at),
        }],
        "usage.record" => {
            let count = |name: &str| line["usage"][name].as_u64().unwrap_or_default();
            let tokens = ["inputOther", "output", "inputCacheRead", "inputCacheCreation"].map(count);
            let mut usage = counted(at, &at_of_agent(line), &line["model"], tokens);
            // A compaction that the user asks for is no turn.
            usage["isSidechain"] = (line["usageScope"] != "turn").into();
            vec![usage]
        }
        "context.apply_compaction" => {
            compacted(at, &at_of_agent(line), &line["tokensBefore"], &line["summary"])
        }
        "full_compaction.begin" => vec![compaction(at, true)],
        // `complete`, or how else it was over.
        kind if kind.starts_with("full_compaction.") => vec![compaction(at, false)],
        kind if is_known(kind) => Vec::new(),
        _ => return None,
    })
}

/// Lines that say nothing of a turn, or say again what others said: the messages of the context, and all events (`agent.`).
fn is_known(kind: &str) -> bool {
    const KNOWN: [&str; 15] = [
        "agent.",
        "context.",
        "forked",
        "goal.",
        "interaction.",
        "llm.",
        "metadata",
        "permission.",
        "plugin.",
        "profile.",
        "prompt.",
        "runtime.",
        "subagent.",
        "token_counting.",
        "turn.",
    ];
    KNOWN.iter().any(|known| kind.starts_with(known))
}

/// What stands for the id of a line that has none. A copy in a fork has the same.
fn at_of_agent(line: &Value) -> Value {
    format!("{} {}", line["time"], line["agentId"].as_str().unwrap_or_default()).into()
}

/// A prompt of the user, or what the program gave to a subagent or to itself.
fn begun(line: &Value, at: &Value) -> Value {
    let words = joined(&line["input"]);
    let mut begun = prompt(&line["promptId"], at, if words.is_empty() { "[image]" } else { &words });
    if line["origin"]["kind"] != "user" {
        begun["origin"] = json!({ "kind": "peer" });
    }
    begun
}

/// A part of a step of the model.
fn step(event: &Value, at: &Value) -> Option<Value> {
    let call = &event["toolCallId"];
    Some(match text(event, "type")? {
        "content.part" => {
            let part = &event["part"];
            said(
                at,
                match text(part, "type")? {
                    "text" => json!({ "type": "text", "text": part["text"] }),
                    "think" => json!({ "type": "thinking", "thinking": part["think"] }),
                    _ => return None,
                },
            )
        }
        "tool.call" => {
            let (tool, input) = in_our_words(text(event, "name").unwrap_or_default(), &event["args"], WORDS);
            said(at, json!({ "type": "tool_use", "id": call, "name": tool, "input": input }))
        }
        "tool.result" => {
            let told = &event["result"];
            result(at, call, &joined(&told["output"]), told["isError"] == true)
        }
        _ => return None,
    })
}

/// A dialog for permission. The call itself is written after the answer.
fn asked(line: &Value, at: &Value) -> Value {
    let request = &line["request"];
    let (tool, _) = in_our_words(text(request, "toolName").unwrap_or_default(), &Value::Null, WORDS);
    let display = &request["display"];
    let target = ["command", "path", "file_path"].iter().find_map(|name| text(display, name));
    let target = target.or_else(|| text(request, "action")).unwrap_or_default();
    permission(at, &line["id"], (&tool, target), true)
}
