//! Translates events of a session. They say when a dialog is open, so no call is guessed to ask. Evidence: clients 1.0.10 to
//! 1.0.102.

use serde_json::{Value, json};
use watchbill_core::transcript::report::LineReport;

use crate::fold::json::{list, number, text};
use crate::traits::RecordSink;
use crate::translated::{
    self, Word, compaction, ended, failed, in_our_words, interrupted, permission, prompt, result, said,
};

/// Reads one line, without its newline. Never fails: records and their payloads go to `sink`, problems into the report.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Copilot's own tools and their fields.
const WORDS: &[Word] = &[
    ("bash", "Bash", &[]),
    ("shell", "Bash", &[]),
    ("powershell", "PowerShell", &[]),
    ("view", "Read", FILE),
    ("create", "Write", FILE),
    ("edit", "Edit", FILE),
    ("str_replace", "Edit", FILE),
    ("str_replace_editor", "Edit", FILE),
    ("grep", "Grep", &[]),
    ("glob", "Glob", &[]),
    ("web_fetch", "WebFetch", &[]),
    ("web_search", "WebSearch", &[]),
    ("task", "Task", &[]),
    ("update_todo", "TodoWrite", &[]),
    ("exit_plan_mode", "ExitPlanMode", &[]),
];
const FILE: &[(&str, &str)] = &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];

fn translate(event: &Value) -> Option<Vec<Value>> {
    let (data, at) = (&event["data"], &event["timestamp"]);
    let mut lines = match text(event, "type")? {
        "session.start" | "session.resume" | "session.context_changed" => place(data, at),
        "user.message" if is_typed(data) => {
            vec![prompt(&event["id"], at, text(data, "content").unwrap_or_default())]
        }
        "assistant.turn_start" => vec![translated::message("assistant", at, json!([]))],
        "assistant.message" => answer(data, at),
        "session.usage_record" => vec![usage(event)],
        "tool.execution_start" => vec![call(data, at)],
        "tool.execution_complete" => {
            let output = text(&data["result"], "content").or_else(|| text(&data["error"], "message"));
            vec![result(at, &data["toolCallId"], output.unwrap_or_default(), data["success"] == false)]
        }
        "permission.requested" => {
            vec![permission(at, &data["requestId"], asked(&data["permissionRequest"]), true)]
        }
        "permission.completed" => vec![permission(at, &data["requestId"], ("", ""), false)],
        // A session that goes on by itself says when it is done.
        "session.task_complete" => {
            let summary =
                text(data, "summary").map(|words| said(at, json!({ "type": "text", "text": words })));
            summary.into_iter().chain([ended(at)]).collect()
        }
        "abort" => vec![interrupted(at)],
        "session.error" => {
            let words = text(data, "message").unwrap_or("the request failed");
            vec![failed(at, text(data, "errorType").unwrap_or_default(), words)]
        }
        "session.compaction_start" => vec![compaction(at, true)],
        "session.compaction_complete" => compaction_over(data, at),
        "external_tool.requested" if data["toolName"] == "rename_session" => {
            vec![
                json!({ "type": "custom-title", "customTitle": data["arguments"]["title"], "timestamp": at }),
            ]
        }
        kind if is_known(kind) => Vec::new(),
        _ => return None,
    };
    // What a subagent does stands in the file of its session. What it asks concerns the user.
    if event["agentId"].is_string() {
        lines
            .iter_mut()
            .filter(|line| line["type"] != "permission")
            .for_each(|line| line["isSidechain"] = true.into());
    }
    Some(lines)
}

/// The end of a compaction. One that failed cuts nothing.
fn compaction_over(data: &Value, at: &Value) -> Vec<Value> {
    let mut lines = Vec::new();
    if data["success"] != false {
        lines.push(json!({ "type": "system", "subtype": "compact_boundary", "timestamp": at }));
        if let Some(words) = text(data, "summaryContent").or_else(|| text(data, "summary")) {
            let mut summary = translated::message("user", at, words.into());
            summary["isCompactSummary"] = true.into();
            lines.push(summary);
        }
    }
    lines.push(compaction(at, false));
    lines
}

