//! An engine on a stage with a manual clock: tests write files, run processes, send hook events, let time pass and
//! check rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use watchbill_core::attention::{AttentionEvent, AttentionSettings};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::{Group, group_of};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::demo::stage::Stage;
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::{Input, Output};
use watchbill_engine::model::publish::{Current, snapshot as published};
use watchbill_engine::persist::Persist;
use watchbill_engine::witnesses::folders::look;
use watchbill_protocol::roster::{Problem, RosterSnapshot, TrackedSession};
use watchbill_settings::Settings;
use watchbill_store::OpenMode;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Scan, scan};

use crate::counting_fs::{CountingFs, Notes};
use crate::records::SessionWriter;

pub const ROOT: &str = "/home/dev/.claude";
/// The working folder of the sessions that [`House::write`] writes, and the name of its project.
pub const CWD: &str = "/home/dev/work";
pub const PROJECT: &str = "-home-dev-work";

/// The stage, the engine and the time.
pub struct House {
    pub stage: Stage,
    pub engine: Engine,
    settings: Settings,
    outlook: Outlook,
    pub begin: Timestamp,
    pub now: Timestamp,
    /// All outputs of the engine.
    pub out: Vec<Output>,
    /// `state/kind` of each change that was observed live, in a house that has taken its first look.
    pub transitions: Vec<String>,
    /// `state/kind` of each row at the last look.
    states: Option<BTreeMap<String, String>>,
    /// The store that is written after each step.
    pub memory: Option<TestStore>,
    /// Scans of everything and looks at working folders run beside the loop, as in a running program.
    elsewhere: bool,
    /// A scan under way, and whether another one follows.
    scan: Option<(Scan, bool)>,
    /// Scans end only when the test ends them, and sessions at rest hardly ever get time.
    pub slow_scans: bool,
    next: u64,
    /// The start times of the processes with a registry file.
    started: BTreeMap<u32, Timestamp>,
}

/// A store in a folder of its own.
pub struct TestStore {
    pub folder: tempfile::TempDir,
    pub persist: Persist,
    /// Nothing more is stored: the program is about to be killed.
    pub stopped: bool,
}

impl House {
    /// An engine that has begun to watch an empty folder and has ended its first scan.
    pub fn new() -> Self {
        let mut house = Self::before_first_scan();
        house.step(Input::ScanEnded(Vec::new()));
        house
    }

    /// An engine whose first scan has not ended.
    pub fn before_first_scan() -> Self {
        let stage = Stage::new(Path::new(ROOT), || {});
        stage.hints.take();
        Self::on(stage)
    }

    /// An engine on a stage that already has files.
    pub fn on(stage: Stage) -> Self {
        Self::with(stage, settings(), Outlook::LIVE)
    }

    fn with(stage: Stage, settings: Settings, outlook: Outlook) -> Self {
        let begin = Timestamp::parse("2026-11-20T12:00:00.000Z").unwrap();
        stage.fs.set_now(begin);
        let engine = Engine::new(settings.clone(), stage.world(), outlook, begin);
        let mut house = Self {
            stage,
            engine,
            settings,
            outlook,
            begin,
            now: begin,
            out: Vec::new(),
            transitions: Vec::new(),
            states: None,
            memory: None,
            elsewhere: false,
            scan: None,
            slow_scans: false,
            next: 1,
            started: BTreeMap::new(),
        };
        house.engine.read_registries(&mut house.out);
        house
    }

    /// A house where every witness counts and every change is observed.
    pub fn live() -> Self {
        Self::with_first_look(&[ROOT], Outlook::LIVE)
    }

    /// The same where files alone count.
    pub fn files_alone() -> Self {
        Self::with_first_look(&[ROOT], Outlook { live: false, until: None })
    }

    /// The same with these roots.
    pub fn with_first_look(roots: &[&str], outlook: Outlook) -> Self {
        let stage = Stage::new(Path::new(roots[0]), || {});
        for root in roots {
            stage.fs.mkdir(Path::new(root).join("projects"));
            stage.fs.mkdir(Path::new(root).join("sessions"));
        }
        let mut house =
            Self::with(stage, Settings::for_roots(roots.iter().map(PathBuf::from).collect()), outlook);
        house.look();
        house
    }

