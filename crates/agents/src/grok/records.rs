//! Translates updates and events of a session. The events say when a dialog is open. Evidence: client 1.0.41.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, text};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, counted, ended, failed, in_our_words, interrupted, message, permission, prompt, result, said,
    time,
};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Grok's own tools and their fields.
const WORDS: &[Word] = &[
    ("run_terminal_command", "Bash", &[]),
    ("read_file", "Read", FILE),
    ("write_file", "Write", FILE),
    ("search_replace", "Edit", FILE),
    ("grep", "Grep", &[]),
    ("list_dir", "LS", FILE),
    ("web_search", "WebSearch", &[]),
    ("spawn_subagent", "Task", &[]),
    ("ask_user_question", "AskUserQuestion", &[]),
];
const FILE: &[(&str, &str)] = &[("path", "file_path"), ("target_file", "file_path")];

fn translate(line: &Value) -> Option<Vec<Value>> {
    match text(line, "type") {
        Some(kind) => event(kind, line),
        None => Some(update(line["params"].as_object().map(|_| &line["params"])?)),
    }
}

/// A line of `events.jsonl`. The conversation is in the updates.
fn event(kind: &str, line: &Value) -> Option<Vec<Value>> {
    let at = &line["ts"];
    let asked = |waits| {
        let (tool, _) = in_our_words(text(line, "tool_name").unwrap_or_default(), &Value::Null, WORDS);
        vec![permission(at, &line["tool_name"], (&tool, ""), waits)]
    };
    Some(match kind {
        "permission_requested" => asked(true),
        "permission_resolved" => asked(false),
        "turn_ended" => vec![ended(at)],
        "turn_started" | "loop_started" | "phase_changed" | "first_token" | "tool_started"
        | "tool_completed" | "yolo_toggled" => Vec::new(),
        _ => return None,
    })
}

/// A line of `updates.jsonl`. A client of this protocol passes over updates that it does not know.
fn update(params: &Value) -> Vec<Value> {
    let (update, meta) = (&params["update"], &params["_meta"]);
    let at = &time(&meta["agentTimestampMs"]);
    let words = || text(&update["content"], "text").unwrap_or_default();
    let call = &update["toolCallId"];
    match text(update, "sessionUpdate").unwrap_or_default() {
        "user_message_chunk" => begun(update, words(), &meta["eventId"], at),
        "agent_message_chunk" => vec![said(at, json!({ "type": "text", "text": words() }))],
        "agent_thought_chunk" => vec![said(at, json!({ "type": "thinking", "thinking": words() }))],
        "tool_call" => {
            let name = text(&update["_meta"]["x.ai/tool"], "name").or_else(|| text(update, "title"));
            let (tool, input) = in_our_words(name.unwrap_or_default(), &update["rawInput"], WORDS);
            vec![said(at, json!({ "type": "tool_use", "id": call, "name": tool, "input": input }))]
        }
        "tool_call_update" => match text(update, "status") {
            Some(status @ ("completed" | "failed")) => {
                let texts = list(update, "content").filter_map(|block| text(&block["content"], "text"));
                let told = texts.collect::<Vec<_>>().join("\n");
                let mut line = result(at, call, &told, status == "failed");
                line["cwd"] = update["rawOutput"]["current_dir"].clone();
                vec![line]
            }
            _ => Vec::new(),
        },
        "retry_state" if update["type"] == "retrying" => vec![json!({
            "type": "system", "subtype": "api_error", "timestamp": at,
            "retryAttempt": update["attempt"], "maxRetries": update["max_retries"],
        })],
        "turn_completed" => over(update, &meta["eventId"], at),
        _ => Vec::new(),
    }
}

/// A prompt of the user, or what the program gave to itself.
fn begun(update: &Value, words: &str, id: &Value, at: &Value) -> Vec<Value> {
    let mut begun = prompt(id, at, if words.is_empty() { "[image]" } else { words });
    if update["_meta"]["hideFromScrollback"] == true || words.starts_with("<system-reminder>") {
        begun["origin"] = json!({ "kind": "peer" });
    }
    let mut model = message("assistant", at, json!([]));
    model["message"]["model"] = update["_meta"]["modelId"].clone();
    vec![begun, model]
}

/// The end of a turn, with the tokens of all its requests. So they do not say how full the context is.
fn over(update: &Value, id: &Value, at: &Value) -> Vec<Value> {
    let usage = &update["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let cached = count("cachedReadTokens");
    let tokens = [
        count("inputTokens").saturating_sub(cached),
        count("outputTokens"),
        cached,
        count("cacheCreationTokens"),
    ];
    let model = usage["modelUsage"].as_object().and_then(|models| models.keys().next());
    let tokens = usage.is_object().then(|| {
        let mut line = counted(at, id, &json!(model), tokens);
        line["isSidechain"] = true.into();
        line
    });
    let end = match text(update, "stop_reason") {
        Some("cancelled" | "interrupted") => interrupted(at),
        Some("error") => failed(at, "error", text(update, "agent_result").unwrap_or("The turn failed.")),
        _ => ended(at),
    };
    tokens.into_iter().chain([end]).collect()
}
