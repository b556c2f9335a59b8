//! The Agent Client Protocol: the recorded talk of Gemini CLI 0.61.0 as events, and commands as lines.

use serde_json::{Value, json};
use watchbill_agents::driver::{Driver, Refusal};
use watchbill_agents::launch as agents;
use watchbill_protocol::own::command::{OwnCommand, OwnImage, PromptWhen};
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnResume, OwnSpec};
use watchbill_protocol::request::RequestDecision;

use crate::talk::{fold, greeted, kept, out, spec, talks, told, written};

#[test]
fn the_recorded_talk_gives_these_events() {
    let told: Vec<_> = talks("gemini-acp")
        .iter()
        .map(|talk| told(&fold(&mut *open(&spec(OwnAgent::Gemini)), &talk.lines)))
        .collect();
    insta::assert_snapshot!(told.join("\n-- next process --\n"));
}

fn open(spec: &OwnSpec) -> Box<dyn Driver> {
    agents::driver(spec).unwrap()
}

/// A driver whose session is open, and the lines that were due then.
fn ready(spec: &OwnSpec) -> (Box<dyn Driver>, Vec<String>) {
    let mut driver = open(spec);
    assert_eq!(greeted(&mut *driver, &json!({ "agentInfo": { "version": "0.61.0" } })), ["initialize"]);
    let session = json!({
        "sessionId": "s1", "modes": { "availableModes": [{ "id": "default" }, { "id": "plan" }], "currentModeId": "default" },
    });
    greeted(&mut *driver, &session);
    assert!(driver.is_idle());
    let due = driver.due();
    (driver, due)
}

fn run(driver: &mut dyn Driver) {
    let images = vec![OwnImage { media: "image/png".into(), data: "AAAA".into() }];
    let prompt = OwnCommand::Prompt { id: "p1".into(), text: "go".into(), images, when: PromptWhen::Queue };
    let (lines, events) = kept(driver, &prompt);
    assert_eq!(written(&lines[0])["params"]["prompt"][0]["mimeType"], "image/png");
    assert!(matches!(&events[..], [OwnWhat::Prompt { .. }, OwnWhat::TurnStart]), "{events:?}");
}

fn asks(driver: &mut dyn Driver, kinds: &[&str]) -> OwnWhat {
    let options: Vec<_> = kinds
        .iter()
        .map(|kind| json!({ "optionId": format!("id-{kind}"), "name": kind, "kind": kind }))
        .collect();
    let tool = json!({ "toolCallId": "c1", "title": "ls -l", "kind": "execute" });
    let call = json!({ "id": 0, "method": "session/request_permission", "params": { "sessionId": "s1", "options": options, "toolCall": tool } });
    fold(driver, &[out(&call)]).pop().unwrap()
}

fn answer(decision: RequestDecision) -> OwnCommand {
    OwnCommand::Answer { request: "c1-0".into(), decision }
}

#[test]
fn one_prompt_runs_at_a_time() {
    let (mut driver, _) = ready(&spec(OwnAgent::Gemini));
    run(&mut *driver);
    let second = OwnCommand::Prompt {
        id: "p2".into(),
        text: "go".into(),
        images: Vec::new(),
        when: PromptWhen::Steer,
    };
    assert!(matches!(driver.command(&second), Err(Refusal::Unsupported(_))));
    let failed = json!({ "id": "p1", "error": { "code": 429, "message": "Too many requests" } });
    let events = fold(&mut *driver, &[out(&failed)]);
    insta::assert_snapshot!(told(&events));
    kept(&mut *driver, &second);
}

#[test]
fn answers_choose_the_option_that_does_it() {
    let all = ["allow_always", "allow_once", "reject_once"];
    let decisions = [
        RequestDecision::Allow,
        RequestDecision::AllowAlways,
        RequestDecision::Deny { reason: String::new() },
        RequestDecision::DenyAndStop,
    ];
    let mut lines = Vec::new();
    for decision in decisions {
        let (mut driver, _) = ready(&spec(OwnAgent::Gemini));
        run(&mut *driver);
        asks(&mut *driver, &all);
        let (written, events) = kept(&mut *driver, &answer(decision));
        assert_eq!(events, [OwnWhat::RequestClosed { request: "c1-0".into(), by: "answered".into() }]);
        lines.extend(written);
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_option_that_is_not_offered_is_never_replaced_by_another() {
    let (mut driver, _) = ready(&spec(OwnAgent::Gemini));
    run(&mut *driver);
    asks(&mut *driver, &["allow_always", "reject_always"]);
    for decision in [RequestDecision::Allow, RequestDecision::Deny { reason: String::new() }] {
        assert!(matches!(driver.command(&answer(decision)), Err(Refusal::Unsupported(_))));
    }
}

#[test]
fn a_cancel_answers_what_is_open() {
    let (mut driver, _) = ready(&spec(OwnAgent::Gemini));
    assert!(matches!(driver.command(&OwnCommand::Interrupt), Err(Refusal::Gone(_))));
    run(&mut *driver);
    asks(&mut *driver, &["allow_once"]);
    let (lines, events) = kept(&mut *driver, &OwnCommand::Interrupt);
    let ended = fold(&mut *driver, &[out(&json!({ "id": "p1", "result": { "stopReason": "cancelled" } }))]);
    insta::assert_snapshot!(format!("{}\n{}", lines.join("\n"), told(&[events, ended].concat())));
}

#[test]
fn the_mode_of_the_specification_is_set_after_the_session_opened() {
    let mut spec = spec(OwnAgent::Gemini);
    spec.mode = Some("plan".into());
    spec.resume = Some(OwnResume { session: "s0".into(), fork: false });
    let mut driver = open(&spec);
    greeted(&mut *driver, &json!({}));
    let due = driver.due();
    let line: Value = written(&due[0]);
    assert_eq!((&line["method"], &line["params"]["sessionId"]), (&json!("session/load"), &json!("s0")));
    let (_, due) = ready(&spec);
    assert_eq!(written(&due[0])["params"], json!({ "sessionId": "s1", "modeId": "plan" }));
}

#[test]
fn history_that_is_told_again_is_not_new() {
    let (mut driver, _) = ready(&spec(OwnAgent::Gemini));
    for kind in ["agent_message_chunk", "user_message_chunk", "tool_call"] {
        let update = json!({ "sessionUpdate": kind, "content": { "type": "text", "text": "old" }, "toolCallId": "c0" });
        let line = json!({ "method": "session/update", "params": { "sessionId": "s1", "update": update } });
        assert!(fold(&mut *driver, &[out(&line)]).is_empty(), "{kind}");
    }
}
