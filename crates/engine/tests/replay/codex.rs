//! Codex's hooks and rollouts, as they were recorded, through the engine: the state at each action of the person.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use watchbill_agents::{Agent, Root};
use watchbill_core::hook::{HookMessage, HookOrigin, TerminalContext};
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_settings::Settings;
use watchbill_watch::hints::HintSet;
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::FakeProcesses;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
const RECORDINGS: [&str; 9] = [
    "01-approve-deny",
    "03-compact-manual-auto",
    "04-quit-resume-fork-new",
    "08-nohooks-pending-then-long",
    "09-exec-and-failures",
    "11-patch-approval",
    "12-subagent",
    "13-question",
    "16-hooks-not-trusted",
];

fn recording(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(FIXTURES).join(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn at(line: &Value) -> i64 {
    line["t"].as_i64().unwrap()
}

/// An engine that watches a folder of Claude Code and one of Codex.
struct Stage {
    fs: MemFs,
    hints: Arc<HintSet>,
    engine: Engine,
    begin: Timestamp,
    now: Timestamp,
    hooks: u64,
}

impl Stage {
    fn new(lines: &[Value]) -> Self {
        let fs = MemFs::new();
        for folder in [".claude/projects", ".claude/sessions", ".codex/sessions"] {
            fs.mkdir(Path::new("/home/dev").join(folder));
        }
        let hints = Arc::new(HintSet::new(|| {}));
        fs.connect(Arc::clone(&hints));
        // Records are written after their own times, so the latest guess of the start is the best one.
        let stamps = lines.iter().filter(|line| line["op"] == "append").filter_map(|line| {
            let record: Value = serde_json::from_str(line["text"].as_str()?.lines().next()?).ok()?;
            Some(Timestamp::parse(record["timestamp"].as_str()?)? - Millis(at(line)))
        });
        let begin = stamps.max().unwrap_or(Timestamp::from_millis(1_795_450_682_000));
        let roots = [(Agent::Claude, "/home/dev/.claude"), (Agent::Codex, "/home/dev/.codex")];
        let settings = Settings::for_roots(roots.map(|(agent, path)| Root::new(agent, path)).to_vec());
        let sources = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(FakeProcesses::new()) };
        let mut engine = Engine::new(settings, sources, Outlook::LIVE, begin);
        engine.step(begin, Input::ScanEnded(Vec::new()));
        Self { fs, hints, engine, begin, now: begin, hooks: 0 }
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

    fn act(&mut self, line: &Value) {
        self.fs.set_now(self.now);
        let path = PathBuf::from("/home/dev").join(line["path"].as_str().unwrap_or_default());
        let text = line["text"].as_str().unwrap_or_default();
        match line["op"].as_str().unwrap() {
            // The recordings do not say who holds a lock, so hooks and rollouts are all that is heard here.
            "append" | "write" if path.to_string_lossy().contains("thread-writer-locks") => {}
            "append" => self.fs.append(path, text.as_bytes()),
            "write" => self.fs.write(path, text.as_bytes()),
            "remove" => self.fs.remove(path),
            // `notify` gives its words as an argument, so the sender sends none of them.
            "hook" if line["arg"] != "notify" => {
                let message = self.message(line["payload"].to_string(), Agent::Codex);
                self.engine.step(self.now, Input::Hooks(vec![message]));
            }
            _ => {}
        }
        let hints = self.hints.take();
        if !hints.is_empty() {
            self.engine.step(self.now, Input::Hints(hints));
        }
    }

    fn message(&mut self, payload: String, agent: Agent) -> HookMessage {
        self.hooks += 1;
        let origin = HookOrigin {
            id: format!("recorded-{}", self.hooks).into(),
            at: self.now,
            order: self.hooks,
            agent: None,
            ancestors: Arc::from([]),
            terminal: None,
        };
        let mut message = HookMessage::new(origin, payload.as_bytes());
        message.agent = agent;
        message
    }
}

/// `state/kind` of each row, by the end of its id. A `?` marks what is concluded from silence.
fn states(engine: &Engine) -> BTreeMap<String, String> {
    let roster = engine.current(true);
    let rows = roster.rows.iter().map(|row| row.session());
    rows.map(|row| {
        assert_eq!((&*row.agent, row.terminal.is_none(), row.pid), ("codex", true, None));
        let id = row.session_id.as_str();
        let kind = row.state_kind.map(|kind| format!("/{}", kind.as_str())).unwrap_or_default();
        let sure = if row.state_reason.confidence.as_str() == "observed" { "" } else { "?" };
        let source = row.state_reason.source.as_str();
        (id[id.len() - 4..].to_owned(), format!("{}{kind}{sure} [{source}]", row.state.as_str()))
    })
    .collect()
}

/// What the person did, and each change of a state.
fn page(name: &str) -> String {
    let lines = recording(&format!("codex/recordings/{name}.ndjson"));
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
        stage.act(line);
        seen(&stage.engine, at(line), &mut page);
    }
    assert!(stage.engine.current(true).problems.is_empty());
    page
}

#[test]
fn the_states_of_codex_by_hooks_and_rollouts() {
    for name in RECORDINGS {
        insta::with_settings!({ snapshot_suffix => name, prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("codex", page(name));
        });
    }
}

#[test]
fn hooks_of_one_agent_make_no_session_of_another_and_move_none() {
    let lines = recording("codex/recordings/01-approve-deny.ndjson");
    let mut stage = Stage::new(&lines);
    let event = |name: &str, path: Value| {
        serde_json::json!({ "session_id": "01a20933-43e5-74e3-bb5f-fb0306996763", "hook_event_name": name, "transcript_path": path })
            .to_string()
    };
    // A hook that was installed for Claude Code hears a session of Codex.
    for line in lines.iter().filter(|line| line["op"] == "hook" && line["arg"] != "notify") {
        let message = stage.message(line["payload"].to_string(), Agent::Claude);
        stage.engine.step(stage.now, Input::Hooks(vec![message]));
    }
    assert_eq!(stage.engine.hooks().sessions().count(), 0);
    for line in lines.iter().take_while(|line| line["op"] != "hook") {
        stage.run_to(stage.begin + Millis(at(line)), &mut |_, _| {});
        stage.act(line);
    }
    let before = states(&stage.engine);
    assert_eq!(before["6763"], "working [transcript]");
    for (name, path) in [("Stop", Value::Null), ("SessionEnd", Value::Null)] {
        let message = stage.message(event(name, path), Agent::Claude);
        stage.engine.step(stage.now, Input::Hooks(vec![message]));
    }
    assert_eq!(states(&stage.engine), before, "the file says whose session it is");
    assert!(stage.engine.current(true).problems.is_empty());
}

/// Copilot runs the hooks of a project's `.claude/settings.json`, Grok those of the user too.
#[test]
fn hooks_of_claude_code_that_other_agents_run_make_no_session() {
    make_no_session("copilot/recordings/08-claudes-hooks-run.ndjson", 2);
    make_no_session("grok/recordings/06-claude-hooks-subagent.ndjson", 36);
}

fn make_no_session(name: &str, wanted: usize) {
    let lines = recording(name);
    let mut stage = Stage::new(&[]);
    let with_path = lines.iter().filter(|line| line["payload"]["transcript_path"].is_string());
    let mut count = 0;
    for line in with_path {
        let mut message = stage.message(line["payload"].to_string(), Agent::Claude);
        message.origin.agent = Some(Instance { pid: 22366, proc_start: None });
        message.origin.terminal = Some(TerminalContext::of_tmux(&"a:@0.%0".into()));
        stage.engine.step(stage.now, Input::Hooks(vec![message]));
        count += 1;
    }
    assert_eq!(count, wanted, "{name} has them");
    assert_eq!(stage.engine.hooks().sessions().count(), 0);
    assert!(stage.engine.current(true).problems.is_empty());
}