/// Events that say nothing of a turn: those of hooks, of the program, of subagents, and the instructions.
fn is_known(kind: &str) -> bool {
    const KNOWN: [&str; 31] = [
        "abort",
        "assistant.idle",
        "assistant.intent",
        "assistant.turn_end",
        "external_tool.completed",
        "external_tool.requested",
        "hook.end",
        "hook.start",
        "human_response.recorded",
        "session.handoff",
        "session.info",
        "session.mode_changed",
        "session.model_change",
        "session.permissions_changed",
        "session.plan_changed",
        "session.shutdown",
        "session.snapshot_rewind",
        "session.title_changed",
        "session.truncation",
        "session.usage_checkpoint",
        "session.warning",
        "skill.invoked",
        "subagent.completed",
        "subagent.configured",
        "subagent.failed",
        "subagent.selected",
        "subagent.started",
        "system.message",
        "system.notification",
        "tool.user_requested",
        "user.message",
    ];
    // What the client notes of its own requests, for a compaction.
    KNOWN.contains(&kind) || kind.starts_with("model.")
}

/// Messages of other agents and of the program begin no turn of a person.
fn is_typed(message: &Value) -> bool {
    let from_agent = text(message, "source").is_some_and(|source| source.starts_with("agent-"));
    !from_agent
        && !text(message, "content")
            .is_some_and(|words| words.trim_start().starts_with("<system_notification>"))
}

fn place(data: &Value, at: &Value) -> Vec<Value> {
    let around = if data["context"].is_object() { &data["context"] } else { data };
    let mut line = json!({ "type": "system", "subtype": "session", "timestamp": at });
    for (name, value) in
        [("cwd", &around["cwd"]), ("gitBranch", &around["branch"]), ("version", &data["copilotVersion"])]
    {
        if value.is_string() {
            line[name] = value.clone();
        }
    }
    vec![line]
}

/// Texts of an answer. One that asks for no tool ends the turn.
fn answer(data: &Value, at: &Value) -> Vec<Value> {
    let texts = [("reasoningText", "thinking"), ("content", "text")];
    let told = texts.iter().filter_map(|(field, kind)| {
        let words = text(data, field).filter(|words| !words.trim().is_empty())?;
        let mut line = said(at, json!({ "type": kind, *kind: words }));
        line["message"]["id"] = data["messageId"].clone();
        line["message"]["model"] = data["model"].clone();
        Some(line)
    });
    let mut lines: Vec<Value> = told.collect();
    if list(data, "toolRequests").next().is_none() {
        lines.push(ended(at));
    }
    lines
}

/// The tokens of one request. The cached ones are a part of the input.
fn usage(event: &Value) -> Value {
    let usage = &event["data"]["usage"];
    let count = |name: &str| number(usage, name).unwrap_or(0);
    let cached = count("cacheReadTokens");
    let input = count("inputTokens").saturating_sub(cached);
    let tokens = [input, count("outputTokens"), cached, count("cacheWriteTokens")];
    translated::counted(&event["timestamp"], &event["id"], &usage["model"], tokens)
}

fn call(data: &Value, at: &Value) -> Value {
    let input = &data["arguments"];
    let (name, input) = match text(data, "toolName").unwrap_or_default() {
        "ask_user" => {
            let question = json!({ "question": input["message"].as_str().or(input["question"].as_str()) });
            ("AskUserQuestion".to_owned(), json!({ "questions": [question] }))
        }
        name => in_our_words(name, input, WORDS),
    };
    said(at, json!({ "type": "tool_use", "id": data["toolCallId"], "name": name, "input": input }))
}

/// The tool of a request, and what it acts on.
fn asked(request: &Value) -> (&str, &str) {
    let kind = match text(request, "kind").unwrap_or_default() {
        "shell" => "Bash",
        "read" => "Read",
        "write" => "Write",
        "url" => "WebFetch",
        other => text(request, "toolName").unwrap_or(other),
    };
    let about = ["fullCommandText", "path", "fileName", "url", "toolTitle", "intention"];
    (kind, about.iter().find_map(|name| text(request, name)).unwrap_or_default())
}
