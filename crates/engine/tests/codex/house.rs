//! An engine on files in memory, with stand-ins for the processes of Codex and for the word of its server.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use watchbill_agents::traits::ServerSaid;
use watchbill_agents::{Agent, Root};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::row::Row;
use watchbill_core::session::state::Confidence;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::{Input, ServerNews, ServerWord};
use watchbill_settings::Settings;
use watchbill_watch::fs::Fs;
use watchbill_watch::hints::{Hint, HintSet};
use watchbill_watch::mem::MemFs;
use watchbill_watch::process::{Child, FakeProcesses, LockHolder};

pub const HOME: &str = "/home/dev";
pub const ROOT: &str = "/home/dev/.codex";

/// The witnesses beside the rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witnesses {
    None,
    Locks,
    /// The server's word too.
    Server,
}

/// The stage, the engine and the time.
pub struct House {
    pub fs: MemFs,
    pub processes: FakeProcesses,
    pub hints: Arc<HintSet>,
    pub engine: Engine,
    pub now: Timestamp,
    /// The running tools: the child of their agent, and when it began.
    tools: BTreeMap<u32, (u32, Timestamp)>,
    /// How many hooks have fired.
    hooks: u64,
}

impl House {
    /// Without `locks`, the client keeps none: it is an old one.
    pub fn new(now: Timestamp, locks: bool) -> Self {
        let fs = MemFs::new();
        fs.set_now(now);
        fs.mkdir(Path::new(ROOT).join("sessions"));
        if locks {
            fs.mkdir(Path::new(ROOT).join("thread-writer-locks"));
        }
        let hints = Arc::new(HintSet::new(|| {}));
        fs.connect(Arc::clone(&hints));
        let processes = FakeProcesses::new();
        let engine = Self::engine(&fs, &processes, now, |_| {});
        Self { fs, processes, hints, engine, now, tools: BTreeMap::new(), hooks: 0 }
    }

    fn engine(
        fs: &MemFs,
        processes: &FakeProcesses,
        now: Timestamp,
        prepare: impl FnOnce(&mut Engine),
    ) -> Engine {
        let world = Sources { fs: Arc::new(fs.clone()), processes: Arc::new(processes.clone()) };
        let settings = Settings::for_roots(vec![Self::root()]);
        let mut engine = Engine::new(settings, world, Outlook::LIVE, now);
        prepare(&mut engine);
        engine.read_registries(&mut Vec::new());
        engine.step(now, Input::ScanEnded(Vec::new()));
        engine.step(now, Input::Hints([Hint::Everything].into()));
        engine
    }

    pub fn root() -> Root {
        Root::new(Agent::Codex, ROOT)
    }

    /// Another program begins to look at the same files.
    pub fn restart(&mut self) {
        self.start_with(|_| {});
    }

    /// The same with an engine that knows something already.
    pub fn start_with(&mut self, prepare: impl FnOnce(&mut Engine)) {
        self.engine = Self::engine(&self.fs, &self.processes, self.now, prepare);
    }

    pub fn instance(pid: u32) -> Instance {
        Instance { pid, proc_start: Some("1".into()) }
    }

    pub fn lock_path(session: &str) -> PathBuf {
        Path::new(ROOT).join(format!("thread-writer-locks/{session}.lock"))
    }

    /// A process locks the file of a session, or lets it go.
    pub fn lock(&mut self, session: &str, pid: Option<u32>, in_terminal: bool) {
        let file = self.fs.stat(&Self::lock_path(session)).unwrap().id;
        let holder = pid.map_or(LockHolder::Free, |pid| {
            self.processes.set(Self::instance(pid), Liveness::Alive);
            LockHolder::Process { instance: Self::instance(pid), age: Millis(500), in_terminal }
        });
        self.processes.set_lock(file, holder);
    }

    /// A process ends; the system frees its locks.
    pub fn kill(&mut self, pid: u32, sessions: &[&str]) {
        self.processes.set(Self::instance(pid), Liveness::Dead);
        for session in sessions {
            if self.fs.stat(&Self::lock_path(session)).is_ok() {
                self.lock(session, None, false);
            }
        }
        self.step(Input::ProcessEnded(Some(pid)));
    }

    /// A tool begins or ends. Its helper is the child of the agent.
    pub fn tool(&mut self, pid: u32, agent: Option<u32>) {
        match agent {
            Some(agent) => _ = self.tools.insert(pid, (agent, self.now)),
            None => _ = self.tools.remove(&pid),
        }
    }

    fn age_tools(&self, agent: u32) {
        let mine = self.tools.iter().filter(|(_, (of, _))| *of == agent);
        let children = mine.map(|(pid, (_, began))| Child { pid: *pid, age: self.now.since(*began) });
        self.processes.set_children(agent, children.collect());
    }