    /// The first look at all files, as at a start of the program. From now on every change is observed.
    pub fn look(&mut self) {
        self.engine = self.cold();
        self.states = Some(states(&self.engine));
        self.stage.hints.take();
    }

    /// The user changes the alert settings, and the engine takes the new settings.
    pub fn change_alert_settings(&mut self, alerts: AttentionSettings) {
        self.settings.alerts.attention = alerts;
        self.step(Input::Settings(Box::new(self.settings.clone())));
    }

    /// A number that no record has yet.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub fn step(&mut self, input: Input) {
        let out = self.engine.step(self.now, input);
        let looks = out.iter().filter(|out| matches!(out, Output::LookAtFolder(_) | Output::Rescan));
        let looks: Vec<Output> = looks.cloned().collect();
        self.out.extend(out);
        self.check_need_counts();
        if let Some(before) = self.states.take() {
            let now = states(&self.engine);
            let transitions = now.iter().filter(|(session, state)| before.get(*session) != Some(state));
            self.transitions.extend(transitions.map(|(_, state)| state.clone()));
            self.states = Some(now);
        }
        if let Some(memory) = self.memory.as_mut().filter(|memory| !memory.stopped) {
            memory.persist.save(&mut self.engine, self.now);
            assert_eq!(memory.persist.trouble(), None);
        }
        if !self.slow_scans {
            self.wake();
        }
        for asked in looks {
            match asked {
                Output::LookAtFolder(folder) => {
                    self.step(Input::Folders(vec![look(&self.stage.fs, &folder)]));
                }
                _ => self.begin_scan(),
            }
        }
    }

    /// Rows and the engine's counts must say at the same moment that a session needs the user.
    fn check_need_counts(&self) {
        let rows = self.engine.current(false).rows.iter();
        let stand = rows.filter(|row| group_of(&row.row) == Group::NeedsYou).count();
        assert_eq!(
            stand,
            self.engine.needs().total() as usize,
            "rows under 'Needs you', and those that count"
        );
    }

    /// The engine has time for a few sessions at rest.
    fn wake(&mut self) {
        if self.engine.is_waking() {
            self.step(Input::Wake(2));
        }
    }

    /// From now on scans and looks run beside the loop.
    pub fn scan_beside_loop(&mut self) {
        self.elsewhere = true;
        self.engine.look_on_other_threads();
    }

    fn begin_scan(&mut self) {
        match &mut self.scan {
            Some((_, again)) => *again = true,
            None => self.scan = Some((scan(&self.stage.fs, &self.settings.roots), false)),
        }
        if !self.slow_scans {
            self.end_scan();
        }
    }

    /// Ends a scan that is under way.
    pub fn end_scan(&mut self) {
        if let Some((found, again)) = self.scan.take() {
            self.step(Input::Rescanned(found));
            if again {
                self.begin_scan();
            }
        }
        self.wake();
    }

    /// From now on everything is stored in a real store.
    pub fn attach_store(&mut self) {
        let folder = tempfile::TempDir::new().unwrap();
        let mut persist = Persist::open(folder.path(), OpenMode::WriteOrRead);
        persist.load(&mut self.engine);
        self.memory = Some(TestStore { folder, persist, stopped: false });
    }

    /// Ends the program. Its stored data stays in the returned folder.
    pub fn end(&mut self) -> Option<tempfile::TempDir> {
        let TestStore { folder, persist, .. } = self.memory.take()?;
        // The holder keeps others from writing, and the engine holds the store too.
        self.engine = Engine::new(self.settings.clone(), self.stage.world(), self.outlook, self.now);
        self.scan = None;
        if self.elsewhere {
            self.engine.look_on_other_threads();
        }
        drop(persist);
        Some(folder)
    }

    /// Ends the program and starts it again: it has the stored data, and has read no file.
    pub fn reboot(&mut self) {
        if let Some(folder) = self.end() {
            self.boot_with(folder);
        }
    }

    /// Starts the program with the data that is stored in the folder.
    pub fn boot_with(&mut self, folder: tempfile::TempDir) {
        let mut persist = Persist::open(folder.path(), OpenMode::WriteOrRead);
        assert!(persist.writes(), "{:?}", persist.trouble());
        persist.load(&mut self.engine);
        self.memory = Some(TestStore { folder, persist, stopped: false });
        self.engine.read_registries(&mut self.out);
        self.step(Input::Watching(Vec::new()));
    }

    /// Hands over the file system's hints, and everything that a step leaves for the next one.
    pub fn catch_up(&mut self) -> &mut Self {
        let hints = self.stage.hints.take();
        self.hint(hints);
        self.wake();
        self
    }

    /// One look at everything.
    pub fn look_again(&mut self) {
        self.stage.hints.take();
        self.hint(BTreeSet::from([Hint::Everything]));
    }

    pub fn hint(&mut self, mut hints: BTreeSet<Hint>) {
        while !hints.is_empty() {
            let from = self.out.len();
            self.step(Input::Hints(hints));
            let again = self.out[from..].iter().filter_map(|output| match output {
                Output::Again(paths) => Some(paths.clone()),
                _ => None,
            });
            hints = again.flatten().map(Hint::File).collect();
        }
    }

    /// Lets time pass; deadlines fire when they are due.
    pub fn wait(&mut self, span: Millis) {
        self.wait_until(self.now + span);
    }

    /// The same until that many seconds after the beginning.
    pub fn at(&mut self, secs: f64) -> &mut Self {
        self.wait_until(self.begin + Millis((secs * 1000.0) as i64));
        self
    }

    fn wait_until(&mut self, until: Timestamp) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.stage.fs.set_now(self.now);
            self.step(Input::Deadline);
        }
        self.now = until;
        self.stage.fs.set_now(self.now);
    }

    /// Appends to a transcript of project `p`.
    pub fn append(&self, author: &SessionWriter, text: &str) {
        self.stage.fs.append(transcript("p", &author.session), text.as_bytes());
    }

    /// Appends the bytes unchanged; the engine gets the hint.
    pub fn append_bytes(&mut self, path: &Path, bytes: &[u8]) -> &mut Self {
        self.stage.fs.append(path, bytes);
        self.catch_up()
    }

    /// The line of a record, with the fields that the agent adds to every record, and the current time.
    pub fn line(&mut self, session: &str, mut record: Value) -> String {
        let number = self.number();
        let fields = record.as_object_mut().unwrap();
        let mut fill = |key: &str, value: Value| {
            fields.entry(key).or_insert(value);
        };
        fill("uuid", json!(format!("00000000-0000-4000-8000-{number:012}")));
        fill("timestamp", json!(self.now.to_string()));
        fill("sessionId", json!(session));
        fill("cwd", json!(CWD));
        fill("version", json!("2.1.329"));
        fill("entrypoint", json!("cli"));
        format!("{record}\n")
    }

    /// Appends one record to a session's transcript.
    pub fn write(&mut self, session: &str, record: Value) -> &mut Self {
        self.write_all(session, [record])
    }

    /// Appends several records in one write.
    pub fn write_all(&mut self, session: &str, records: impl IntoIterator<Item = Value>) -> &mut Self {
        let lines: String = records.into_iter().map(|record| self.line(session, record)).collect();
        self.append_bytes(&transcript(PROJECT, session), lines.as_bytes())
    }

    /// Process `pid` reports `status` (`waiting:<for what>` for a wait) of `session`. The first report starts the
    /// process.
    pub fn registry(&mut self, pid: u32, session: &str, status: &str) -> &mut Self {
        self.run(pid, &start_of(pid));
        let (status, what) = status.split_once(':').unwrap_or((status, ""));
        let started = *self.started.entry(pid).or_insert(self.now - Millis(10));
        let mut entry = json!({
            "pid": pid, "procStart": start_of(pid), "sessionId": session, "cwd": CWD,
            "startedAt": started.as_millis(), "version": "2.1.329",
            "kind": "interactive", "entrypoint": "cli",
            "status": status, "updatedAt": self.now.as_millis(), "statusUpdatedAt": self.now.as_millis(),
        });
        if !what.is_empty() {
            entry["waitingFor"] = json!(what);
        }
        self.registry_text(pid, &entry.to_string())
    }

    /// A registry file with exactly this text.
    pub fn registry_text(&mut self, pid: u32, text: &str) -> &mut Self {
        self.stage.fs.write(registry_file(pid), text.as_bytes());
        self.catch_up()
    }

    /// Process `pid` ends cleanly.
    pub fn end_process_cleanly(&mut self, pid: u32) -> &mut Self {
        self.stage.fs.remove(registry_file(pid));
        self.catch_up().kill(pid, &start_of(pid))
    }

    /// The agent with process `pid` sends a hook event now. `payload` needs only the event's own fields.
    pub fn hook(&mut self, pid: u32, session: &str, payload: Value) -> &mut Self {
        let message = self.hook_message(pid, session, payload);
        self.step(Input::Hooks(vec![message]));
        self
    }

    /// The same message, not handed over yet.
    pub fn hook_message(&mut self, pid: u32, session: &str, mut payload: Value) -> HookMessage {
        let number = self.number();
        let fields = payload.as_object_mut().unwrap();
        let mut fill = |key: &str, value: Value| {
            fields.entry(key).or_insert(value);
        };
        fill("session_id", json!(session));
        fill("transcript_path", json!(transcript(PROJECT, session)));
        fill("cwd", json!(CWD));
        let origin = HookOrigin {
            id: format!("hook-{number}").into(),
            at: self.now,
            order: number,
            agent: Some(instance(pid, &start_of(pid))),
            ancestors: [pid, 1].into(),
            terminal: None,
        };
        HookMessage::new(origin, payload.to_string().into_bytes())
    }

    /// A file with exactly this text in the `.claude` of the working folder.
    pub fn write_in_folder(&mut self, name: &str, text: &str) -> &mut Self {
        self.stage.fs.write(Path::new(CWD).join(".claude").join(name), text.as_bytes());
        self.catch_up()
    }

    /// Starts a process.
    pub fn run(&mut self, pid: u32, start: &str) -> &mut Self {
        self.stage.processes.set(instance(pid, start), Liveness::Alive);
        self
    }

    /// Ends a process; its file stays, and the engine gets the event.
    pub fn kill(&mut self, pid: u32, start: &str) -> &mut Self {
        self.stage.processes.set(instance(pid, start), Liveness::Dead);
        self.step(Input::ProcessEnded(Some(pid)));
        self
    }

    /// The roster with all sessions.
    pub fn all(&self) -> RosterSnapshot {
        snapshot(&self.engine.current(true))
    }

    /// The row of a session, shown or not, if there is one.
    pub fn find(&self, session: impl AsRef<str>) -> Option<TrackedSession> {
        row_of(&self.engine, session.as_ref())
    }

    /// The row of a session, shown or not.
    pub fn row(&self, session: impl AsRef<str>) -> TrackedSession {
        let session = session.as_ref();
        self.find(session).unwrap_or_else(|| panic!("no row for {session}"))
    }

    /// `state/kind` of a row; empty without a row.
    pub fn state(&self, session: &str) -> String {
        state_of(&self.engine, session)
    }

    /// Input tokens of a session.
    pub fn tokens(&self, author: &SessionWriter) -> u64 {
        self.find(author).and_then(|row| row.tokens).map_or(0, |tokens| tokens.input)
    }

    /// The outcomes of the attention policy since the engine's outputs were last cleared.
    pub fn outcomes(&mut self) -> Vec<AttentionEvent> {
        let outcome = |output| match output {
            Output::Attention(outcome) => Some(outcome),
            _ => None,
        };
        self.out.drain(..).filter_map(outcome).collect()
    }

    /// Kind and count of every problem.
    pub fn problem_counts(&self) -> Vec<(String, u64)> {
        self.problems().into_iter().map(|problem| (problem.kind, problem.count)).collect()
    }

    pub fn problems(&self) -> Vec<Problem> {
        self.all().problems
    }

    /// The problem of that kind at a path.
    pub fn problem(&self, path: impl AsRef<Path>, kind: &str) -> Option<Problem> {
        let path = path.as_ref().to_string_lossy();
        self.problems().into_iter().find(|problem| problem.path == path && problem.kind == kind)
    }

    /// The stage as a world whose file system counts.
    pub fn counted(&self) -> (Sources, Arc<Notes>) {
        let Sources { fs, processes } = self.stage.world();
        let fs = CountingFs::new(fs);
        let notes = Arc::clone(&fs.notes);
        (Sources { fs: Arc::new(fs), processes }, notes)
    }

    /// The engine of a program that starts now without a store.
    pub fn cold(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::alone::single_look::look(
            self.settings.clone(),
            self.stage.world(),
            self.outlook,
            &clock,
        )
    }

    /// The engine of a program that starts now and reads the store beside this one.
    pub fn warm(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::alone::single_look::look(self.stored(), self.stage.world(), self.outlook, &clock)
    }

    /// The same for a program that wants only the default roster.
    pub fn look_at_default_roster(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::alone::single_look::look_at_recent(
            self.stored(),
            self.stage.world(),
            self.outlook,
            &clock,
        )
    }

    /// The same without a store.
    pub fn cold_look_at_default_roster(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::alone::single_look::look_at_recent(
            self.settings.clone(),
            self.stage.world(),
            self.outlook,
            &clock,
        )
    }

    fn stored(&self) -> Settings {
        let data_dir = self.memory.as_ref().map(|memory| memory.folder.path().to_path_buf());
        Settings { data_dir, ..self.settings.clone() }
    }
}

