//! A desk with an engine on it: records and registry files are written, time passes, rows are looked at.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use watchbill_core::attention::{AttentionSettings, Outcome};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::cold::look;
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::input::{Input, Output};
use watchbill_engine::stage::Stage;
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;
use watchbill_watch::hints::Hint;

/// Sessions of the tests.
pub const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";
pub const ROOT: &str = "/home/dev/.claude";
pub const CWD: &str = "/home/dev/work";

/// See the module.
pub struct Desk {
    pub stage: Stage,
    pub engine: Engine,
    pub begin: Timestamp,
    pub now: Timestamp,
    /// `state/kind` of every change that was told as it happened.
    pub told: Vec<String>,
    /// `state/kind` of each row, as it was last looked at.
    states: BTreeMap<String, String>,
    /// What the policy on who needs the person told.
    pub outcomes: Vec<Outcome>,
    settings: Settings,
    outlook: Outlook,
    written: u64,
    started: BTreeMap<u32, Timestamp>,
}

impl Desk {
    /// A desk where every witness counts.
    pub fn live() -> Self {
        Self::with(&[ROOT], Outlook::LIVE)
    }

    /// The person chooses what is told, and the settings are read anew.
    pub fn choose(&mut self, alerts: AttentionSettings) {
        self.settings.alerts.attention = alerts;
        self.step(Input::Settings(Box::new(self.settings.clone())));
    }

    /// A desk where files alone count.
    pub fn files_alone() -> Self {
        Self::with(&[ROOT], Outlook { live: false, until: None })
    }

    pub fn with(roots: &[&str], outlook: Outlook) -> Self {
        let mut desk = Self::asleep(roots, outlook);
        desk.wake();
        desk
    }

    /// A desk whose engine has not looked yet.
    pub fn asleep(roots: &[&str], outlook: Outlook) -> Self {
        let stage = Stage::new(Path::new(roots[0]), || {});
        for root in roots {
            stage.fs.mkdir(Path::new(root).join("projects"));
            stage.fs.mkdir(Path::new(root).join("sessions"));
        }
        let settings = Settings::for_roots(roots.iter().map(PathBuf::from).collect());
        let begin = Timestamp::parse("2026-11-20T12:00:00.000Z").unwrap();
        stage.fs.set_now(begin);
        let engine = Engine::new(settings.clone(), stage.world(), outlook, begin);
        Self {
            stage,
            engine,
            begin,
            now: begin,
            told: Vec::new(),
            states: BTreeMap::new(),
            outcomes: Vec::new(),
            settings,
            outlook,
            written: 0,
            started: BTreeMap::new(),
        }
    }

    /// The first look at everything that was written so far, as a start of the program has it.
    pub fn wake(&mut self) {
        self.engine = self.cold();
        self.states = states(&self.engine);
        self.stage.hints.take();
    }

    /// What somebody finds who comes only now.
    pub fn cold(&self) -> Engine {
        look(self.settings.clone(), self.stage.world(), self.outlook, &ManualClock::new(self.now))
    }

