//! Requests of Claude Code to the user, and the answers in the stream's form.
//!
//! Source: `can_use_tool` and `elicitation` of clients 2.1.329 and 2.1.332.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use watchbill_core::requests::decision::Decision;
use watchbill_core::requests::request::Request;
use watchbill_core::requests::visible::{visible, visible_line};

use crate::claude::requests::{Asking, decision_in_words_of_client, skill_of};
use crate::driver::Refusal;
use crate::fold::form::{self, Field};
use crate::fold::json::text;
use crate::fold::requests::RequestContext;

/// The data of a request that its answer needs.
#[derive(Debug)]
pub(super) enum AnswerForm {
    /// A permission, questions or a plan.
    Tool,
    /// The form of a tool server, with its fields.
    Form(Vec<Field>),
}

/// Reads a call of the agent. `subagents`: their types, by their ids; the line has no type. `None` for a call that this program does not know.
pub(super) fn read(
    id: &str,
    call: &Value,
    subagents: &BTreeMap<String, String>,
    around: &RequestContext<'_>,
) -> Option<(Request, AnswerForm)> {
    let subagent_id = text(call, "agent_id");
    let subagent = subagent_id.map(|id| subagents.get(id).map_or("subagent", String::as_str));
    let asking = |tool, input, suggestions| Asking {
        subagent,
        subagent_id,
        suggestions,
        ..around.asking(id, tool, input)
    };
    match text(call, "subtype")? {
        "can_use_tool" => {
            let suggestions = call.get("permission_suggestions").unwrap_or(&Value::Null);
            let input = call.get("input").unwrap_or(&Value::Null);
            let asking = asking(text(call, "tool_name")?, input, suggestions);
            Some((Asking { skill: skill_of(call), ..asking }.request(), AnswerForm::Tool))
        }
        "elicitation" => {
            let server = text(call, "mcp_server_name").unwrap_or("a tool server");
            let message = text(call, "message").unwrap_or_default();
            let (kind, fields) =
                form::questions(message, call.get("requested_schema").unwrap_or(&Value::Null));
            let mut request = asking(server, call, &Value::Null).request();
            request.kind = kind;
            request.shown = visible(message).into();
            request.summary = visible_line(&format!("{server} asks: {message}"), 200).into();
            Some((request, AnswerForm::Form(fields)))
        }
        _ => None,
    }
}

/// The body of the answer.
///
/// # Errors
/// When the decision does not fit the request.
pub(super) fn answer(decision: &Decision, request: &Request, way: &AnswerForm) -> Result<Value, Refusal> {
    match way {
        AnswerForm::Form(fields) => form::answer(decision, &request.kind, fields),
        AnswerForm::Tool => {
            let words = decision_in_words_of_client(decision, request);
            let mut words = words.map_err(|mismatch| Refusal::Unsupported(mismatch.to_string()))?;
            // Tools that need the user run only with their input.
            if words["behavior"] == "allow" && words.get("updatedInput").is_none() {
                words["updatedInput"] = serde_json::from_str(&request.input).unwrap_or_else(|_| json!({}));
            }
            Ok(words)
        }
    }
}
