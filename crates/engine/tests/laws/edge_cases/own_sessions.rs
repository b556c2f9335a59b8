//! Sessions of our own in the engine: one row each, from any set of witnesses, and its requests.

use std::sync::Arc;

use serde_json::{Value, json};
use watchbill_core::ids::SessionId;
use watchbill_core::own::resume::Holder;
use watchbill_drive::fold::HostState;
use watchbill_engine::input::Input;
use watchbill_engine::witnesses::own::OwnInput;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use super::records::{A, B, answer, prompt};
use crate::house::{House, start_of};

fn spec(session: &str, agent: OwnAgent, resume: Option<&str>) -> OwnSpec {
    OwnSpec {
        session: session.into(),
        agent,
        kind: OwnKind::Stream,
        cwd: "/home/dev/work".into(),
        model: None,
        mode: None,
        resume: resume.map(|session| OwnResume { session: session.into(), fork: false }),
        command: Vec::new(),
        size: None,
        created_at: "2026-11-20T12:00:00.000Z".into(),
        root: None,
        switched: None,
        started_by_agent: false,
    }
}

impl House {
    fn own(&mut self, spec: &OwnSpec) -> &mut Self {
        self.step(Input::Own(vec![OwnInput::Found(Box::new(spec.clone()), HostState::Runs)]));
        self
    }

    fn events(&mut self, own: &str, events: &[Value]) -> &mut Self {
        let at = self.now.to_string();
        let event = |what: &Value| OwnEvent {
            n: 0,
            at: at.clone(),
            what: serde_json::from_value::<OwnWhat>(what.clone()).unwrap(),
        };
        let events = events.iter().map(event).collect();
        self.step(Input::Own(vec![OwnInput::Events(own.into(), events)]));
        self
    }

    fn host(&mut self, own: &str, state: HostState) -> &mut Self {
        self.step(Input::Own(vec![OwnInput::Host(own.into(), state)]));
        self
    }

    fn rows(&self) -> Vec<String> {
        self.all().sessions.into_iter().map(|row| row.session_id).collect()
    }
}

fn init(session: &str, pid: u32) -> Value {
    json!({"event": "init", "session": session, "model": "m-1", "mode": "default", "pid": pid})
}

fn sent(id: &str, text: &str) -> Value {
    json!({"event": "prompt", "id": id, "text": text, "place": "sent"})
}

fn request(id: &str) -> Value {
    json!({"event": "request", "request": {
        "id": id, "digest": "ff".repeat(32), "kind": "permission", "tool": "Bash", "input": {"command": "ls"},
        "shown": "ls", "summary": "Bash: ls", "openedAt": "2026-11-20T12:00:00.000Z", "answerable": "stream",
        "progress": "open"
    }})
}

fn turn_end(reason: &str) -> Value {
    json!({"event": "turn_end", "reason": reason})
}

#[test]
fn an_announced_session_has_a_row_before_anything_runs() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Claude, None));
    let row = house.row(A);
    assert_eq!((row.own.as_deref(), &*row.source, &*row.agent), (Some("stream"), "stream", "claude"));
    assert_eq!((&*row.state, row.cwd.as_deref(), row.pid), ("idle", Some("/home/dev/work"), None));
    assert_eq!(row.own_id.as_deref(), Some(A));
    assert_eq!(house.engine.find(&A[..8]).unwrap().as_str(), A);
}

#[test]
fn stream_registry_hooks_and_transcript_give_one_row() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Claude, None)).events(A, &[init(A, 7), sent("p", "go")]);
    house.run(7, &start_of(7)).registry(7, A, "busy").write(A, prompt("go"));
    house.hook(7, A, json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}));
    assert_eq!(house.rows(), [A]);
    let row = house.row(A);
    assert_eq!((&*row.state, &*row.state_reason.source, row.pid), ("working", "stream", Some(7)));
    assert!(row.transcript_path.is_some());
    house.at(1.0).write(A, answer("done")).events(A, &[turn_end("completed")]);
    assert_eq!(house.state(A), "waiting_for_input/turn_ended");
    house.events(A, &[json!({"event": "session_ended", "asked": true, "code": 143})]);
    house.kill(7, &start_of(7));
    assert_eq!((house.rows(), house.state(A)), (vec![A.to_owned()], "ended".into()));
}