    /// It is `secs` after the beginning now; everything that is due until then happens at its own time.
    pub fn at(&mut self, secs: f64) -> &mut Self {
        let until = self.begin + Millis((secs * 1000.0) as i64);
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.step(Input::Deadline);
        }
        self.now = until;
        self.stage.fs.set_now(until);
        self
    }

    pub fn step(&mut self, input: Input) {
        let out = self.engine.step(self.now, input);
        let before = std::mem::replace(&mut self.states, states(&self.engine));
        let told = self.states.iter().filter(|(session, state)| before.get(*session) != Some(state));
        self.told.extend(told.map(|(_, state)| state.clone()));
        for output in out {
            match output {
                Output::Attention(outcome) => self.outcomes.push(outcome),
                Output::Again(paths) => self.step(Input::Hints(paths.into_iter().map(Hint::File).collect())),
                _ => {}
            }
        }
    }

    /// The engine hears of everything that was written.
    pub fn hear(&mut self) {
        let hints = self.stage.hints.take();
        if !hints.is_empty() {
            self.step(Input::Hints(hints));
        }
    }

    pub fn transcript(session: &str) -> PathBuf {
        Path::new(ROOT).join("projects/-home-dev-work").join(format!("{session}.jsonl"))
    }

    /// Bytes as they are, and the engine hears of them.
    pub fn append(&mut self, path: &Path, bytes: &[u8]) -> &mut Self {
        self.stage.fs.append(path, bytes);
        self.hear();
        self
    }

    /// A record's line with everything that the client writes around it, and the time it is now.
    pub fn line(&mut self, session: &str, mut record: Value) -> String {
        self.written += 1;
        let fields = record.as_object_mut().unwrap();
        let mut fill = |key: &str, value: Value| {
            fields.entry(key).or_insert(value);
        };
        fill("uuid", json!(format!("00000000-0000-4000-8000-{:012}", self.written)));
        fill("timestamp", json!(self.now.to_string()));
        fill("sessionId", json!(session));
        fill("cwd", json!(CWD));
        fill("version", json!("2.1.329"));
        fill("entrypoint", json!("cli"));
        format!("{record}\n")
    }

    /// Appends one record to a session's transcript.
    pub fn say(&mut self, session: &str, record: Value) -> &mut Self {
        self.say_all(session, [record])
    }

    /// Appends several records in one write.
    pub fn say_all(&mut self, session: &str, records: impl IntoIterator<Item = Value>) -> &mut Self {
        let lines: String = records.into_iter().map(|record| self.line(session, record)).collect();
        self.append(&Self::transcript(session), lines.as_bytes())
    }

    /// Process `pid` says `status` (`waiting:<for what>` for a wait) of `session`; it runs from its first word on.
    pub fn registry(&mut self, pid: u32, session: &str, status: &str) -> &mut Self {
        let instance = Instance { pid, proc_start: Some(format!("{pid}00").into()) };
        self.stage.processes.set(instance, Liveness::Alive);
        let (status, what) = status.split_once(':').unwrap_or((status, ""));
        let started = *self.started.entry(pid).or_insert(self.now - Millis(10));
        let mut entry = json!({
            "pid": pid, "procStart": format!("{pid}00"), "sessionId": session, "cwd": CWD,
            "startedAt": started.as_millis(), "version": "2.1.329",
            "kind": "interactive", "entrypoint": "cli",
            "status": status, "updatedAt": self.now.as_millis(), "statusUpdatedAt": self.now.as_millis(),
        });
        if !what.is_empty() {
            entry["waitingFor"] = json!(what);
        }
        self.registry_text(pid, &entry.to_string())
    }

    pub fn registry_path(pid: u32) -> PathBuf {
        Path::new(ROOT).join(format!("sessions/{pid}.json"))
    }

    /// A registry file with exactly this in it.
    pub fn registry_text(&mut self, pid: u32, text: &str) -> &mut Self {
        self.stage.fs.write(Self::registry_path(pid), text.as_bytes());
        self.hear();
        self
    }

    /// Process `pid` is gone; its file stays.
    pub fn kill(&mut self, pid: u32) -> &mut Self {
        let instance = Instance { pid, proc_start: Some(format!("{pid}00").into()) };
        self.stage.processes.set(instance, Liveness::Dead);
        self.step(Input::ProcessEnded(Some(pid)));
        self
    }

    /// Process `pid` ends in order.
    pub fn leave(&mut self, pid: u32) -> &mut Self {
        self.stage.fs.remove(Self::registry_path(pid));
        self.hear();
        self.kill(pid)
    }

    /// A hook of the agent with process `pid` fires now. `payload` needs no more than the event's own fields.
    pub fn hook(&mut self, pid: u32, session: &str, payload: Value) -> &mut Self {
        let message = self.hook_message(pid, session, payload);
        self.step(Input::Hooks(vec![message]));
        self
    }

    /// The same, not handed over yet.
    pub fn hook_message(&mut self, pid: u32, session: &str, mut payload: Value) -> HookMessage {
        self.written += 1;
        let fields = payload.as_object_mut().unwrap();
        let mut fill = |key: &str, value: Value| {
            fields.entry(key).or_insert(value);
        };
        fill("session_id", json!(session));
        fill("transcript_path", json!(Self::transcript(session)));
        fill("cwd", json!(CWD));
        let origin = HookOrigin {
            id: format!("hook-{}", self.written).into(),
            at: self.now,
            order: self.written,
            agent: Some(Instance { pid, proc_start: Some(format!("{pid}00").into()) }),
            ancestors: [pid, 1].into(),
            terminal: None,
        };
        HookMessage::new(origin, payload.to_string().into_bytes())
    }

    /// Process `pid` runs, and no registry file tells of it.
    pub fn run(&mut self, pid: u32) -> &mut Self {
        let instance = Instance { pid, proc_start: Some(format!("{pid}00").into()) };
        self.stage.processes.set(instance, Liveness::Alive);
        self
    }

    /// A file in the `.claude` of the working folder, as it is.
    pub fn in_folder(&mut self, name: &str, text: &str) -> &mut Self {
        self.stage.fs.write(Path::new(CWD).join(".claude").join(name), text.as_bytes());
        self.hear();
        self
    }

    pub fn row(&self, session: &str) -> TrackedSession {
        row_of(&self.engine, session).unwrap_or_else(|| panic!("no row for {session}"))
    }

    /// `state/kind` of a row; empty where there is none.
    pub fn state(&self, session: &str) -> String {
        state_of(&self.engine, session)
    }

    /// Kind and count of every problem.
    pub fn problems(&self) -> Vec<(String, u64)> {
        self.engine
            .current(true)
            .problems
            .iter()
            .map(|problem| (problem.kind.clone(), problem.count))
            .collect()
    }
}