/// The roster. Only the program that saw a turn end knows that the user has not looked at it since, so engines differ in that.
pub fn snapshot(current: &Current<'_>) -> RosterSnapshot {
    let mut roster = published(current);
    roster.sessions.iter_mut().for_each(|row| row.unseen = None);
    roster
}

/// All chains, as text.
pub fn chains_of(engine: &Engine) -> Vec<String> {
    engine.chains().iter().map(|chain| format!("{:?}", engine.chain(&chain.id.to_string()))).collect()
}

pub fn settings() -> Settings {
    Settings::for_roots(vec![PathBuf::from(ROOT)])
}

/// The row of a session, shown or not. The engine's row must equal the row in the roster of all sessions.
pub fn row_of(engine: &Engine, session: &str) -> Option<TrackedSession> {
    let row = engine.row(&SessionId::new(session)).map(|row| TrackedSession::from(&row));
    let view = engine.current(true);
    let shown = view.rows.iter().map(|row| row.session()).find(|row| row.session_id == session);
    assert_eq!(row, shown, "the row that is known and the row that is shown");
    row.map(|row| TrackedSession { unseen: None, ..row })
}

pub fn state_of(engine: &Engine, session: &str) -> String {
    row_of(engine, session).map_or(String::new(), |row| state(&row))
}

/// `state/kind` of every row, by session.
fn states(engine: &Engine) -> BTreeMap<String, String> {
    let rows = engine.current(true).rows.iter().map(|row| row.session());
    rows.map(|row| (row.session_id.clone(), state(&row))).collect()
}

fn state(row: &TrackedSession) -> String {
    let kind = row.state_kind.as_ref().map(|kind| format!("/{kind}")).unwrap_or_default();
    format!("{}{kind}", row.state)
}

/// The start time of a test process, as its registry file names it.
pub fn start_of(pid: u32) -> String {
    format!("{pid}00")
}

pub fn instance(pid: u32, start: &str) -> Instance {
    Instance { pid, proc_start: Some(start.into()) }
}

pub fn transcript(project: &str, session: &str) -> PathBuf {
    Path::new(ROOT).join(format!("projects/{project}/{session}.jsonl"))
}

pub fn agent(project: &str, session: &str, agent: &str) -> PathBuf {
    Path::new(ROOT).join(format!("projects/{project}/{session}/subagents/agent-{agent}.jsonl"))
}

pub fn registry_file(pid: u32) -> PathBuf {
    Path::new(ROOT).join(format!("sessions/{pid}.json"))
}