#[test]
fn a_clear_moves_the_row_to_the_new_session() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Claude, None)).events(A, &[init(A, 7), sent("p", "go")]);
    house.run(7, &start_of(7)).registry(7, A, "idle").write(A, prompt("go")).write(A, answer("done"));
    house.at(1.0).events(A, &[turn_end("completed"), json!({"event": "moved", "session": B})]);
    house.registry(7, B, "idle").events(A, &[sent("q", "next")]);
    let row = house.row(B);
    assert_eq!((row.own_id.as_deref(), row.goal.as_deref(), &*row.state), (Some(A), Some("next"), "working"));
    assert_eq!(house.engine.find(&B[..8]).unwrap().as_str(), B);
    let old = house.row(A);
    assert_eq!((old.own, old.superseded_by.as_deref()), (None, Some(B)));
}

#[test]
fn a_resumed_session_is_the_row_that_it_was() {
    let mut house = House::live();
    house.write(A, prompt("go")).write(A, answer("done"));
    house.at(60.0).own(&spec(B, OwnAgent::Claude, Some(A)));
    assert_eq!(house.rows(), [A]);
    assert_eq!(house.row(A).own_id.as_deref(), Some(B));
    // Codex names its sessions itself; the row keeps the id of the first own session.
    house.own(&spec("c1", OwnAgent::Codex, None)).events("c1", &[init("thread-1", 8)]);
    house.events("c1", &[json!({"event": "session_ended", "asked": true})]).at(61.0);
    let later = OwnSpec {
        created_at: "2026-11-20T12:01:00.000Z".into(),
        ..spec("c2", OwnAgent::Codex, Some("thread-1"))
    };
    house.own(&later);
    let row = house.row("c1");
    assert_eq!((row.own_id.as_deref(), &*row.agent, &*row.state), (Some("c2"), "codex", "idle"));
    assert_eq!(house.rows().len(), 2);
}

#[test]
fn a_change_of_the_agent_ties_sessions_without_a_transcript() {
    let over = |house: &House, id: &str| house.row(id).superseded_by;
    let switched = |session: &str, from: &str, agent, fork| OwnSpec {
        created_at: "2026-11-20T12:01:00.000Z".into(),
        switched: Some(OwnResume { session: from.into(), fork }),
        ..spec(session, agent, None)
    };
    let mut house = House::live();
    house.own(&spec("c1", OwnAgent::Codex, None)).events("c1", &[init("t", 8), sent("p", "go")]).at(61.0);
    house.own(&switched("c2", "c1", OwnAgent::Gemini, false));
    assert_eq!(over(&house, "c1"), None, "its host runs");
    house.host("c1", HostState::Gone);
    assert_eq!(over(&house, "c1").as_deref(), Some("c2"));
    assert_eq!(house.row("c1").work_chain_id, house.row("c2").work_chain_id);
    assert_eq!((house.row("c2").segment_count, house.engine.chain("c1").unwrap().segments.len()), (2, 2));
    // A host alone is no work. A prompt is.
    house.at(70.0).host("c1", HostState::Runs);
    assert_eq!(over(&house, "c1"), None);
    house.host("c1", HostState::Gone);
    assert_eq!(over(&house, "c1").as_deref(), Some("c2"));
    house.events("c1", &[sent("q", "again"), turn_end("completed")]);
    assert_eq!((over(&house, "c1"), over(&house, "c2")), (None, None));
    assert_eq!(house.engine.chain("c2").unwrap().head, "c1");
    // A copy begins a chain. One that is gone ties nothing.
    house.own(&switched("c3", "c2", OwnAgent::Codex, true));
    assert_ne!(house.row("c3").work_chain_id, house.row("c2").work_chain_id);
    house.step(Input::Own(vec![OwnInput::Removed(Arc::from("c2"))]));
    assert_eq!(house.rows(), ["c1", "c3"]);
    assert_eq!(house.engine.chain("c1").unwrap().links.len(), 0);
}

