//! Gemini's chats and hooks, as they were recorded, through the engine: the state at each action of the person, with hooks and without.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use watchbill_agents::{Agent, Root};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_drive::fold::HostState;
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_engine::witnesses::own::OwnInput;
use watchbill_protocol::own::event::OwnEvent;
use watchbill_protocol::own::spec::OwnKind;
use watchbill_settings::Settings;
use watchbill_watch::hints::HintSet;
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::{Child, FakeProcesses};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/gemini/recordings");

fn recording(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(FIXTURES).join(format!("{name}.ndjson"))).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn at(line: &Value) -> i64 {
    line["t"].as_i64().unwrap()
}

/// An engine that watches a folder of Claude Code and one of Gemini.
struct Stage {
    fs: MemFs,
    hints: Arc<HintSet>,
    processes: FakeProcesses,
    engine: Engine,
    begin: Timestamp,
    now: Timestamp,
    hooks: u64,
    agent: Option<Instance>,
}

impl Stage {
    fn new(lines: &[Value]) -> Self {
        let (fs, processes) = (MemFs::new(), FakeProcesses::new());
        for folder in [".claude/projects", ".claude/sessions", ".gemini/tmp"] {
            fs.mkdir(Path::new("/home/dev").join(folder));
        }
        let hints = Arc::new(HintSet::new(|| {}));
        fs.connect(Arc::clone(&hints));
        let stamps = lines.iter().filter(|line| line["op"] == "append").filter_map(|line| {
            let record: Value = serde_json::from_str(line["text"].as_str()?.lines().next()?).ok()?;
            Some(Timestamp::parse(record["timestamp"].as_str()?)? - Millis(at(line)))
        });
        let begin = stamps.max().unwrap();
        let roots = [(Agent::Claude, "/home/dev/.claude"), (Agent::Gemini, "/home/dev/.gemini")];
        let settings = Settings::for_roots(roots.map(|(agent, path)| Root::new(agent, path)).to_vec());
        let sources = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(processes.clone()) };
        let mut engine = Engine::new(settings, sources, Outlook::LIVE, begin);
        engine.step(begin, Input::ScanEnded(Vec::new()));
        Self { fs, hints, processes, engine, begin, now: begin, hooks: 0, agent: None }
    }

    /// Lets time pass, deadline by deadline.
    fn run_to(&mut self, until: Timestamp, seen: &mut dyn FnMut(&Engine, i64)) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.engine.step(self.now, Input::Deadline);
            seen(&self.engine, self.now.since(self.begin).0);
        }
        self.now = until;
    }

    fn act(&mut self, line: &Value, hears_hooks: bool) {
        self.fs.set_now(self.now);
        let path = PathBuf::from("/home/dev").join(line["path"].as_str().unwrap_or_default());
        let text = line["text"].as_str().unwrap_or_default();
        match line["op"].as_str().unwrap() {
            "append" => self.fs.append(path, text.as_bytes()),
            "write" => self.fs.write(path, text.as_bytes()),
            "hook" if hears_hooks => {
                // Some parents were not seen. They are those of the hook before.
                let pid = line["parents"][0][0].as_u64().and_then(|pid| u32::try_from(pid).ok());
                let instance = pid.map(|pid| Instance { pid, proc_start: Some("1".into()) });
                if let Some(new) = instance.filter(|instance| self.agent.as_ref() != Some(instance)) {
                    self.processes.set(new.clone(), Liveness::Alive);
                    self.agent = Some(new);
                }
                let message = self.message(&line["payload"], Agent::Gemini);
                self.engine.step(self.now, Input::Hooks(vec![message]));
            }
            "mark" if text.starts_with("kill -9") => {
                let Some(agent) = self.agent.clone() else { return };
                let pid = agent.pid;
                self.processes.set(agent, Liveness::Dead);
                self.engine.step(self.now, Input::ProcessEnded(Some(pid)));
            }
            "proc" => {
                let Some(agent) = &self.agent else { return };
                let pid = u32::try_from(line["pid"].as_u64().unwrap()).unwrap();
                let child = (line["ev"] == "start").then_some(Child { pid, age: Millis(1_000) });
                self.processes.set_children(agent.pid, child.into_iter().collect());
            }
            _ => {}
        }
        let hints = self.hints.take();
        if !hints.is_empty() {
            self.engine.step(self.now, Input::Hints(hints));
        }
    }

    fn message(&mut self, payload: &Value, agent: Agent) -> HookMessage {
        self.hooks += 1;
        let origin = HookOrigin {
            id: format!("recorded-{}", self.hooks).into(),
            at: self.now,
            order: self.hooks,
            agent: self.agent.clone(),
            ancestors: Arc::from([]),
            terminal: None,
        };
        let mut message = HookMessage::new(origin, payload.to_string().as_bytes());
        message.agent = agent;
        message
    }
}

