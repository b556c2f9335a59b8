//! Claude Code 2.1.329: its recorded talks as events, and commands as lines.

use serde_json::{Value, json};
use watchbill_agents::driver::{Driver, LogLine, Refusal};
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::OwnAgent;
use watchbill_protocol::request::{RequestAnswer, RequestDecision};

use crate::talk::{at, driver, driver_of, fold, kept, out, talks, told, written};

#[test]
fn recorded_talks_give_these_events() {
    for name in
        ["stream-life", "stream-queue-interrupt", "stream-permissions", "stream-parallel-elicit", "errors"]
    {
        let told: Vec<_> = talks(name)
            .iter()
            .map(|talk| told(&fold(&mut *driver_of(OwnAgent::Claude, talk), &talk.lines)))
            .collect();
        insta::assert_snapshot!(name, told.join("\n-- next process --\n"));
    }
}

fn prompt(id: &str, text: &str) -> OwnCommand {
    OwnCommand::Prompt { id: id.into(), text: text.into(), images: Vec::new(), when: PromptWhen::Queue }
}

fn said(driver: &mut dyn Driver, value: &Value) -> Vec<OwnWhat> {
    fold(driver, &[out(value)])
}

/// A driver whose agent is ready.
fn ready() -> Box<dyn Driver> {
    let mut driver = driver(OwnAgent::Claude);
    assert!(!driver.is_idle(), "before the greeting");
    let due = driver.due();
    assert_eq!(due.len(), 1);
    let greeting = written(&due[0]);
    assert_eq!(greeting["request"], json!({ "subtype": "initialize" }));
    driver.fold(at(0), LogLine::In(&due[0]));
    let response =
        json!({ "subtype": "success", "request_id": greeting["request_id"], "response": { "pid": 7 } });
    let events = said(&mut *driver, &json!({ "type": "control_response", "response": response }));
    assert!(matches!(&events[..], [OwnWhat::Init { pid: Some(7), .. }]), "{events:?}");
    assert!(driver.is_idle());
    driver
}

fn asks(driver: &mut dyn Driver, tool: &str, input: &Value) {
    let request = json!({
        "subtype": "can_use_tool", "tool_name": tool, "input": input,
        "permission_suggestions": [{
            "type": "addRules", "behavior": "allow", "destination": "localSettings",
            "rules": [{ "toolName": "Bash", "ruleContent": "npm run *" }],
        }],
    });
    let events = said(driver, &json!({ "type": "control_request", "request_id": "r1", "request": request }));
    assert!(
        matches!(&events[..], [OwnWhat::Request { request }] if request.answerable == "stream"),
        "{events:?}"
    );
}

/// The body of the answer to a request.
fn answered(tool: &str, input: &Value, decision: RequestDecision) -> Value {
    let mut driver = ready();
    asks(&mut *driver, tool, input);
    let answer = OwnCommand::Answer { request: "r1".into(), decision };
    let lines = driver.command(&answer).unwrap();
    assert_eq!(lines.len(), 1);
    let events = driver.fold(at(0), LogLine::In(&lines[0]));
    let closed = OwnWhat::RequestClosed { request: "r1".into(), by: "answered".into() };
    assert_eq!(events, [closed]);
    assert!(matches!(driver.command(&answer), Err(Refusal::Gone(_))), "a second answer");
    let line = written(&lines[0]);
    assert_eq!(line["response"]["request_id"], "r1");
    line["response"]["response"].clone()
}

