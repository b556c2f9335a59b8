//! Sessions of agents as they were recorded, through the engine: the state at each action of the person. Of most only files are read;
//! where an extension told something, that comes too.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use watchbill_agents::{Agent, Root, traits};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_settings::Settings;
use watchbill_watch::hints::{Hint, HintSet};
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::FakeProcesses;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
const HOME: &str = "/home/dev";

fn operations(agent: Agent, name: &str) -> Vec<Value> {
    let path = |kind: &str| format!("{FIXTURES}/{}/{kind}/{name}.ndjson", agent.as_str());
    let mut text = std::fs::read_to_string(path("recordings")).unwrap();
    // What the extension told, if there was one.
    text += &std::fs::read_to_string(path("payloads")).unwrap_or_default();
    let mut operations: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    operations.sort_by_key(|operation| operation["t"].as_i64());
    operations
}

/// The process of the agent, if this operation is its start.
fn process(agent: Agent, operation: &Value) -> Option<Instance> {
    let is_agent = operation["ev"] == "exec" && operation["argv"][0] == traits(agent).program;
    let pid = u32::try_from(operation["pid"].as_u64()?).ok()?;
    is_agent.then(|| Instance { pid, proc_start: operation["start"].as_str().map(Into::into) })
}

fn told(agent: Agent, n: usize, at: Timestamp, process: &Option<Instance>, payload: &Value) -> Input {
    let origin = HookOrigin {
        id: format!("told-{n}").into(),
        at,
        order: n as u64,
        agent: process.clone(),
        ancestors: Arc::from([]),
        terminal: None,
    };
    let mut message = HookMessage::new(origin, payload.to_string().as_bytes());
    message.agent = agent;
    Input::Hooks(vec![message])
}

/// The time of a line, in the words of any of these agents.
fn time_of(line: &str) -> Option<Timestamp> {
    let line: Value = serde_json::from_str(line).ok()?;
    let millis = line["time"].as_i64().or(line["params"]["_meta"]["agentTimestampMs"].as_i64());
    let text = || Timestamp::parse(line["timestamp"].as_str().or(line["ts"].as_str())?);
    millis.map(Timestamp::from_millis).or_else(text)
}

/// Each session: its state, what it asks, its subagents and its tokens.
fn sessions(engine: &Engine, agent: Agent) -> BTreeMap<String, String> {
    let roster = engine.current(true);
    assert!(roster.problems.is_empty(), "{:?}", roster.problems);
    let rows = roster.rows.iter().map(|row| row.session());
    rows.map(|row| {
        assert_eq!(&*row.agent, agent.as_str());
        let kind = row.state_kind.map(|kind| format!("/{}", kind.as_str())).unwrap_or_default();
        let sure = if row.state_reason.confidence.as_str() == "observed" { "" } else { "?" };
        let mut shown = format!("{}{kind}{sure}", row.state.as_str());
        for call in row.pending_tools.iter().filter(|_| row.state.as_str() == "waiting_for_approval") {
            write!(shown, " {} [{}]", call.tool, call.target).unwrap();
        }
        if let Some(subagents) = &row.subagents {
            write!(shown, ", subagents {} of {}", subagents.running, subagents.total).unwrap();
        }
        let id = row.session_id.as_str();
        (id[id.len() - 4..].to_owned(), shown)
    })
    .collect()
}

/// What the rows say in the end.
fn ends(engine: &Engine) -> String {
    let mut ends = String::new();
    for row in engine.current(true).rows {
        let row = row.session();
        writeln!(ends, "{} {:?} {:?} {:?}", row.session_id, row.title, row.goal, row.cwd).unwrap();
        writeln!(ends, "  {:?} {:?}", row.model, row.tokens).unwrap();
    }
    ends
}

