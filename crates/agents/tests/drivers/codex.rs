//! Codex CLI 0.169.0: its recorded talk as events, and commands as lines.

use serde_json::{Value, json};
use watchbill_agents::driver::{Driver, LogLine, Refusal};
use watchbill_agents::launch as agents;
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnResume, OwnSpec};
use watchbill_protocol::request::{RequestAnswer, RequestDecision};

use crate::talk::{at, fold, greeted, kept, out, spec, talks, told, written};

#[test]
fn the_recorded_talk_gives_these_events() {
    let told: Vec<_> = talks("codex-app-server")
        .iter()
        .map(|talk| told(&fold(&mut *open(&spec(OwnAgent::Codex)), &talk.lines)))
        .collect();
    insta::assert_snapshot!(told.join("\n-- next process --\n"));
}

fn open(spec: &OwnSpec) -> Box<dyn Driver> {
    agents::driver(spec).unwrap()
}

/// A driver whose thread is open.
fn ready(spec: &OwnSpec) -> Box<dyn Driver> {
    let mut driver = open(spec);
    assert_eq!(greeted(&mut *driver, &json!({ "userAgent": "watchbill/0.169.0 (Linux)" })), ["initialize"]);
    let thread = json!({ "thread": { "id": "t1" }, "model": "m", "approvalPolicy": "on-request", "sandbox": { "type": "readOnly" } });
    let asked = greeted(&mut *driver, &thread);
    assert_eq!(asked[0], "initialized");
    assert!(driver.is_idle(), "{asked:?}");
    driver
}

fn prompt(id: &str, when: PromptWhen) -> OwnCommand {
    OwnCommand::Prompt { id: id.into(), text: "go".into(), images: Vec::new(), when }
}

/// Begins a turn with the prompt `p1`.
fn run(driver: &mut dyn Driver) {
    kept(driver, &prompt("p1", PromptWhen::Queue));
    let events = fold(driver, &[out(&json!({ "id": "p1", "result": { "turn": { "id": "u1" } } }))]);
    assert_eq!(events[0], OwnWhat::TurnStart);
    assert!(!driver.is_idle());
}

#[test]
fn a_thread_opens_with_the_powers_of_the_specification_and_no_others() {
    let mut spec = spec(OwnAgent::Codex);
    let opening = |spec: &OwnSpec| {
        let mut driver = open(spec);
        greeted(&mut *driver, &json!({}));
        let due = driver.due();
        due.last().unwrap().clone()
    };
    let plain = opening(&spec);
    spec.mode = Some("on-request/workspace-write".into());
    spec.model = Some("gpt-x".into());
    let started = opening(&spec);
    spec.resume = Some(OwnResume { session: "t9".into(), fork: false });
    let resumed = opening(&spec);
    spec.resume = Some(OwnResume { session: "t9".into(), fork: true });
    insta::assert_snapshot!([plain, started, resumed, opening(&spec)].join("\n"));
}

#[test]
fn a_prompt_starts_a_turn_or_goes_into_the_running_one() {
    let mut driver = ready(&spec(OwnAgent::Codex));
    let images = vec![OwnImage { media: "image/png".into(), data: "AAAA".into() }];
    kept(&mut *driver, &OwnCommand::SetModel { model: "gpt-y".into() });
    kept(&mut *driver, &OwnCommand::SetMode { mode: "never/workspace-write".into() });
    let first = OwnCommand::Prompt { id: "p1".into(), text: "look".into(), images, when: PromptWhen::Queue };
    let (lines, events) = kept(&mut *driver, &first);
    insta::assert_snapshot!(format!("{}\n{}", lines.join("\n"), told(&events)));
    assert!(matches!(driver.command(&first), Err(Refusal::Gone(_))), "sent a second time");
    fold(&mut *driver, &[out(&json!({ "id": "p1", "result": { "turn": { "id": "u1" } } }))]);
    let (lines, events) = kept(&mut *driver, &prompt("p2", PromptWhen::Steer));
    let steered = fold(&mut *driver, &[out(&json!({ "id": "p2", "result": { "turnId": "u1" } }))]);
    let ended = json!({ "method": "turn/completed", "params": { "threadId": "t1", "turn": { "status": "completed" } } });
    let ended = fold(&mut *driver, &[out(&ended)]);
    insta::assert_snapshot!(format!("{}\n{}", lines.join("\n"), told(&[events, steered, ended].concat())));
    let (lines, events) = kept(&mut *driver, &prompt("p3", PromptWhen::Queue));
    assert_eq!(written(&lines[0])["params"].get("model"), None, "said once");
    assert_eq!(events.len(), 1);
}

