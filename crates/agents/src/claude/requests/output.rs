//! A decision as the hook process prints it.
//!
//! Source of the words: `hookSpecificOutput` of the `PermissionRequest` hook as client 2.1.329 takes it. Questions and plans
//! count only with `updatedInput`. Codex 0.169.0 takes the same words, but drops a decision with `updatedInput`,
//! `updatedPermissions` or `interrupt`.

use serde_json::{Map, Value, json};
use watchbill_core::ids::Agent;
use watchbill_core::requests::decision::{Decision, Mismatch, answers};
use watchbill_core::requests::request::{Request, RequestKind};

use crate::hook_traits;

/// The text that decides a request.
///
/// # Errors
/// When the decision does not fit the request, or the agent's hook cannot take it.
pub fn hook_output(agent: Agent, decision: &Decision, request: &Request) -> Result<String, Mismatch> {
    let hooks = hook_traits(agent);
    let is_taken = match decision {
        Decision::Allow | Decision::Deny(_) => true,
        Decision::Choose(_) => hooks.takes_choices,
        Decision::AllowAlways | Decision::DenyAndStop => hooks.takes_rules,
    };
    if !is_taken {
        return Err(Mismatch::OnlyOnce);
    }
    let decision = decision_in_words_of_client(decision, request)?;
    let output =
        json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } });
    Ok(output.to_string())
}

/// The decision as the agent takes it, in the output of a hook and in a `control_response`.
///
/// # Errors
/// When the decision does not fit the request.
pub fn decision_in_words_of_client(decision: &Decision, request: &Request) -> Result<Value, Mismatch> {
    decision.check(request)?;
    let denied = |reason: &str| json!({ "behavior": "deny", "message": reason });
    // Both were JSON when the request was read.
    let parsed = |json: &str| serde_json::from_str::<Value>(json).unwrap_or(Value::Null);
    Ok(match (decision, &request.kind) {
        (Decision::Deny(reason), _) if reason.trim().is_empty() => denied("The user denied this request."),
        (Decision::Deny(reason), _) => denied(reason),
        (Decision::DenyAndStop, _) => {
            json!({ "behavior": "deny", "message": "The user stopped the turn.", "interrupt": true })
        }
        (Decision::Choose(chosen), RequestKind::Questions(questions)) => {
            let mut input = parsed(&request.input);
            let fields = input.as_object_mut().ok_or(Mismatch::Unknown)?;
            let answers = answers(questions, chosen)?.into_iter();
            let answers: Map<String, Value> =
                answers.map(|(question, answer)| (question.into(), answer.into())).collect();
            fields.insert("answers".to_owned(), Value::Object(answers));
            json!({ "behavior": "allow", "updatedInput": input })
        }
        (_, RequestKind::Plan(_)) => {
            let mode = if *decision == Decision::AllowAlways { "acceptEdits" } else { "default" };
            json!({
                "behavior": "allow",
                "updatedInput": parsed(&request.input),
                "updatedPermissions": [{ "type": "setMode", "mode": mode, "destination": "session" }],
            })
        }
        (Decision::AllowAlways, _) => {
            json!({ "behavior": "allow", "updatedPermissions": parsed(&request.suggestions) })
        }
        _ => json!({ "behavior": "allow" }),
    })
}

#[cfg(test)]
mod tests;
