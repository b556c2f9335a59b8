//! Each decision in the agent's words, and each that does not fit.

#![allow(clippy::unwrap_used, reason = "a request of the test that cannot be read is a failure")]

use super::*;
use watchbill_core::requests::decision::Chosen;
use watchbill_core::requests::request::RequestId;
use watchbill_core::time::Timestamp;

use crate::claude::requests::read_request;

fn request(tool: &str, input: Value, suggestions: Value) -> Request {
    let payload = json!({ "session_id": "s", "hook_event_name": "PermissionRequest", "cwd": "/w", "tool_name": tool,
        "tool_input": input, "permission_suggestions": suggestions });
    read_request(RequestId::new("r"), payload.to_string().as_bytes(), None, Timestamp::from_millis(0))
        .unwrap()
}

fn decided(decision: &Decision, request: &Request) -> Result<Value, Mismatch> {
    let output: Value = serde_json::from_str(&hook_output(Agent::Claude, decision, request)?).unwrap();
    assert_eq!(output["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
    Ok(output["hookSpecificOutput"]["decision"].clone())
}

fn bash() -> Request {
    request(
        "Bash",
        json!({ "command": "ls" }),
        json!([
        { "type": "addRules", "behavior": "allow", "destination": "session", "rules": [{ "toolName": "Bash" }] }]),
    )
}

fn colours() -> Request {
    let options = json!([{ "label": "Red" }, { "label": "Blue" }]);
    request(
        "AskUserQuestion",
        json!({ "questions": [
        { "question": "One?", "options": options }, { "question": "Many?", "options": options, "multiSelect": true }] }),
        Value::Null,
    )
}

#[test]
fn a_permission_is_allowed_denied_or_stopped() {
    assert_eq!(decided(&Decision::Allow, &bash()), Ok(json!({ "behavior": "allow" })));
    assert_eq!(
        decided(&Decision::AllowAlways, &bash()).unwrap()["updatedPermissions"],
        serde_json::from_str::<Value>(&bash().suggestions).unwrap()
    );
    assert_eq!(
        decided(&Decision::Deny("no".into()), &bash()),
        Ok(json!({ "behavior": "deny", "message": "no" }))
    );
    assert_eq!(decided(&Decision::DenyAndStop, &bash()).unwrap()["interrupt"], true);
    assert_eq!(decided(&Decision::Choose(Vec::new()), &bash()), Err(Mismatch::NoQuestion));
    let plain = request("Bash", json!({ "command": "ls" }), Value::Null);
    assert_eq!(decided(&Decision::AllowAlways, &plain), Err(Mismatch::NoRule));
}

#[test]
fn a_question_is_never_allowed() {
    for decision in [Decision::Allow, Decision::AllowAlways] {
        assert_eq!(decided(&decision, &colours()), Err(Mismatch::WantsChoice));
    }
    let chosen = vec![Chosen::Text("Green".into()), Chosen::Options(vec![0, 1])];
    let input = decided(&Decision::Choose(chosen), &colours()).unwrap()["updatedInput"].clone();
    assert_eq!(input["answers"], json!({ "One?": "Green", "Many?": "Red, Blue" }));
    assert_eq!(
        input["questions"],
        serde_json::from_str::<Value>(&colours().input).unwrap()["questions"],
        "the rest of the input stays"
    );
}

#[test]
fn choices_have_to_fit_their_questions() {
    let first = |chosen| decided(&Decision::Choose(vec![chosen, Chosen::Options(vec![0])]), &colours());
    assert_eq!(first(Chosen::Options(vec![0, 1])), Err(Mismatch::OneOnly));
    assert_eq!(first(Chosen::Options(vec![2])), Err(Mismatch::NoOption));
    assert_eq!(first(Chosen::Options(Vec::new())), Err(Mismatch::Empty));
    assert_eq!(first(Chosen::Text(" ".into())), Err(Mismatch::Empty));
    assert_eq!(decided(&Decision::Choose(vec![Chosen::Options(vec![0])]), &colours()), Err(Mismatch::Count));
}

#[test]
fn a_plan_is_approved_with_its_input_and_a_mode() {
    let plan = request("ExitPlanMode", json!({ "plan": "1. Do it" }), Value::Null);
    for (decision, mode) in [(Decision::Allow, "default"), (Decision::AllowAlways, "acceptEdits")] {
        let decided = decided(&decision, &plan).unwrap();
        assert_eq!(decided["updatedInput"], serde_json::from_str::<Value>(&plan.input).unwrap());
        assert_eq!(decided["updatedPermissions"][0]["mode"], mode);
    }
    assert_eq!(decided(&Decision::Deny("tests first".into()), &plan).unwrap()["message"], "tests first");
}

#[test]
fn an_unknown_shape_is_answered_in_the_terminal_alone() {
    let unknown = request("AskUserQuestion", json!({ "asks": 1 }), Value::Null);
    for decision in
        [Decision::Allow, Decision::Deny("no".into()), Decision::DenyAndStop, Decision::Choose(Vec::new())]
    {
        assert_eq!(decided(&decision, &unknown), Err(Mismatch::Unknown));
    }
}

#[test]
fn codex_is_only_allowed_or_denied() {
    let of = |decision: &Decision| hook_output(Agent::Codex, decision, &bash());
    let decided = |decision: &Decision| -> Value { serde_json::from_str(&of(decision).unwrap()).unwrap() };
    let output = |decision: Value| json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } });
    assert_eq!(decided(&Decision::Allow), output(json!({ "behavior": "allow" })));
    let no = Decision::Deny("use the other file".into());
    assert_eq!(decided(&no), output(json!({ "behavior": "deny", "message": "use the other file" })));
    for decision in [Decision::AllowAlways, Decision::DenyAndStop, Decision::Choose(Vec::new())] {
        assert_eq!(of(&decision), Err(Mismatch::OnlyOnce));
    }
}

#[test]
fn questions_of_opencode_are_answered_and_its_requests_allowed_or_denied() {
    let chosen = Decision::Choose(vec![Chosen::Options(vec![1]), Chosen::Text("Green".into())]);
    let output: Value =
        serde_json::from_str(&hook_output(Agent::Opencode, &chosen, &colours()).unwrap()).unwrap();
    let input = &output["hookSpecificOutput"]["decision"]["updatedInput"];
    assert_eq!(input["answers"], json!({ "One?": "Blue", "Many?": "Green" }));
    for decision in [Decision::AllowAlways, Decision::DenyAndStop] {
        assert_eq!(hook_output(Agent::Opencode, &decision, &bash()), Err(Mismatch::OnlyOnce));
    }
}