#[test]
fn a_prompt_is_written_once_under_its_id_with_its_pictures() {
    let mut driver = ready();
    let images = vec![OwnImage { media: "image/png".into(), data: "AAAA".into() }];
    let command =
        OwnCommand::Prompt { id: "p1".into(), text: "/x -y".into(), images, when: PromptWhen::Queue };
    let lines = driver.command(&command).unwrap();
    let line = written(&lines[0]);
    assert_eq!((&line["uuid"], &line["type"]), (&json!("p1"), &json!("user")));
    assert_eq!(line["message"]["content"][0]["source"]["media_type"], "image/png");
    assert_eq!(line["message"]["content"][1], json!({ "type": "text", "text": "/x -y" }));
    let events = driver.fold(at(0), LogLine::In(&lines[0]));
    insta::assert_snapshot!(told(&events), @r#"{"event":"prompt","id":"p1","text":"/x -y","images":1,"place":"sent"}"#);
    assert!(!driver.is_idle(), "the agent has a prompt that it did not begin");
    assert!(matches!(driver.command(&command), Err(Refusal::Gone(_))), "sent a second time");
    assert!(driver.fold(at(0), LogLine::In(&lines[0])).is_empty(), "the same record again");
}

#[test]
fn answers_in_the_words_of_the_client() {
    let bash = json!({ "command": "npm run build" });
    let told = [
        answered("Bash", &bash, RequestDecision::Allow),
        answered("Bash", &bash, RequestDecision::AllowAlways),
        answered("Bash", &bash, RequestDecision::Deny { reason: "Use make.".into() }),
        answered("Bash", &bash, RequestDecision::DenyAndStop),
        answered("ExitPlanMode", &json!({ "plan": "1. Go" }), RequestDecision::Allow),
        answered("ExitPlanMode", &json!({ "plan": "1. Go" }), RequestDecision::AllowAlways),
        answered(
            "AskUserQuestion",
            &json!({ "questions": [{ "question": "Which?", "options": [{ "label": "A" }, { "label": "B" }] }] }),
            RequestDecision::Choose { answers: vec![RequestAnswer::Options(vec![1])] },
        ),
    ];
    let told: Vec<_> = told.iter().map(Value::to_string).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_form_of_a_tool_server_is_answered_with_values_of_its_types() {
    let mut driver = ready();
    let schema = json!({ "type": "object", "properties": {
        "port": { "type": "integer", "title": "Port" }, "tls": { "type": "boolean" },
        "level": { "type": "string", "enum": ["lo", "hi"], "enumNames": ["Low", "High"] },
    }});
    let call = json!({ "subtype": "elicitation", "mcp_server_name": "rig", "message": "Which?", "requested_schema": schema });
    let events =
        said(&mut *driver, &json!({ "type": "control_request", "request_id": "r2", "request": call }));
    insta::assert_snapshot!(told(&events));
    let choose =
        |answers| OwnCommand::Answer { request: "r2".into(), decision: RequestDecision::Choose { answers } };
    let answers = |port: &str| {
        vec![
            RequestAnswer::Text(port.into()),
            RequestAnswer::Options(vec![0]),
            RequestAnswer::Options(vec![1]),
        ]
    };
    let refused = driver.command(&choose(answers("many"))).unwrap_err();
    assert_eq!(refused.to_string(), "`many` is not a whole number, which port wants");
    let lines = driver.command(&choose(answers("8080"))).unwrap();
    let body = json!({ "action": "accept", "content": { "port": 8080, "tls": true, "level": "hi" } });
    assert_eq!(written(&lines[0])["response"]["response"], body);
    let deny = |decision| OwnCommand::Answer { request: "r2".into(), decision };
    for (decision, action) in [
        (RequestDecision::Deny { reason: String::new() }, "decline"),
        (RequestDecision::DenyAndStop, "cancel"),
    ] {
        let lines = driver.command(&deny(decision)).unwrap();
        assert_eq!(written(&lines[0])["response"]["response"], json!({ "action": action }));
    }
}

#[test]
fn an_unknown_call_of_the_agent_is_refused_and_never_granted() {
    for subtype in ["grant_all", "prompt_draft_activity"] {
        let mut driver = ready();
        let call =
            json!({ "type": "control_request", "request_id": "r9", "request": { "subtype": subtype } });
        assert!(said(&mut *driver, &call).is_empty());
        let due = driver.due();
        assert_eq!(due.len(), 1);
        assert_eq!(written(&due[0])["response"]["subtype"], "error");
        // A host of the client's makers writes such a call itself. Its log is read all the same.
        let line =
            json!({ "type": "control_request", "request_id": "h1", "request": { "subtype": subtype } });
        driver.fold(at(0), LogLine::In(&line.to_string()));
        let response = json!({ "subtype": "success", "request_id": "h1", "response": {} });
        assert!(said(&mut *driver, &json!({ "type": "control_response", "response": response })).is_empty());
    }
}

#[test]
fn the_card_of_a_skill_says_which_skill_of_which_server() {
    let mut driver = ready();
    let call = json!({ "subtype": "can_use_tool", "tool_name": "Skill", "input": { "skill": "docs:deploy" },
        "tool_kind": "mcp_skill", "mcp_server": { "name": "docs", "source": "project" },
        "mcp_skill": { "name": "docs:deploy", "version": "sha256:ab" } });
    let events =
        said(&mut *driver, &json!({ "type": "control_request", "request_id": "r3", "request": call }));
    let [OwnWhat::Request { request }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(request.summary, "Skill: skill docs:deploy of the MCP server docs");
    assert!(request.shown.contains("version: sha256:ab"), "{}", request.shown);
    let allow = OwnCommand::Answer { request: "r3".into(), decision: RequestDecision::Allow };
    let lines = driver.command(&allow).unwrap();
    let body = json!({ "behavior": "allow", "updatedInput": { "skill": "docs:deploy" } });
    assert_eq!(written(&lines[0])["response"]["response"], body);
}

#[test]
fn an_interrupt_takes_what_the_agent_queued_and_needs_a_turn() {
    let mut driver = ready();
    assert!(matches!(driver.command(&OwnCommand::Interrupt), Err(Refusal::Gone(_))));
    kept(&mut *driver, &prompt("p1", "one"));
    let begun = json!({ "type": "command_lifecycle", "command_uuid": "p1", "state": "started" });
    assert_eq!(said(&mut *driver, &begun)[0], OwnWhat::TurnStart);
    kept(&mut *driver, &prompt("p2", "two"));
    let lines = driver.command(&OwnCommand::Interrupt).unwrap();
    let call = written(&lines[0]);
    assert_eq!(call["request"], json!({ "subtype": "interrupt", "cancel_queued": true }));
    driver.fold(at(0), LogLine::In(&lines[0]));
    let response = json!({ "subtype": "success", "request_id": call["request_id"], "response": { "cancelled": ["p2"] } });
    let mut events = said(&mut *driver, &json!({ "type": "control_response", "response": response }));
    assert!(!driver.is_idle());
    let result = json!({
        "type": "result", "subtype": "error_during_execution", "is_error": true,
        "terminal_reason": "aborted_streaming", "errors": ["[ede_diagnostic] x"],
    });
    events.extend(said(&mut *driver, &result));
    insta::assert_snapshot!(told(&events));
    assert!(driver.is_idle());
}

#[test]
fn text_that_begins_again_after_a_broken_stream_is_dropped_first() {
    let mut driver = ready();
    let stream = |event: Value| json!({ "type": "stream_event", "event": event, "parent_tool_use_id": null });
    let start = |id: &str| stream(json!({ "type": "message_start", "message": { "id": id } }));
    let delta = |text: &str| {
        stream(
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
        )
    };
    let lines = [
        start("m1"),
        delta("half a"),
        json!({ "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "error": "unknown" }),
        start("m2"),
        delta("half an answer"),
    ];
    let events: Vec<_> = lines.iter().flat_map(|line| said(&mut *driver, line)).collect();
    insta::assert_snapshot!(told(&events));
}

#[test]
fn a_request_that_the_agent_withdraws_cannot_be_answered() {
    let mut driver = ready();
    asks(&mut *driver, "Bash", &json!({ "command": "ls" }));
    let cancel = json!({ "type": "control_cancel_request", "request_id": "r1" });
    let withdrawn = OwnWhat::RequestClosed { request: "r1".into(), by: "withdrawn".into() };
    assert_eq!(said(&mut *driver, &cancel), [withdrawn]);
    assert!(said(&mut *driver, &cancel).is_empty());
    let answer = OwnCommand::Answer { request: "r1".into(), decision: RequestDecision::Allow };
    assert!(matches!(driver.command(&answer), Err(Refusal::Gone(_))));
}

#[test]
fn a_client_that_tells_no_lifecycle_is_idle_after_its_turn_too() {
    let mut driver = ready();
    kept(&mut *driver, &prompt("p1", "one"));
    let begun = json!({ "type": "system", "subtype": "status", "status": "requesting" });
    let replayed = json!({ "type": "user", "uuid": "p1", "isReplay": true, "message": { "content": "one" } });
    let result =
        json!({ "type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed" });
    let events: Vec<_> = [begun, replayed, result].iter().flat_map(|line| said(&mut *driver, line)).collect();
    let places: Vec<_> = events
        .iter()
        .filter_map(|event| if let OwnWhat::Prompt { place, .. } = event { Some(*place) } else { None })
        .collect();
    assert_eq!(places, [PromptPlace::Started, PromptPlace::Done]);
    assert!(driver.is_idle());
}