/// `state/kind` of each row, by its id. A `?` marks what is concluded from silence.
fn states(engine: &Engine) -> BTreeMap<String, String> {
    let roster = engine.current(true);
    let rows = roster.rows.iter().map(|row| row.session());
    rows.map(|row| {
        assert_eq!((&*row.agent, row.cwd.as_deref()), ("gemini", Some("/home/dev/work")));
        let kind = row.state_kind.map(|kind| format!("/{}", kind.as_str())).unwrap_or_default();
        let sure = if row.state_reason.confidence.as_str() == "observed" { "" } else { "?" };
        let source = row.state_reason.source.as_str();
        (row.session_id.to_string(), format!("{}{kind}{sure} [{source}]", row.state.as_str()))
    })
    .collect()
}

/// What the person did, and each change of a state. Two minutes pass after the end.
fn page(name: &str, hears_hooks: bool) -> String {
    let lines = recording(name);
    let mut stage = Stage::new(&lines);
    let (mut page, mut shown) = (String::new(), BTreeMap::new());
    let mut seen = |engine: &Engine, t: i64, page: &mut String| {
        let now = states(engine);
        for (id, state) in now.iter().filter(|(id, state)| shown.get(*id) != Some(*state)) {
            writeln!(page, "{t:>6} {id} {state}").unwrap();
        }
        shown = now;
    };
    for line in &lines {
        let until = stage.begin + Millis(at(line));
        stage.run_to(until, &mut |engine, t| seen(engine, t, &mut page));
        if line["op"] == "mark" {
            writeln!(page, "{:>6} -- {}", at(line), line["text"].as_str().unwrap()).unwrap();
        }
        stage.act(line, hears_hooks);
        seen(&stage.engine, at(line), &mut page);
    }
    let end = stage.now + Millis::from_secs(120);
    stage.run_to(end, &mut |engine, t| seen(engine, t, &mut page));
    assert!(stage.engine.current(true).problems.is_empty());
    page
}

#[test]
fn the_states_of_gemini_with_hooks_and_without() {
    for name in [
        "01-approve-deny",
        "03-compress-clear",
        "04-quit-resume",
        "05-kill9-while-tool",
        "06-write-question-subagent",
        "07-nohooks-pending-then-long",
    ] {
        for (suffix, hears_hooks) in [("hooks", true), ("files", false)] {
            insta::with_settings!({ snapshot_suffix => format!("{name}-{suffix}"), prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!("gemini", page(name, hears_hooks));
            });
        }
    }
}

/// The stage at the end of a recording.
fn ended(name: &str) -> Stage {
    let lines = recording(name);
    let mut stage = Stage::new(&lines);
    for line in &lines {
        stage.run_to(stage.begin + Millis(at(line)), &mut |_, _| {});
        stage.act(line, true);
    }
    stage
}

