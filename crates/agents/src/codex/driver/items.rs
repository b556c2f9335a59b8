//! The items of a turn, and how a turn fails.
//!
//! Source: `ThreadItem` and `CodexErrorInfo` in the schema of 0.169.0.

use serde_json::{Value, json};
use watchbill_protocol::own::event::OwnWhat;

use crate::fold::blocks::Blocks;
use crate::fold::failure::failure;
use crate::fold::json::{list, owned, target, text, texts};

/// Items that are texts or that the user wrote: they are no use of a tool.
const NO_TOOLS: [&str; 5] = ["userMessage", "hookPrompt", "agentMessage", "plan", "reasoning"];

/// An item began.
pub(super) fn started(item: &Value) -> Option<OwnWhat> {
    let kind = text(item, "type").filter(|kind| !NO_TOOLS.contains(kind))?;
    if kind == "contextCompaction" {
        return Some(OwnWhat::Compaction { done: false, trigger: None, before: None });
    }
    let (tool, input) = match kind {
        "commandExecution" => {
            (kind.to_owned(), json!({ "command": item.get("command"), "cwd": item.get("cwd") }))
        }
        "fileChange" => (kind.to_owned(), json!({ "changes": item.get("changes") })),
        "mcpToolCall" => {
            let name = [text(item, "server"), text(item, "tool")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(".");
            (name, item.get("arguments").cloned().unwrap_or_default())
        }
        _ => {
            let mut input = item.clone();
            if let Some(fields) = input.as_object_mut() {
                fields.retain(|name, _| {
                    !matches!(name.as_str(), "id" | "type" | "status" | "startedAtMs" | "completedAtMs")
                });
            }
            (kind.to_owned(), input)
        }
    };
    let files: Vec<_> = list(item, "changes").filter_map(|change| text(change, "path")).collect();
    let target = if files.is_empty() { target(&input) } else { files.join(", ") };
    Some(OwnWhat::ToolUse { id: owned(item, "id")?, tool, input, target, parent: None })
}

/// An item ended.
pub(super) fn completed(item: &Value, blocks: &mut Blocks, events: &mut Vec<OwnWhat>) {
    let Some(id) = text(item, "id") else { return };
    match text(item, "type").unwrap_or_default() {
        "userMessage" | "hookPrompt" => {}
        "agentMessage" | "plan" => {
            events.extend(blocks.whole(id, false, text(item, "text").unwrap_or_default(), None));
        }
        "reasoning" => {
            let parts: Vec<_> =
                list(item, "summary").chain(list(item, "content")).filter_map(Value::as_str).collect();
            events.extend(blocks.whole(id, true, &parts.join("\n\n"), None));
        }
        "contextCompaction" => events.push(OwnWhat::Compaction { done: true, trigger: None, before: None }),
        "" => {}
        _ => {
            let exit = item.get("exitCode").and_then(Value::as_i64);
            let failed = matches!(text(item, "status"), Some("failed" | "declined"))
                || exit.is_some_and(|code| code != 0);
            events.push(OwnWhat::ToolResult { id: id.to_owned(), text: output(item), failed });
        }
    }
}

fn output(item: &Value) -> String {
    if let Some(output) = text(item, "aggregatedOutput") {
        return output.to_owned();
    }
    let content = item.get("result").and_then(|result| result.get("content")).map(texts);
    let error = || item.get("error").and_then(|error| owned(error, "message"));
    let status = || owned(item, "status").filter(|status| status != "completed");
    content.or_else(error).or_else(status).unwrap_or_default()
}

/// The agent tries again. The text counts the tries: `Reconnecting... 1/5`.
pub(super) fn retry(error: &Value) -> OwnWhat {
    let said = text(error, "message").unwrap_or("the connection broke");
    let count = said.split(' ').find_map(|word| {
        let (attempt, of) = word.split_once('/')?;
        Some((attempt.parse::<u32>().ok()?, of.parse::<u32>().ok()?))
    });
    let cause = text(error, "additionalDetails").unwrap_or(said).to_owned();
    OwnWhat::Retry {
        attempt: count.map_or(1, |(attempt, _)| attempt),
        of: count.map(|(_, of)| of),
        wait_ms: None,
        cause,
    }
}

/// The reason of `TurnEnd`, and what the user should read.
pub(super) fn turn_failure(error: &Value) -> (&'static str, OwnWhat) {
    let said = text(error, "message").unwrap_or("Codex ended the turn with an error and gave no reason.");
    let (reason, cause) = match text(error, "codexErrorInfo") {
        Some("usageLimitExceeded" | "rateLimitExceeded") => ("limit", "limit"),
        Some("unauthorized") => ("login", "login"),
        _ => ("error", "api"),
    };
    (reason, failure(cause, said))
}