/// What the person did, and each change of a state.
fn page(agent: Agent, name: &str) -> String {
    let operations = operations(agent, name);
    let (fs, hints) = (MemFs::new(), Arc::new(HintSet::new(|| {})));
    let root = Root::new(agent, Path::new(HOME).join(traits(agent).folder));
    root.folders().iter().for_each(|folder| fs.mkdir(root.join(folder.name)));
    fs.connect(Arc::clone(&hints));
    let at = |operation: &Value| operation["t"].as_i64().unwrap();
    let stamps = operations.iter().filter(|operation| operation["op"] == "append").filter_map(|operation| {
        let times = operation["text"].as_str()?.lines().filter_map(time_of);
        Some(times.max()? - Millis(at(operation)))
    });
    let begin = stamps.max().unwrap();
    let (processes, mut running) = (FakeProcesses::new(), None);
    let sources = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(processes.clone()) };
    let settings = Settings::for_roots(vec![root]);
    let mut engine = Engine::new(settings.clone(), sources, Outlook::LIVE, begin);
    engine.step(begin, Input::ScanEnded(Vec::new()));
    let (mut page, mut shown, mut now) = (String::new(), BTreeMap::new(), begin);
    let mut show = |engine: &Engine, now: Timestamp, page: &mut String| {
        let states = sessions(engine, agent);
        for (id, state) in states.iter().filter(|(id, state)| shown.get(*id) != Some(*state)) {
            writeln!(page, "{:>6} {id} {state}", now.since(begin).0).unwrap();
        }
        shown = states;
    };
    for (n, operation) in operations.iter().enumerate() {
        let until = begin + Millis(at(operation));
        while let Some(due) = engine.next_deadline().filter(|due| *due <= until) {
            now = now.max(due);
            engine.step(now, Input::Deadline);
            show(&engine, now, &mut page);
        }
        now = until;
        fs.set_now(now);
        let path = PathBuf::from(HOME).join(operation["path"].as_str().unwrap_or_default());
        let text = operation["text"].as_str().unwrap_or_default();
        match operation["op"].as_str().unwrap_or("told") {
            "append" => fs.append(&path, text.as_bytes()),
            "write" => fs.write(&path, text.as_bytes()),
            "remove" => fs.remove(&path),
            "mark" => writeln!(page, "{:>6} -- {text}", at(operation)).unwrap(),
            "told" => drop(engine.step(now, told(agent, n, now, &running, &operation["payload"]))),
            "proc" => {
                if let Some(new) = process(agent, operation) {
                    processes.set(new.clone(), Liveness::Alive);
                    running = Some(new);
                }
                let ended = matches!(operation["ev"].as_str(), Some("exit" | "zombie"));
                if let Some(dead) = running.take_if(|process| ended && operation["pid"] == process.pid) {
                    let pid = dead.pid;
                    processes.set(dead, Liveness::Dead);
                    engine.step(now, Input::ProcessEnded(Some(pid)));
                }
            }
            _ => {}
        }
        let told = hints.take();
        if !told.is_empty() {
            engine.step(now, Input::Hints(told));
        }
        show(&engine, now, &mut page);
    }
    page += &ends(&engine);
    // One look at the files as they are in the end says the same.
    let fresh = Sources { fs: Arc::new(fs), processes: Arc::new(FakeProcesses::new()) };
    let mut fresh = Engine::new(settings, fresh, Outlook::LIVE, now);
    fresh.step(now, Input::ScanEnded(Vec::new()));
    fresh.step(now, Input::Hints([Hint::Everything].into()));
    if operations.iter().all(|operation| operation["payload"].is_null()) {
        assert_eq!(sessions(&fresh, agent), sessions(&engine, agent), "{name}");
    }
    assert_eq!(ends(&fresh), ends(&engine), "{name}");
    page
}

fn check(agent: Agent, names: &[&str]) {
    for name in names {
        insta::with_settings!({ snapshot_suffix => *name, prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(agent.as_str(), page(agent, name));
        });
    }
}

#[test]
fn the_states_of_kimi() {
    check(
        Agent::Kimi,
        &["01-approve-deny-question", "03-compact-resume-new-fork", "04-kill9-while-tool", "06-subagent"],
    );
}

#[test]
fn the_states_of_grok() {
    check(
        Agent::Grok,
        &[
            "01-approve-deny",
            "02-interrupts-fail",
            "04-kill9-while-tool",
            "06-claude-hooks-subagent",
            "07-autoallowed-background-turn",
        ],
    );
}

#[test]
fn the_states_of_droid() {
    check(
        Agent::Droid,
        &[
            "01-approve-deny",
            "03-compress-resume-clear-fork",
            "04-kill9-while-tool",
            "05-nohooks-pending-then-long",
        ],
    );
}

#[test]
fn the_states_of_qwen() {
    check(
        Agent::Qwen,
        &[
            "01-approve-deny-question",
            "03-compress-resume-clear-fork",
            "04-kill9-while-tool",
            "06-subagent-write",
        ],
    );
}

/// The last one has no extension.
#[test]
fn the_states_of_pi() {
    check(
        Agent::Pi,
        &[
            "01-gate-approve-deny",
            "03-compact-resume-new-fork",
            "04-kill9-while-tool",
            "05-nohooks-long-tool",
        ],
    );
}

/// Grok was killed while it asked, and a day went by.
#[test]
fn a_request_of_a_killed_process_is_over_after_a_day() {
    let folder = format!("{HOME}/.grok/sessions/w/01a21b8d-6580-7eb0-8f9c-ca68821bc48d");
    let fs = MemFs::new();
    let asked = Timestamp::parse("2026-11-27T05:49:47.156Z").unwrap();
    fs.set_now(asked);
    let prompt = serde_json::json!({ "method": "session/update", "params": {
        "_meta": { "eventId": "e1", "agentTimestampMs": asked.as_millis() - 900 },
        "update": { "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "go" } } } });
    fs.write(format!("{folder}/updates.jsonl"), format!("{prompt}\n").as_bytes());
    let request = r#"{"ts":"2026-11-27T05:49:47.156Z","type":"permission_requested","tool_name":"run_terminal_command"}"#;
    fs.write(format!("{folder}/events.jsonl"), format!("{request}\n").as_bytes());
    let state = |later: Millis| {
        let now = asked + later;
        let settings = Settings::for_roots(vec![Root::new(Agent::Grok, format!("{HOME}/.grok"))]);
        let sources = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(FakeProcesses::new()) };
        let mut engine = Engine::new(settings, sources, Outlook::LIVE, now);
        engine.step(now, Input::ScanEnded(Vec::new()));
        engine.step(now, Input::Hints([Hint::Everything].into()));
        engine
            .current(true)
            .rows
            .iter()
            .map(|row| row.session().state.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(state(Millis::from_secs(3600)), ["waiting_for_approval"]);
    assert_ne!(state(Millis::from_secs(25 * 3600)), ["waiting_for_approval"]);
}