#[test]
fn the_whole_id_resumes_a_session_and_finds_it() {
    let stage = ended("04-quit-resume");
    let whole = "8735a9cf-59ab-4a25-bcde-93b99548b59c";
    for asked in ["8735a9cf", whole] {
        let place = stage.engine.session_location(asked).unwrap();
        assert_eq!((&*place.session, &*place.resume), ("8735a9cf", whole));
    }
    assert!(stage.engine.session_location("8735a9cf-59ab-4a25-bcde-000000000000").is_err());
    let row = stage.engine.row(&SessionId::new("8735a9cf")).unwrap();
    let path = row.transcript_path.as_deref().unwrap();
    assert!(
        path.ends_with("session-2026-11-23T16-29-8735a9cf.jsonl"),
        "not the file that a resume begins: {path}"
    );
}

#[test]
fn a_subagent_and_a_clear_belong_to_their_session() {
    let stage = ended("06-write-question-subagent");
    let row = stage.engine.row(&SessionId::new("b3b8698c")).unwrap();
    assert_eq!((row.subagents.total, row.tokens.map(|tokens| tokens.input)), (1, Some(800)));
    let stage = ended("03-compress-clear");
    let chain = |id: &str| stage.engine.row(&SessionId::new(id)).unwrap().work_chain_id.to_string();
    assert_eq!(chain("82bcb269"), chain("eaf2af3f"));
}

#[test]
fn a_hook_that_was_installed_for_claude_code_makes_no_session() {
    let lines = recording("01-approve-deny");
    let mut stage = Stage::new(&lines);
    for line in lines.iter().filter(|line| line["op"] == "hook") {
        let message = stage.message(&line["payload"], Agent::Claude);
        stage.engine.step(stage.now, Input::Hooks(vec![message]));
    }
    assert_eq!(stage.engine.hooks().sessions().count(), 0);
}

#[test]
fn a_child_that_began_after_the_dialog_says_that_the_call_runs() {
    let mut stage = Stage::new(&recording("05-kill9-while-tool"));
    let before = |line: &Value| !line["text"].as_str().is_some_and(|text| text.starts_with("kill -9"));
    for line in recording("05-kill9-while-tool").iter().take_while(|line| before(line)) {
        stage.run_to(stage.begin + Millis(at(line)), &mut |_, _| {});
        stage.act(line, true);
    }
    assert_eq!(states(&stage.engine)["42075b52"], "waiting_for_approval/permission [hook]");
    // No hook and no line tells of the answer. The children are looked at five seconds after the dialog.
    stage.run_to(stage.begin + Millis(12_500), &mut |_, _| {});
    assert_eq!(states(&stage.engine)["42075b52"], "working [hook]");
}

#[test]
fn a_session_of_our_own_and_its_chat_are_one_row() {
    let whole = "14c59a54-cb06-4496-a11e-6790cf8c8cbf";
    let other = "5e55a000-0000-4000-8000-000000000001";
    // In a terminal, Gemini takes the id that it is given. Over pipes it says which one it has.
    for (kind, own, row) in [(OwnKind::Pty, whole, "14c59a54"), (OwnKind::Stream, other, other)] {
        let lines = recording("01-approve-deny");
        let mut stage = Stage::new(&lines);
        let spec = json!({ "session": own, "agent": "gemini", "kind": kind, "cwd": "/home/dev/work",
            "createdAt": stage.begin.to_string() });
        let spec = Box::new(serde_json::from_value(spec).unwrap());
        stage.engine.step(stage.begin, Input::Own(vec![OwnInput::Found(spec, HostState::Runs)]));
        if kind == OwnKind::Stream {
            let what =
                json!({ "event": "init", "session": whole, "model": "m", "mode": "default", "pid": 7 });
            let what = serde_json::from_value(what).unwrap();
            let event = OwnEvent { n: 0, at: stage.begin.to_string(), what };
            stage.engine.step(stage.begin, Input::Own(vec![OwnInput::Events(own.into(), vec![event])]));
        }
        for line in &lines {
            stage.run_to(stage.begin + Millis(at(line)), &mut |_, _| {});
            stage.act(line, false);
        }
        assert_eq!(states(&stage.engine).into_keys().collect::<Vec<_>>(), [row], "{kind:?}");
        let shown = stage.engine.row(&SessionId::new(row)).unwrap().own.map(|own| own.id.to_string());
        assert_eq!(shown.as_deref(), Some(own));
    }
}
