//! Recorded talks, and events as text.

use std::path::PathBuf;

use serde_json::Value;
use watchbill_agents::driver::{Driver, LogLine};
use watchbill_agents::launch as agents;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

/// One line of a talk.
#[derive(Debug, Clone)]
pub struct Line {
    pub out: bool,
    pub text: String,
}

impl Line {
    pub fn log(&self) -> LogLine<'_> {
        if self.out { LogLine::Out(&self.text) } else { LogLine::In(&self.text) }
    }
}

pub fn out(value: &Value) -> Line {
    Line { out: true, text: value.to_string() }
}

/// The talk with one process.
#[derive(Debug, Clone)]
pub struct Talk {
    pub session: String,
    pub lines: Vec<Line>,
}

/// The talks of a recording, one for each process.
pub fn talks(name: &str) -> Vec<Talk> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/own");
    let text = std::fs::read_to_string(root.join(format!("{name}.ndjson"))).unwrap();
    let mut talks: Vec<Talk> = Vec::new();
    for line in text.lines() {
        let operation: Value = serde_json::from_str(line).unwrap();
        let said = || operation["line"].as_str().unwrap().to_owned();
        match operation["op"].as_str().unwrap() {
            "mark" => {
                let mut words = operation["text"].as_str().unwrap().split(' ');
                let session = words.find(|word| *word == "--session-id").and_then(|_| words.next());
                talks.push(Talk { session: session.unwrap_or(SESSION).to_owned(), lines: Vec::new() });
            }
            way => talks.last_mut().unwrap().lines.push(Line { out: way == "out", text: said() }),
        }
    }
    talks
}

const SESSION: &str = "5e55a000-0000-4000-8000-000000000001";

pub fn spec(agent: OwnAgent) -> OwnSpec {
    OwnSpec {
        session: SESSION.into(),
        agent,
        kind: OwnKind::Stream,
        cwd: "/home/dev/work".into(),
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: "2026-11-23T16:00:00Z".into(),
        root: None,
        switched: None,
        started_by_agent: false,
    }
}

pub fn driver(agent: OwnAgent) -> Box<dyn Driver> {
    agents::driver(&spec(agent)).unwrap()
}

pub fn at(number: usize) -> Timestamp {
    Timestamp::from_millis(1_795_000_000_000 + i64::try_from(number).unwrap())
}

/// The driver of the process of a talk.
pub fn driver_of(agent: OwnAgent, talk: &Talk) -> Box<dyn Driver> {
    agents::driver(&OwnSpec { session: talk.session.clone(), ..spec(agent) }).unwrap()
}

/// The events of a talk.
pub fn fold(driver: &mut dyn Driver, talk: &[Line]) -> Vec<OwnWhat> {
    talk.iter().enumerate().flat_map(|(number, line)| driver.fold(at(number), line.log())).collect()
}

/// A line as a value.
pub fn written(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// Carries a command out as the host does; gives its lines and its events.
pub fn kept(driver: &mut dyn Driver, command: &OwnCommand) -> (Vec<String>, Vec<OwnWhat>) {
    let lines = driver.command(command).unwrap();
    let events = lines.iter().flat_map(|line| driver.fold(at(0), LogLine::In(line))).collect();
    (lines, events)
}

/// Writes the due lines, and answers the last call among them. Returns the methods of these lines.
pub fn greeted(driver: &mut dyn Driver, result: &Value) -> Vec<String> {
    let due: Vec<_> = driver.due().iter().map(|line| (line.clone(), written(line))).collect();
    for (line, _) in &due {
        assert!(driver.fold(at(0), LogLine::In(line)).is_empty());
    }
    let id = &due.last().unwrap().1["id"];
    driver.fold(at(0), LogLine::Out(&serde_json::json!({ "id": id, "result": result }).to_string()));
    due.iter().map(|(_, value)| value["method"].as_str().unwrap().to_owned()).collect()
}

/// Events as lines of JSON. Growth of one block is one line, and long texts are cut.
pub fn told(events: &[OwnWhat]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut growing: Option<(String, u32)> = None;
    for event in events {
        if let OwnWhat::Text { block, .. } | OwnWhat::Thinking { block, .. } = event {
            match &mut growing {
                Some((name, count)) if name == block => *count += 1,
                _ => {
                    lines.extend(growing.take().map(grown));
                    growing = Some((block.clone(), 1));
                }
            }
            continue;
        }
        lines.extend(growing.take().map(grown));
        let mut value = serde_json::to_value(event).unwrap();
        shorten(&mut value);
        lines.push(value.to_string());
    }
    lines.extend(growing.map(grown));
    lines.join("\n")
}

fn grown((block, count): (String, u32)) -> String {
    format!("{block} grew {count} times")
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(90) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}