fn answered(method: &str, params: &Value, decision: RequestDecision) -> Vec<Value> {
    let mut driver = ready(&spec(OwnAgent::Codex));
    run(&mut *driver);
    let item = json!({ "type": "fileChange", "id": "i1", "changes": [{ "path": "a.txt", "diff": "+a" }] });
    fold(
        &mut *driver,
        &[out(&json!({ "method": "item/started", "params": { "threadId": "t1", "item": item } }))],
    );
    let mut params = params.clone();
    params["turnId"] = "u1".into();
    params["itemId"] = "i1".into();
    let events = fold(&mut *driver, &[out(&json!({ "id": 0, "method": method, "params": params }))]);
    assert!(matches!(&events[..], [OwnWhat::Request { .. }]), "{events:?}");
    let answer = OwnCommand::Answer { request: "u1-0".into(), decision };
    let (lines, events) = kept(&mut *driver, &answer);
    assert_eq!(events, [OwnWhat::RequestClosed { request: "u1-0".into(), by: "answered".into() }]);
    let resolved =
        json!({ "method": "serverRequest/resolved", "params": { "threadId": "t1", "requestId": 0 } });
    assert!(fold(&mut *driver, &[out(&resolved)]).is_empty(), "closed a second time");
    assert!(matches!(driver.command(&answer), Err(Refusal::Gone(_))));
    lines.iter().map(|line| written(line)).collect()
}

#[test]
fn answers_in_the_words_of_codex() {
    let command = "item/commandExecution/requestApproval";
    let ls = json!({ "command": "ls", "cwd": "/home/dev/work" });
    let deny = || RequestDecision::Deny { reason: "Use make.".into() };
    let question = json!({ "questions": [{ "id": "q1", "header": "H", "question": "Which?", "options": [
        { "label": "A", "description": "a" }, { "label": "B", "description": "b" }] }] });
    let form = json!({ "serverName": "rig", "message": "Port?", "requestedSchema": { "properties": { "port": { "type": "integer" } } } });
    let wanted = json!({ "permissions": { "network": { "enabled": true } }, "cwd": "/home/dev/work" });
    let choose = |answer| RequestDecision::Choose { answers: vec![answer] };
    let told = [
        answered(command, &ls, RequestDecision::Allow),
        answered(command, &ls, RequestDecision::AllowAlways),
        answered(command, &ls, deny()),
        answered(command, &ls, RequestDecision::DenyAndStop),
        answered("item/fileChange/requestApproval", &json!({}), RequestDecision::Allow),
        answered("item/permissions/requestApproval", &wanted, RequestDecision::AllowAlways),
        answered("item/permissions/requestApproval", &wanted, RequestDecision::DenyAndStop),
        answered("item/tool/requestUserInput", &question, choose(RequestAnswer::Options(vec![1]))),
        answered("mcpServer/elicitation/request", &form, choose(RequestAnswer::Text("80".into()))),
    ];
    let told: Vec<_> = told.concat().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn changes_that_nobody_can_see_cannot_be_allowed() {
    for changes in [Value::Null, json!([]), json!("all")] {
        let mut driver = ready(&spec(OwnAgent::Codex));
        run(&mut *driver);
        let item = json!({ "type": "fileChange", "id": "i1", "changes": changes });
        let started = json!({ "method": "item/started", "params": { "threadId": "t1", "item": item } });
        fold(&mut *driver, &[out(&started)]);
        for (call, item) in [(0, "i1"), (1, "another")] {
            let params = json!({ "turnId": "u1", "itemId": item, "grantRoot": "/home/dev" });
            let asked = json!({ "id": call, "method": "item/fileChange/requestApproval", "params": params });
            let events = fold(&mut *driver, &[out(&asked)]);
            let [OwnWhat::Request { request }] = &events[..] else { panic!("{events:?}") };
            assert_eq!(request.kind, "unknown", "{changes} {item}");
        }
    }
}

#[test]
fn a_call_that_is_not_known_is_refused() {
    let mut driver = ready(&spec(OwnAgent::Codex));
    let call = json!({ "id": 4, "method": "attestation/generate", "params": {} });
    assert!(fold(&mut *driver, &[out(&call)]).is_empty());
    let due = driver.due();
    assert_eq!(written(&due[0])["error"]["code"], -32601);
}

#[test]
fn an_interrupt_names_the_turn_and_needs_one() {
    let mut driver = ready(&spec(OwnAgent::Codex));
    assert!(matches!(driver.command(&OwnCommand::Interrupt), Err(Refusal::Gone(_))));
    run(&mut *driver);
    let (lines, _) = kept(&mut *driver, &OwnCommand::Interrupt);
    assert_eq!(written(&lines[0])["params"], json!({ "threadId": "t1", "turnId": "u1" }));
    let refused = driver.fold(at(0), LogLine::Out("{}"));
    assert!(refused.is_empty());
}

#[test]
fn words_of_other_threads_are_not_words_of_the_session() {
    let mut driver = ready(&spec(OwnAgent::Codex));
    run(&mut *driver);
    let delta = |thread: &str| json!({ "method": "item/agentMessage/delta", "params": { "threadId": thread, "itemId": "i", "delta": "x" } });
    assert!(fold(&mut *driver, &[out(&delta("t2"))]).is_empty());
    assert_eq!(fold(&mut *driver, &[out(&delta("t1"))]).len(), 1);
}
