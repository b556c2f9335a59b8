//! Requests of Codex to the user, and the answers in its form.
//!
//! Source: the schema that `codex app-server generate-json-schema` of 0.169.0 writes.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use watchbill_core::requests::decision::{Decision, answers};
use watchbill_core::requests::request::{Choice, Question, Request, RequestKind, SuggestedRule};
use watchbill_core::requests::visible::{visible, visible_line};

use crate::driver::Refusal;
use crate::fold::form::{self, Field};
use crate::fold::json::{list, text};
use crate::fold::requests::RequestContext;

/// The longest summary, in characters.
const SUMMARY: usize = 200;

/// The data of a request that its answer needs.
#[derive(Debug)]
pub(super) struct AnswerForm {
    /// The id of the call.
    pub(super) call: Value,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A command or a change of files.
    Approval,
    /// The permissions that are asked for.
    Permissions(Value),
    /// The ids of the questions.
    Questions(Vec<String>),
    /// The form of a tool server.
    Form(Vec<Field>),
}

impl AnswerForm {
    /// The agent ends the turn itself when this is denied with a stop.
    pub(super) fn ends_the_turn(&self) -> bool {
        matches!(self.kind, Kind::Approval)
    }
}

/// Reads a call. `item` is what the call is about. `None` for a call that this program does not know.
pub(super) fn read(
    call: &Value,
    method: &str,
    params: &Value,
    item: Option<&Value>,
    around: &RequestContext<'_>,
) -> Option<(Request, AnswerForm)> {
    let (tool, input, kind) = match method {
        "item/commandExecution/requestApproval" => {
            ("commandExecution", command(params, around.cwd), Kind::Approval)
        }
        "item/fileChange/requestApproval" => {
            let changes = item.and_then(|item| item.get("changes")).unwrap_or(&Value::Null);
            let input = json!({ "changes": changes, "reason": params.get("reason"), "grantRoot": params.get("grantRoot") });
            ("fileChange", input, Kind::Approval)
        }
        "item/permissions/requestApproval" => {
            let wanted = params.get("permissions").cloned().unwrap_or_default();
            let input =
                json!({ "permissions": wanted, "reason": params.get("reason"), "cwd": params.get("cwd") });
            ("permissions", input, Kind::Permissions(wanted))
        }
        "item/tool/requestUserInput" => {
            let ids = list(params, "questions").filter_map(|question| text(question, "id"));
            let kind = Kind::Questions(ids.map(str::to_owned).collect());
            ("requestUserInput", params.clone(), kind)
        }
        "mcpServer/elicitation/request" => {
            (text(params, "serverName").unwrap_or("a tool server"), params.clone(), Kind::Form(Vec::new()))
        }
        _ => return None,
    };
    // Codex counts its calls anew in each process.
    let turn = text(params, "turnId").unwrap_or(around.session);
    let id = format!("{turn}-{call}");
    let mut request = around.asking(&id, tool, &input).request();
    let kind = fill(&mut request, params, kind);
    // The card shows no changes, so the user cannot allow them.
    if method == "item/fileChange/requestApproval" && input["changes"].as_array().is_none_or(Vec::is_empty) {
        request.kind = RequestKind::Unknown;
    }
    Some((request, AnswerForm { call: call.clone(), kind }))
}

/// The command, and what else matters: then the whole input is shown.
fn command(params: &Value, cwd: &str) -> Value {
    let mut input = Map::new();
    let mut take = |name: &str, to: &str| {
        if let Some(value) = params.get(name).filter(|value| !value.is_null()) {
            input.insert(to.to_owned(), value.clone());
        }
    };
    take("command", "command");
    take("reason", "description");
    take("networkApprovalContext", "network");
    if text(params, "cwd").is_some_and(|folder| folder != cwd) {
        take("cwd", "cwd");
    }
    Value::Object(input)
}

/// The kind of request, and what "allow always" would do.
fn fill(request: &mut Request, params: &Value, kind: Kind) -> Kind {
    let standing =
        |rule: &str| vec![SuggestedRule { rule: visible(rule).into(), place: "this session".into() }];
    match kind {
        Kind::Approval => {
            let command = text(params, "command");
            request.always = standing(command.unwrap_or("changes of the same files"));
            Kind::Approval
        }
        Kind::Permissions(wanted) => {
            request.always = standing("the same permissions");
            Kind::Permissions(wanted)
        }
        Kind::Questions(ids) => {
            let questions: Option<Vec<_>> = list(params, "questions").map(question).collect();
            request.kind = match questions {
                Some(questions) if !questions.is_empty() && questions.len() == ids.len() => {
                    request.summary = visible_line(&format!("asks: {}", questions[0].text), SUMMARY).into();
                    RequestKind::Questions(questions)
                }
                _ => RequestKind::Unknown,
            };
            Kind::Questions(ids)
        }
        Kind::Form(_) => {
            let message = text(params, "message").unwrap_or_default();
            let (kind, fields) =
                form::questions(message, params.get("requestedSchema").unwrap_or(&Value::Null));
            request.kind = kind;
            request.summary = visible_line(&format!("{} asks: {message}", request.tool), SUMMARY).into();
            Kind::Form(fields)
        }
    }
}

fn question(value: &Value) -> Option<Question> {
    let option = |option: &Value| {
        let label = text(option, "label")?.into();
        Some(Choice { label, description: text(option, "description").map(Arc::from) })
    };
    Some(Question {
        text: text(value, "question")?.into(),
        header: text(value, "header").map(Arc::from),
        options: list(value, "options").map(option).collect::<Option<_>>()?,
        several: false,
    })
}

/// The result of the call.
///
/// # Errors
/// When the decision does not fit.
pub(super) fn answer(decision: &Decision, request: &Request, way: &AnswerForm) -> Result<Value, Refusal> {
    match &way.kind {
        Kind::Approval => {
            let word = match decision {
                Decision::AllowAlways => "acceptForSession",
                Decision::Deny(_) => "decline",
                Decision::DenyAndStop => "cancel",
                Decision::Allow | Decision::Choose(_) => "accept",
            };
            Ok(json!({ "decision": word }))
        }
        Kind::Permissions(wanted) => Ok(match decision {
            Decision::AllowAlways => json!({ "permissions": wanted, "scope": "session" }),
            Decision::Allow => json!({ "permissions": wanted, "scope": "turn" }),
            _ => json!({ "permissions": {}, "scope": "turn" }),
        }),
        Kind::Questions(ids) => {
            let mut given = Map::new();
            if let (Decision::Choose(chosen), RequestKind::Questions(questions)) = (decision, &request.kind) {
                let texts = answers(questions, chosen);
                let texts = texts.map_err(|mismatch| Refusal::Unsupported(mismatch.to_string()))?;
                for (id, (_, text)) in ids.iter().zip(texts) {
                    given.insert(id.clone(), json!({ "answers": [text] }));
                }
            }
            Ok(json!({ "answers": given }))
        }
        Kind::Form(fields) => form::answer(decision, &request.kind, fields),
    }
}