pub fn row_of(engine: &Engine, session: &str) -> Option<TrackedSession> {
    let mut rows = engine.current(true).rows.iter();
    rows.find(|row| row.session().session_id == session).map(|row| row.session())
}

pub fn state_of(engine: &Engine, session: &str) -> String {
    row_of(engine, session).map_or(String::new(), |row| {
        let kind = row.state_kind.map(|kind| format!("/{kind}")).unwrap_or_default();
        format!("{}{kind}", row.state)
    })
}

/// A hook event without a call.
pub fn event(name: &str) -> Value {
    json!({"hook_event_name": name})
}

/// A hook event about a call.
pub fn tool_event(name: &str, tool: &str, input: Value, id: &str) -> Value {
    json!({"hook_event_name": name, "tool_name": tool, "tool_input": input, "tool_use_id": id})
}

pub fn prompt(text: &str) -> Value {
    json!({"type": "user", "promptSource": "typed", "origin": {"kind": "human"}, "permissionMode": "default",
        "message": {"role": "user", "content": text}})
}

fn assistant(block: Value, stop: &str, id: &str) -> Value {
    json!({"type": "assistant", "requestId": format!("req_{id}"), "message": {
        "id": format!("msg_{id}"), "role": "assistant", "model": "claude-x", "content": [block], "stop_reason": stop,
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0}}})
}

pub fn call(id: &str, tool: &str, input: Value) -> Value {
    assistant(json!({"type": "tool_use", "id": id, "name": tool, "input": input}), "tool_use", id)
}

pub fn bash(id: &str, command: &str) -> Value {
    call(id, "Bash", json!({"command": command}))
}

pub fn result(id: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false}]}})
}

pub fn answer(text: &str) -> Value {
    assistant(json!({"type": "text", "text": text}), "end_turn", text)
}

pub fn turn_over() -> Value {
    json!({"type": "system", "subtype": "turn_duration", "durationMs": 1000})
}

pub fn interrupt() -> Value {
    json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "text", "text": "[Request interrupted by user for tool use]"}]}})
}

/// A record without a time, as the client writes its modes and titles.
pub fn timeless(mut record: Value) -> Value {
    record["timestamp"] = Value::Null;
    record["uuid"] = Value::Null;
    record
}

/// `state/kind` of every row that there is, by session.
fn states(engine: &Engine) -> BTreeMap<String, String> {
    let state = |row: &TrackedSession| {
        let kind = row.state_kind.as_ref().map(|kind| format!("/{kind}")).unwrap_or_default();
        (row.session_id.clone(), format!("{}{kind}", row.state))
    };
    engine.current(true).rows.iter().map(|row| state(&row.session())).collect()
}
