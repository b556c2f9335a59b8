//! Copilot's events and locks, as they were recorded, through the engine: the state at each action of the person.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use watchbill_agents::{Agent, Root};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_settings::Settings;
use watchbill_watch::fs::Fs;
use watchbill_watch::hints::HintSet;
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::{FakeProcesses, LockHolder};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/copilot");
const RECORDINGS: [&str; 6] = [
    "01-approve-deny",
    "02-escape-once-fail",
    "04-subagent",
    "05-kill9-while-tool",
    "06-escape-twice",
    "07-question",
];

fn states(engine: &Engine) -> BTreeMap<String, String> {
    let roster = engine.current(true);
    assert!(roster.problems.is_empty(), "{:?}", roster.problems);
    let rows = roster.rows.iter().map(|row| row.session());
    rows.map(|row| {
        assert_eq!(&*row.agent, "copilot");
        let kind = row.state_kind.map(|kind| format!("/{}", kind.as_str())).unwrap_or_default();
        let sure = if row.state_reason.confidence.as_str() == "observed" { "" } else { "?" };
        let source = row.state_reason.source.as_str();
        (row.session_id[..4].to_owned(), format!("{}{kind}{sure} [{source}]", row.state.as_str()))
    })
    .collect()
}

fn lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(FIXTURES).join(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the person did, and each change of a state.
fn page(name: &str) -> String {
    let operations = lines(&format!("recordings/{name}.ndjson"));
    let (fs, processes, hints) = (MemFs::new(), FakeProcesses::new(), Arc::new(HintSet::new(|| {})));
    fs.mkdir("/home/dev/.copilot/session-state");
    fs.connect(Arc::clone(&hints));
    let at = |operation: &Value| operation["t"].as_i64().unwrap();
    let stamps = operations.iter().filter(|operation| operation["op"] == "append").filter_map(|operation| {
        let event: Value = serde_json::from_str(operation["text"].as_str()?.lines().next()?).ok()?;
        Some(Timestamp::parse(event["timestamp"].as_str()?)? - Millis(at(operation)))
    });
    let begin = stamps.max().unwrap();
    let settings = Settings::for_roots(vec![Root::new(Agent::Copilot, "/home/dev/.copilot")]);
    let sources = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(processes.clone()) };
    let mut engine = Engine::new(settings, sources, Outlook::LIVE, begin);
    engine.step(begin, Input::ScanEnded(Vec::new()));
    let (mut page, mut shown, mut now, mut locks) = (String::new(), BTreeMap::new(), begin, Vec::new());
    let mut show = |engine: &Engine, now: Timestamp, page: &mut String| {
        let states = states(engine);
        for (id, state) in states.iter().filter(|(id, state)| shown.get(*id) != Some(*state)) {
            writeln!(page, "{:>6} {id} {state}", now.since(begin).0).unwrap();
        }
        shown = states;
    };
    for operation in &operations {
        let until = begin + Millis(at(operation));
        while let Some(due) = engine.next_deadline().filter(|due| *due <= until) {
            now = now.max(due);
            engine.step(now, Input::Deadline);
            show(&engine, now, &mut page);
        }
        now = until;
        fs.set_now(now);
        let path = PathBuf::from("/home/dev").join(operation["path"].as_str().unwrap_or_default());
        let text = operation["text"].as_str().unwrap_or_default();
        match operation["op"].as_str().unwrap() {
            "append" => fs.append(&path, text.as_bytes()),
            "write" => {
                fs.write(&path, text.as_bytes());
                let pid = text.trim().parse().unwrap();
                let instance = Instance { pid, proc_start: Some("1".into()) };
                processes.set(instance.clone(), Liveness::Alive);
                let file = fs.stat(&path).unwrap().id;
                let holder = LockHolder::Process { instance, age: Millis(500), in_terminal: true };
                processes.set_lock(file, holder);
                locks.push(file);
            }
            "remove" => fs.remove(&path),
            "mark" if text.starts_with("kill -9 [") => {
                writeln!(page, "{:>6} -- {text}", at(operation)).unwrap();
                let pid = text.trim_start_matches("kill -9 [").trim_end_matches(']').parse().unwrap();
                processes.set(Instance { pid, proc_start: Some("1".into()) }, Liveness::Dead);
                locks.iter().for_each(|file| processes.set_lock(*file, LockHolder::Free));
                engine.step(now, Input::ProcessEnded(Some(pid)));
            }
            "mark" => writeln!(page, "{:>6} -- {text}", at(operation)).unwrap(),
            _ => {}
        }
        let told = hints.take();
        if !told.is_empty() {
            engine.step(now, Input::Hints(told));
        }
        show(&engine, now, &mut page);
    }
    page
}

#[test]
fn the_states_of_copilot_by_events_and_locks() {
    for name in RECORDINGS {
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("copilot", page(name));
        });
    }
}

#[test]
fn real_sessions_of_copilot_end_as_their_last_events_say() {
    let mut ends = String::new();
    for name in ["1.0.10", "1.0.70", "1.0.72-1", "1.0.79-9"] {
        let events = lines(&format!("shapes/events-{name}.jsonl"));
        let last =
            events.iter().filter_map(|event| Timestamp::parse(event["timestamp"].as_str()?)).max().unwrap();
        let fs = MemFs::new();
        fs.set_now(last);
        let id = "62fab872-bb5b-4795-a8a2-b874b246eb39";
        let path = format!("/home/dev/.copilot/session-state/{id}/events.jsonl");
        let text: String = events.iter().map(|event| format!("{event}\n")).collect();
        fs.write(path, text.as_bytes());
        let settings = Settings::for_roots(vec![Root::new(Agent::Copilot, "/home/dev/.copilot")]);
        let sources = Sources { fs: Arc::new(fs), processes: Arc::new(FakeProcesses::new()) };
        let mut engine = Engine::new(settings, sources, Outlook::LIVE, last);
        engine.step(last, Input::ScanEnded(Vec::new()));
        engine.step(last, Input::Hints([watchbill_watch::hints::Hint::Everything].into()));
        let row = engine.row(&watchbill_core::ids::SessionId::new(id)).unwrap();
        writeln!(ends, "{name}: {:?} {:?} {:?} {:?}", states(&engine), row.goal, row.model, row.tokens)
            .unwrap();
    }
    insta::assert_snapshot!(ends);
}