#[test]
fn a_request_of_a_host_is_open_until_the_host_says_otherwise() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Claude, None)).events(A, &[init(A, 7), sent("p", "go"), request("r1")]);
    house.at(2.0);
    let row = house.row(A);
    assert_eq!((&*row.state, row.state_kind.as_deref()), ("waiting_for_approval", Some("permission")));
    let card = row.request.unwrap();
    assert_eq!((&*card.answerable, &*card.progress, &*card.digest), ("stream", "open", &*"ff".repeat(32)));
    house.events(A, &[json!({"event": "request_closed", "request": "r1", "by": "answered"})]);
    let row = house.row(A);
    assert_eq!((row.request, &*row.state), (None, "working"));
}

#[test]
fn what_the_agent_withdraws_or_leaves_open_at_the_end_is_over() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Claude, None)).events(A, &[init(A, 7), sent("p", "go"), request("r1")]);
    house.events(A, &[turn_end("interrupted")]);
    assert_eq!((house.row(A).request, house.state(A)), (None, "waiting_for_input/interrupted".into()));
    house.events(A, &[sent("q", "again"), request("r2")]);
    assert!(house.row(A).request.is_some());
    house.host(A, HostState::GoneWithMachine);
    let row = house.row(A);
    assert_eq!((row.request, &*row.state_reason.detail), (None, "it ended with the machine"));
    assert_eq!((house.state(A), row.queued_prompts), ("ended/crashed".into(), None));
}

#[test]
fn the_queue_and_why_it_waits_are_in_the_row() {
    let mut house = House::live();
    let queued = |id: &str| json!({"event": "prompt", "id": id, "text": "more", "place": "queued"});
    house.own(&spec(A, OwnAgent::Gemini, None)).events(A, &[init("g-1", 7), sent("p", "go")]);
    house.events(A, &[queued("q1"), queued("q2"), turn_end("interrupted")]);
    house.events(A, &[json!({"event": "queue_held", "held": true, "cause": "interrupted"})]);
    let row = house.row(A);
    assert_eq!((row.queued_prompts, row.queue_held.as_deref()), (Some(2), Some("interrupted")));
    assert_eq!((&*row.agent, row.goal.as_deref(), row.model.as_deref()), ("gemini", Some("go"), Some("m-1")));
    house.events(A, &[json!({"event": "queue_held", "held": false}), sent("q1", "more")]);
    assert_eq!((house.row(A).queued_prompts, house.row(A).queue_held), (Some(1), None));
}

#[test]
fn a_terminal_is_followed_by_its_process() {
    let mut house = House::live();
    let terminal = OwnSpec { kind: OwnKind::Pty, ..spec(A, OwnAgent::Claude, None) };
    house.own(&terminal).events(A, &[json!({"event": "started", "pid": 7})]);
    house.run(7, &start_of(7)).registry(7, A, "idle").at(2.0);
    assert_eq!((house.row(A).own.as_deref(), &*house.row(A).source), (Some("pty"), "pty"));
    house.registry(7, B, "busy").at(4.0);
    assert_eq!((house.row(B).own_id.as_deref(), house.state(B)), (Some(A), "working".into()));
    assert_eq!(house.engine.resume_guard(&SessionId::new(B)), Err(Holder::Own));
    assert_eq!(house.engine.resume_guard(&SessionId::new("another")), Ok(()));
}

#[test]
fn a_removed_session_leaves_no_row() {
    let mut house = House::live();
    house.own(&spec(A, OwnAgent::Codex, None));
    assert_eq!(house.rows(), [A]);
    house.step(Input::Own(vec![OwnInput::Removed(Arc::from(A))]));
    assert_eq!(house.rows(), Vec::<String>::new());
}
