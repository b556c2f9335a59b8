//! A session of Codex in a terminal of our own: one row, that of its rollout.

use serde_json::json;
use watchbill_drive::fold::HostState;
use watchbill_engine::input::Input;
use watchbill_engine::witnesses::own::OwnInput;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use crate::house::House;
use crate::locks::{A, B, append, house};
use crate::subagents::{ended, meta, started};

const OWN: &str = "5e55a000-0000-4000-8000-000000000001";
/// The program that the terminal runs, and the one around which it is.
const AROUND: u32 = 80;
const CODEX: u32 = 81;

fn begin(house: &mut House, resume: Option<&str>) {
    let spec = OwnSpec {
        session: OWN.into(),
        agent: OwnAgent::Codex,
        kind: OwnKind::Pty,
        cwd: "/home/dev/work".into(),
        model: None,
        mode: None,
        resume: resume.map(|session| OwnResume { session: session.into(), fork: false }),
        command: Vec::new(),
        size: None,
        created_at: house.now.to_string(),
        root: None,
        switched: None,
        started_by_agent: false,
    };
    house.step(Input::Own(vec![OwnInput::Found(Box::new(spec), HostState::Runs)]));
    event(house, json!({"event": "started", "pid": AROUND}));
    house.processes.set_parent(CODEX, AROUND);
}

fn event(house: &mut House, what: serde_json::Value) {
    let what: OwnWhat = serde_json::from_value(what).unwrap();
    let event = OwnEvent { n: 0, at: house.now.to_string(), what };
    house.step(Input::Own(vec![OwnInput::Events(OWN.into(), vec![event])]));
}

fn lock(house: &mut House, session: &str) {
    house.fs.write(House::lock_path(session), b"");
    house.lock(session, Some(CODEX), true);
    house.tell();
}

/// The rows: the session, its state, and the own session that it shows.
fn rows(house: &House) -> Vec<(String, String, Option<String>)> {
    let rows = house.engine.current(true).rows.iter();
    let row =
        |id: &str| (id.to_owned(), house.state(id), house.row(id).unwrap().own.map(|own| own.id.to_string()));
    rows.map(|row| row.id.as_str()).map(row).collect()
}

fn one(session: &str, state: &str) -> Vec<(String, String, Option<String>)> {
    vec![(session.into(), state.into(), Some(OWN.into()))]
}

#[test]
fn a_terminal_and_its_rollout_are_one_row() {
    let mut house = house();
    begin(&mut house, None);
    assert_eq!(rows(&house), one(OWN, "idle"));
    lock(&mut house, A);
    append(&mut house, A, &[meta(A, None), started()]);
    assert_eq!(rows(&house), one(A, "working"));
    // A subagent is no session in which the user is.
    lock(&mut house, B);
    house.wait(1);
    append(&mut house, B, &[meta(B, Some(A)), started(), ended()]);
    assert_eq!(rows(&house), one(A, "working"));
    append(&mut house, A, &[ended()]);
    assert_eq!(rows(&house), one(A, "waiting_for_input/turn_ended"));
    event(&mut house, json!({"event": "session_ended", "asked": true}));
    house.kill(CODEX, &[A, B]);
    assert_eq!(rows(&house), one(A, "ended"));
}

#[test]
fn a_new_session_in_the_same_terminal_takes_the_row() {
    let mut house = house();
    begin(&mut house, None);
    lock(&mut house, A);
    append(&mut house, A, &[meta(A, None), started(), ended()]);
    house.wait(5);
    lock(&mut house, B);
    append(&mut house, B, &[meta(B, None), started()]);
    let shows = |id: &str| house.row(id).unwrap().own.map(|own| own.id.to_string());
    assert_eq!((shows(A), shows(B)), (None, Some(OWN.to_owned())));
}

#[test]
fn a_resumed_session_keeps_its_row() {
    let mut house = house();
    append(&mut house, A, &[meta(A, None), started(), ended()]);
    house.wait(60);
    begin(&mut house, Some(A));
    assert_eq!(rows(&house).len(), 1);
    lock(&mut house, A);
    append(&mut house, A, &[started()]);
    assert_eq!(rows(&house), one(A, "working"));
}
