//! Requests of an ACP agent to the user, and the answers in the protocol's form.
//!
//! Source: `session/request_permission` of the protocol, version 1, and of Gemini CLI 0.61.0.

use std::sync::Arc;

use serde_json::{Value, json};
use watchbill_core::requests::decision::Decision;
use watchbill_core::requests::request::{Request, SuggestedRule};
use watchbill_core::requests::visible::visible;

use crate::driver::Refusal;
use crate::fold::json::{list, text, texts};
use crate::fold::requests::RequestContext;

/// The data of a request that its answer needs.
#[derive(Debug)]
pub(super) struct AnswerForm {
    /// The id of the call.
    pub(super) call: Value,
    /// The options: what they do, and their ids.
    options: Vec<(String, String)>,
}

impl AnswerForm {
    fn option(&self, kind: &str) -> Option<Value> {
        let (_, id) = self.options.iter().find(|(does, _)| does == kind)?;
        Some(json!({ "outcome": { "outcome": "selected", "optionId": id } }))
    }
}

/// The answer to a request whose turn is cancelled.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// Reads a call that asks for permission.
pub(super) fn read(call: &Value, params: &Value, around: &RequestContext<'_>) -> (Request, AnswerForm) {
    let tool_call = params.get("toolCall").unwrap_or(&Value::Null);
    let options = list(params, "options")
        .filter_map(|option| Some((text(option, "kind")?.to_owned(), text(option, "optionId")?.to_owned())));
    let way = AnswerForm { call: call.clone(), options: options.collect() };
    let input = input(tool_call);
    // The agent counts its calls anew in each process.
    let id = format!("{}-{call}", text(tool_call, "toolCallId").unwrap_or(around.session));
    let mut request = around.asking(&id, text(tool_call, "kind").unwrap_or("tool"), &input).request();
    let always = list(params, "options").find(|option| text(option, "kind") == Some("allow_always"));
    request.always = always
        .and_then(|option| text(option, "name"))
        .map(|name| SuggestedRule { rule: visible(name).into(), place: Arc::from("the agent decides where") })
        .into_iter()
        .collect();
    (request, way)
}

/// The input of a call. Gemini gives none: the title of a command is the command.
fn input(tool_call: &Value) -> Value {
    if let Some(raw) = tool_call.get("rawInput").filter(|raw| raw.is_object()) {
        return raw.clone();
    }
    let about: Vec<_> = list(tool_call, "content").map(texts_of).filter(|text| !text.is_empty()).collect();
    let title = text(tool_call, "title").unwrap_or_default();
    if text(tool_call, "kind") == Some("execute") {
        return json!({ "command": title, "description": about.join("\n") });
    }
    json!({ "title": title, "content": tool_call.get("content"), "locations": tool_call.get("locations") })
}

fn texts_of(part: &Value) -> String {
    let content = part.get("content").unwrap_or(&Value::Null);
    text(content, "text").map_or_else(|| texts(content), str::to_owned)
}

/// The result of the call.
///
/// # Errors
/// When the agent offers no such option.
pub(super) fn answer(decision: &Decision, way: &AnswerForm) -> Result<Value, Refusal> {
    let missing = |what: &str| Refusal::Unsupported(format!("the agent offers no way to {what}"));
    match decision {
        Decision::Allow => way.option("allow_once").ok_or_else(|| missing("allow this once")),
        Decision::AllowAlways => way.option("allow_always").ok_or_else(|| missing("allow this always")),
        Decision::Deny(_) => {
            way.option("reject_once").ok_or_else(|| missing("deny this once: deny it and stop"))
        }
        Decision::DenyAndStop => Ok(cancelled()),
        Decision::Choose(_) => Err(missing("answer with a choice")),
    }
}