    pub fn step(&mut self, input: Input) {
        self.tools.values().for_each(|(agent, _)| self.age_tools(*agent));
        self.fs.set_now(self.now);
        self.engine.step(self.now, input);
    }

    /// Passes the changes of files on.
    pub fn tell(&mut self) {
        let hints = self.hints.take();
        if !hints.is_empty() {
            self.step(Input::Hints(hints));
        }
    }

    /// Lets time pass, each deadline at its own time.
    pub fn run_to(&mut self, until: Timestamp) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.step(Input::Deadline);
        }
        self.now = self.now.max(until);
    }

    pub fn wait(&mut self, seconds: i64) {
        self.run_to(self.now + Millis::from_secs(seconds));
    }

    /// A message of the server.
    pub fn server(&mut self, message: &str) {
        let read = Self::root().server().unwrap().read;
        let word = match read(message.as_bytes()) {
            Some(ServerSaid::News(statuses) | ServerSaid::Answer { statuses, .. }) => {
                ServerWord::Statuses(statuses)
            }
            Some(ServerSaid::Busy) | None => ServerWord::NotUnderstood,
        };
        self.step(Input::Server(ServerNews { root: Self::root(), word }));
    }

    /// The server's push of a status, in its own words.
    pub fn push(&mut self, session: &str, status: &str) {
        let status: Value = match status {
            "idle" | "notLoaded" | "systemError" => serde_json::json!({"type": status}),
            flags => {
                let flags: Vec<&str> = flags.split_whitespace().collect();
                serde_json::json!({"type": "active", "activeFlags": flags})
            }
        };
        let params = serde_json::json!({"threadId": session, "status": status});
        self.server(&serde_json::json!({"method": "thread/status/changed", "params": params}).to_string());
    }

    /// A hook of a session fires, with these fields beside the usual ones.
    pub fn hook(&mut self, session: &str, event: &str, fields: &[(&str, &str)]) {
        let mut payload =
            serde_json::json!({"session_id": session, "hook_event_name": event, "cwd": "/home/dev/work"});
        for (name, value) in fields {
            payload[*name] = serde_json::from_str(value).unwrap_or_else(|_| (*value).into());
        }
        self.hooks += 1;
        let origin = HookOrigin {
            id: format!("made-{}", self.hooks).into(),
            at: self.now,
            order: self.hooks,
            agent: None,
            ancestors: Arc::from([]),
            terminal: None,
        };
        let mut message = HookMessage::new(origin, payload.to_string().as_bytes());
        message.agent = Agent::Codex;
        self.step(Input::Hooks(vec![message]));
    }

    pub fn server_gone(&mut self) {
        self.step(Input::Server(ServerNews { root: Self::root(), word: ServerWord::Gone }));
    }

    pub fn row(&self, session: &str) -> Option<Row> {
        self.engine.row(&SessionId::new(session))
    }

    /// `state/kind`, with `?` if it is inferred.
    pub fn state(&self, session: &str) -> String {
        let Some(row) = self.row(session) else { return "-".into() };
        let kind = row.state_kind.map_or(String::new(), |kind| format!("/{}", kind.as_str()));
        let sure = row.state_reason.confidence == Confidence::Observed;
        format!("{}{kind}{}", row.state.as_str(), if sure { "" } else { "?" })
    }
}

/// One line of a recording.
pub struct Operation {
    pub at: Timestamp,
    pub op: String,
    pub line: Value,
}

impl Operation {
    pub fn word(&self, name: &str) -> &str {
        self.line[name].as_str().unwrap_or_default()
    }

    pub fn pid(&self, name: &str) -> u32 {
        u32::try_from(self.line[name].as_u64().unwrap()).unwrap()
    }
}

/// The operations of a recording. The recorder sees a record after the client has stamped it.
pub fn recording(name: &str) -> Vec<Operation> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/codex/recordings");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ndjson"))).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let t = |line: &Value| Millis(line["t"].as_i64().unwrap());
    let stamps = lines.iter().filter(|line| line["op"] == "append").flat_map(|line| {
        let records = line["text"].as_str().unwrap().lines();
        let stamps = records.filter_map(|record| {
            let record: Value = serde_json::from_str(record).ok()?;
            Timestamp::parse(record["timestamp"].as_str()?)
        });
        stamps.map(|stamp| stamp - t(line)).collect::<Vec<_>>()
    });
    let begin = stamps.max().unwrap();
    let operation = |line: &Value| Operation {
        at: begin + t(line),
        op: line["op"].as_str().unwrap().to_owned(),
        line: line.clone(),
    };
    lines.iter().map(operation).collect()
}

/// The session in the name of a lock or a rollout.
pub fn session_of(path: &str) -> Option<String> {
    let stem = Path::new(path).file_stem()?.to_str()?;
    Some(stem.get(stem.len().checked_sub(36)?..)?.to_owned())
}
