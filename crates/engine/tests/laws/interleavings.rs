//! However files change, and however the changes are reported: after one look at everything, the engine equals a
//! program that starts now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::Engine;
use watchbill_engine::input::Input;
use watchbill_engine::transcripts::first_scan::FirstScan;
use watchbill_engine::transcripts::{LoadOptions, Loaded};
use watchbill_protocol::roster::{Problem, TrackedSession};
use watchbill_watch::fs::Fs;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::Found;

use crate::house::{House, ROOT, agent, chains_of, registry_file, settings, snapshot, transcript};
use crate::records::{SessionWriter, marker, registry, session};
use crate::subscribers::Reader;

/// The sessions of a history; the first three work in one folder.
const SESSIONS: usize = 5;
const PROJECTS: [&str; 2] = ["-repo", "-elsewhere"];

#[derive(Debug, Clone)]
pub enum Op {
    Write {
        session: usize,
        what: What,
    },
    /// The first part of a line; the rest comes with the next write to the file.
    Torn {
        session: usize,
        keep: usize,
    },
    Agent {
        session: usize,
        what: What,
    },
    /// A compaction worker repeats its parent's requests.
    Worker {
        session: usize,
    },
    /// A subagent's transcript beside the transcripts, as old agents write it.
    FlatAgent {
        session: usize,
    },
    Fork {
        from: usize,
        to: usize,
    },
    Truncate {
        session: usize,
        percent: usize,
    },
    Replace {
        session: usize,
    },
    Move {
        session: usize,
    },
    Copy {
        session: usize,
    },
    Remove {
        session: usize,
    },
    RemoveProject {
        project: usize,
    },
    Register {
        pid: u32,
        life: u8,
        status: usize,
    },
    RegisterTorn {
        pid: u32,
    },
    Unregister {
        pid: u32,
    },
    Kill {
        pid: u32,
        life: u8,
    },
    Mark {
        session: usize,
        torn: bool,
    },
    Wait {
        secs: i64,
    },
    Deliver {
        count: usize,
    },
    Lose,
    Merge,
    Overflow,
    Again {
        session: usize,
    },
    Restart,
    /// The program ends and starts again.
    Reboot,
    /// From now on until the next start, nothing more is stored.
    Dying,
    Subscribe,
    /// Scans take long from now on, or no longer.
    Slow(bool),
}

#[derive(Debug, Clone, Copy)]
pub enum What {
    Prompt,
    Answer,
    Call,
    Result,
    Boundary,
    Stranger,
    Nonsense,
}

pub fn what() -> impl Strategy<Value = What> {
    use What::*;
    prop_oneof![
        4 => Just(Prompt), 4 => Just(Answer), 3 => Just(Call), 3 => Just(Result),
        1 => Just(Boundary), 1 => Just(Stranger), 1 => Just(Nonsense),
    ]
}

pub fn op() -> impl Strategy<Value = Op> {
    let session = 0..SESSIONS;
    let pid = 100..104u32;
    prop_oneof![
        16 => (session.clone(), what()).prop_map(|(session, what)| Op::Write { session, what }),
        3 => (session.clone(), 0usize..400).prop_map(|(session, keep)| Op::Torn { session, keep }),
        3 => (session.clone(), what()).prop_map(|(session, what)| Op::Agent { session, what }),
        2 => session.clone().prop_map(|session| Op::Worker { session }),
        1 => session.clone().prop_map(|session| Op::FlatAgent { session }),
        3 => (session.clone(), session.clone()).prop_map(|(from, to)| Op::Fork { from, to }),
        2 => (session.clone(), 0usize..100).prop_map(|(session, percent)| Op::Truncate { session, percent }),
        1 => session.clone().prop_map(|session| Op::Replace { session }),
        2 => session.clone().prop_map(|session| Op::Move { session }),
        1 => session.clone().prop_map(|session| Op::Copy { session }),
        2 => session.clone().prop_map(|session| Op::Remove { session }),
        1 => (0..PROJECTS.len()).prop_map(|project| Op::RemoveProject { project }),
        6 => (pid.clone(), 0..2u8, 0..4usize).prop_map(|(pid, life, status)| Op::Register { pid, life, status }),
        1 => pid.clone().prop_map(|pid| Op::RegisterTorn { pid }),
        1 => pid.clone().prop_map(|pid| Op::Unregister { pid }),
        2 => (pid, 0..2u8).prop_map(|(pid, life)| Op::Kill { pid, life }),
        2 => (session.clone(), any::<bool>()).prop_map(|(session, torn)| Op::Mark { session, torn }),
        5 => (0i64..900).prop_map(|secs| Op::Wait { secs }),
        // A session that has been idle this long is at rest after a restart.
        1 => Just(Op::Wait { secs: 90_000 }),
        12 => (0usize..6).prop_map(|count| Op::Deliver { count }),
        2 => Just(Op::Lose),
        2 => Just(Op::Merge),
        1 => Just(Op::Overflow),
        2 => session.prop_map(|session| Op::Again { session }),
        1 => Just(Op::Restart),
        2 => Just(Op::Reboot),
        1 => Just(Op::Dying),
        2 => Just(Op::Subscribe),
        3 => any::<bool>().prop_map(Op::Slow),
    ]
}

/// A history under construction.
pub struct History {
    pub house: House,
    /// The missing rest of a torn line, by file.
    torn: BTreeMap<PathBuf, String>,
    /// Processes that have been killed, as pid and life.
    killed: BTreeSet<(u32, u8)>,
    /// Sessions that a process has left: only an engine that saw it knows how.
    departed: BTreeSet<String>,
    registered: BTreeMap<u32, u8>,
    started: BTreeMap<(u32, u8), Timestamp>,
    marked: BTreeSet<String>,
    /// A first scan under way, with the files that its workers have read.
    scanned: Option<(Vec<Loaded>, Vec<Found>)>,
    readers: Vec<Reader>,
}

fn author(n: usize) -> SessionWriter {
    SessionWriter::new(&session(n), if n < 3 { "/repo" } else { "/elsewhere" })
}

/// Each life of a process id runs one session.
fn author_of(pid: u32, life: u8) -> SessionWriter {
    author((pid as usize + 2 * usize::from(life)) % SESSIONS)
}

impl History {
    pub fn new() -> Self {
        let house = House::before_first_scan();
        house.stage.fs.pause();
        Self {
            house,
            torn: BTreeMap::new(),
            killed: BTreeSet::new(),
            started: BTreeMap::new(),
            departed: BTreeSet::new(),
            registered: BTreeMap::new(),
            marked: BTreeSet::new(),
            scanned: Some(Default::default()),
            readers: Vec::new(),
        }
    }

    fn fs(&self) -> &watchbill_watch::mem::MemFs {
        &self.house.stage.fs
    }

    /// The path of a session's transcript; a new one is in the first project.
    fn file(&self, n: usize) -> PathBuf {
        let paths = PROJECTS.map(|project| transcript(project, &session(n)));
        paths.iter().find(|path| self.fs().stat(path).is_ok()).unwrap_or(&paths[0]).clone()
    }

    fn line(&mut self, author: &SessionWriter, what: What) -> String {
        let (n, at) = (self.house.number(), self.house.now);
        match what {
            What::Prompt => author.prompt(n, at),
            What::Answer => author.answer(n, at),
            What::Call => author.call(n, at),
            What::Result => author.result(n, n - 1, at),
            What::Boundary => author.boundary(n, at),
            What::Stranger => author.unknown_type(n, at),
            What::Nonsense => "this is no record\n".to_owned(),
        }
    }

    fn write(&mut self, path: PathBuf, text: &str) {
        let rest = self.torn.remove(&path).unwrap_or_default();
        self.fs().append(path, (rest + text).as_bytes());
    }

    pub fn act(&mut self, op: &Op) {
        match op {
            Op::Write { session, what } => {
                let line = self.line(&author(*session), *what);
                self.write(self.file(*session), &line);
            }
            Op::Torn { session, keep } => {
                let line = self.line(&author(*session), What::Answer);
                let path = self.file(*session);
                let (now, later) = line.split_at((*keep).min(line.len()));
                self.write(path.clone(), now);
                self.torn.insert(path, later.to_owned());
            }
            Op::Agent { session: n, what } => {
                let line = self.line(&author(*n), *what);
                self.write(agent(PROJECTS[0], &session(*n), "a1"), &line);
            }
            Op::Worker { session: n } => {
                let own = self.line(&author(*n), What::Answer);
                let copied = self.fs().bytes(self.file(*n)).unwrap_or_default();
                let copied = String::from_utf8_lossy(&copied).into_owned();
                let whole: String =
                    copied.lines().filter(|l| l.ends_with('}')).map(|l| format!("{l}\n")).collect();
                self.fs().write(agent(PROJECTS[0], &session(*n), "acompact-1"), (whole + &own).as_bytes());
            }
            Op::FlatAgent { session: n } => {
                let line = self.line(&author(*n), What::Answer);
                let path = PathBuf::from(format!("{ROOT}/projects/{}/agent-f1a7.jsonl", PROJECTS[0]));
                self.fs().write(path, line.as_bytes());
            }
            Op::Fork { from, to } => {
                let (origin, copy) = (author(*from), author(*to));
                let history = self.fs().bytes(self.file(*from)).unwrap_or_default();
                let history = String::from_utf8_lossy(&history);
                let copied = copy.fork(&origin, &history);
                // A fork is a new session: never an existing one, and never the origin of this history.
                let is_new = self.fs().stat(&self.file(*to)).is_err() && !history.contains(&session(*to));
                if from != to && is_new {
                    self.write(self.file(*to), &copied);
                }
            }
            Op::Truncate { session, percent } => {
                let path = self.file(*session);
                let len = self.fs().bytes(&path).map_or(0, |bytes| bytes.len());
                if len > 0 {
                    self.torn.remove(&path);
                    self.fs().truncate(path, len * percent / 100);
                }
            }
            Op::Replace { session } => {
                let path = self.file(*session);
                if self.fs().stat(&path).is_ok() {
                    let author = author(*session);
                    let text = self.line(&author, What::Prompt) + &self.line(&author, What::Answer);
                    self.torn.remove(&path);
                    self.fs().replace(path, text.as_bytes());
                }
            }
            Op::Move { session: n } => {
                let from = self.file(*n);
                let other = PROJECTS.map(|project| transcript(project, &session(*n)));
                let to = other.into_iter().find(|path| *path != from).unwrap();
                if self.fs().stat(&from).is_ok() {
                    if let Some(rest) = self.torn.remove(&from) {
                        self.torn.insert(to.clone(), rest);
                    }
                    self.fs().rename(from, to);
                }
            }
            Op::Copy { session: n } => {
                if let Some(bytes) = self.fs().bytes(self.file(*n)) {
                    self.fs().write(transcript(PROJECTS[1], &session(*n)), &bytes);
                }
            }
            Op::Remove { session } => {
                let path = self.file(*session);
                self.torn.remove(&path);
                self.fs().remove(path);
            }
            Op::RemoveProject { project } => {
                let path = PathBuf::from(format!("{ROOT}/projects/{}", PROJECTS[*project]));
                self.torn.retain(|file, _| !file.starts_with(&path));
                self.fs().remove(path);
            }
            Op::Register { pid, life, status } => self.register(*pid, *life, *status),
            Op::RegisterTorn { pid } => {
                self.fs().write(registry_file(*pid), br#"{"pid":1"#);
                self.leave(*pid);
            }
            Op::Unregister { pid } => {
                self.fs().remove(registry_file(*pid));
                self.leave(*pid);
            }
            Op::Kill { pid, life } => {
                self.killed.insert((*pid, *life));
                self.house.kill(*pid, &life.to_string());
            }
            Op::Mark { session: n, torn } => {
                let id = session(*n);
                let text = marker(&id, &author(*n).cwd, self.house.now);
                let path = PathBuf::from(format!("{}/.claude/compacted.{id}.marker", author(*n).cwd));
                // The same name again with another time is a second announcement. Only an engine that saw both knows
                // of it.
                if *torn && !self.marked.contains(&id) {
                    self.fs().write(path, &text.as_bytes()[..20]);
                } else if self.marked.insert(id) {
                    self.fs().write(path, text.as_bytes());
                }
            }
            Op::Wait { secs } => self.house.wait(Millis::from_secs(*secs)),
            Op::Deliver { count } => {
                self.fs().flush(*count);
                self.house.catch_up();
            }
            Op::Lose => self.fs().drop_pending(),
            Op::Merge => self.fs().merge_pending(),
            Op::Overflow => {
                self.fs().overflow();
                self.house.catch_up();
            }
            Op::Again { session } => self.house.hint(BTreeSet::from([Hint::File(self.file(*session))])),
            Op::Restart => self.scan(),
            Op::Reboot if self.house.memory.is_some() => {
                self.readers.clear();
                self.house.reboot();
                self.scanned = Some(Default::default());
            }
            Op::Dying if self.house.memory.is_some() => {
                self.house.memory.iter_mut().for_each(|memory| memory.stopped = true);
            }
            Op::Reboot | Op::Dying => {}
            Op::Slow(slow) => {
                self.house.slow_scans = *slow;
                if !slow {
                    self.house.end_scan();
                }
            }
            Op::Subscribe => self.readers.push(Reader::new(self.readers.len())),
        }
        let House { engine, now, .. } = &self.house;
        self.readers.iter_mut().for_each(|reader| reader.serve(engine, *now));
    }

    fn register(&mut self, pid: u32, life: u8, status: usize) {
        let (author, at) = (author_of(pid, life), self.house.now);
        if self.registered.get(&pid).is_some_and(|before| *before != life) {
            self.leave(pid);
        }
        self.registered.insert(pid, life);
        if !self.killed.contains(&(pid, life)) {
            self.house.run(pid, &life.to_string());
        }
        let status = ["busy", "idle", "waiting", "shell"][status];
        let started = *self.started.entry((pid, life)).or_insert(at - Millis::from_secs(1000));
        let text = registry(pid, &life.to_string(), &author, status, started, at);
        self.fs().write(registry_file(pid), text.as_bytes());
    }

    fn leave(&mut self, pid: u32) {
        if let Some(life) = self.registered.remove(&pid) {
            self.departed.insert(author_of(pid, life).session);
        }
    }

    /// The workers of a first scan read all files at this moment; the engine gets the result later. A second call
    /// ends the scan.
    fn scan(&mut self) {
        match &mut self.scanned {
            Some((loaded, found)) if loaded.is_empty() && found.is_empty() => {
                let fs: Arc<dyn Fs> = Arc::new(self.house.stage.fs.clone());
                let (now, known) = (self.house.now, self.house.engine.known_files());
                let terms =
                    LoadOptions { keep: self.house.engine.collects_changes(), ..LoadOptions::default() };
                let scan =
                    FirstScan::of(watchbill_watch::scan::scan(&*fs, &settings().roots), now, &|path| {
                        known.contains(path.as_os_str())
                    });
                let read = std::sync::Mutex::new(Vec::new());
                scan.read(&fs, terms, &|| true, &|_, loaded| {
                    read.lock().unwrap().push(loaded);
                    true
                });
                *loaded = read.into_inner().unwrap();
                *found = scan.found;
            }
            _ => self.end_scan(),
        }
    }

    fn end_scan(&mut self) {
        if let Some((loaded, found)) = self.scanned.take() {
            self.house.step(Input::Loaded(loaded));
            self.house.step(Input::Found(found));
            self.house.step(Input::ScanEnded(Vec::new()));
            self.house.look_again();
        }
    }

    /// Ends the history: the last hints are lost, and one look at everything follows.
    pub fn end(&mut self) {
        self.act(&Op::Slow(false));
        self.end_scan();
        self.fs().drop_pending();
        self.fs().resume();
        self.house.look_again();
        // Torn files stay torn long enough to be reported.
        self.house.wait(Millis::from_secs(30));
        self.house.look_again();
    }
}

/// The parts on which two engines must agree.
fn agreed_state(engine: &Engine, history: &History) -> (Vec<TrackedSession>, Vec<Problem>, Vec<String>) {
    let (snapshot, departed) = (snapshot(&engine.current(true)), &history.departed);
    let mut sessions = snapshot.sessions;
    let folder = |id: &String| (0..SESSIONS).find(|n| session(*n) == *id).map(|n| author(n).cwd);
    // That a process was on a session at a compaction is seen once, and stored in no file.
    let was_seen = departed.iter().any(|id| history.marked.iter().any(|of| folder(of) == folder(id)));
    for row in sessions.iter_mut().filter(|_| was_seen) {
        (row.superseded, row.superseded_by, row.superseded_at) = Default::default();
        (row.work_chain_id, row.work_chain_name, row.compaction_count, row.segment_count) =
            Default::default();
    }
    for row in sessions.iter_mut().filter(|row| departed.contains(&row.session_id)) {
        // The clean end of a process is seen once and stored in no file.
        (row.status, row.state, row.state_since) = Default::default();
        (row.state_kind, row.subagents) = (None, None);
        let reason = &mut row.state_reason;
        (reason.source, reason.confidence, reason.detail) = Default::default();
        row.group = watchbill_protocol::roster::Group::Idle;
    }
    sessions.sort_by(|a, b| a.session_id.cmp(&b.session_id));
    (sessions, snapshot.problems, if was_seen { Vec::new() } else { chains_of(engine) })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_look_at_everything_equals_a_cold_start(
        ops in prop::collection::vec(op(), 1..70),
        remembers in any::<bool>(),
        elsewhere in any::<bool>(),
    ) {
        let mut history = History::new();
        if elsewhere {
            history.house.scan_beside_loop();
        }
        if remembers {
            history.house.attach_store();
        }
        for op in &ops {
            history.act(op);
        }
        history.end();
        let (sessions, problems, chains) = agreed_state(&history.house.engine, &history);
        let cold = history.house.cold();
        let (cold_sessions, cold_problems, cold_chains) = agreed_state(&cold, &history);
        prop_assert_eq!(sessions, cold_sessions);
        prop_assert_eq!(problems, cold_problems);
        prop_assert_eq!(chains, cold_chains);
        prop_assert!(!remembers || chains_of(&history.house.engine) == chains_of(&history.house.warm()));
        check_tokens(&history)?;
        check_memory(&history)?;

        // The next start shows the same again, and the deltas of the subscribers add up to the roster.
        let again = agreed_state(&history.house.cold(), &history);
        prop_assert_eq!(agreed_state(&cold, &history), again);
        let House { engine, now, .. } = &history.house;
        for reader in &mut history.readers {
            reader.serve(engine, *now + Millis::from_secs(60));
            reader.check(engine)?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// A scan may have been taken long before its result comes: it undoes nothing that hints reported since then.
    #[test]
    fn hints_and_a_late_scan_equal_a_cold_start(
        ops in prop::collection::vec(op(), 1..40),
        at in any::<prop::sample::Index>(),
    ) {
        let mut history = History::new();
        history.house.scan_beside_loop();
        history.end_scan();
        for (n, op) in ops.iter().enumerate() {
            if n == at.index(ops.len()) {
                history.house.slow_scans = true;
                history.house.look_again();
            }
            // After lost hints another scan follows, as in the law above.
            if !matches!(op, Op::Lose | Op::Overflow | Op::Restart | Op::Slow(_)) {
                history.act(op);
            }
        }
        history.fs().resume();
        history.house.catch_up();
        history.act(&Op::Slow(false));
        // Torn files stay torn long enough to be reported.
        history.house.wait(Millis::from_secs(30));
        let cold = agreed_state(&history.house.cold(), &history);
        prop_assert_eq!(agreed_state(&history.house.engine, &history), cold);
    }
}

/// An engine that starts from the store equals one that reads everything.
fn check_memory(history: &History) -> Result<(), TestCaseError> {
    if history.house.memory.is_some() {
        let cold = agreed_state(&history.house.cold(), history);
        prop_assert_eq!(agreed_state(&history.house.warm(), history), cold);
    }
    Ok(())
}

/// Each request counts once: for the session that made it, not for the fork or worker that repeats it.
fn check_tokens(history: &History) -> Result<(), TestCaseError> {
    let fs = history.fs();
    let requests = |path: &PathBuf| -> BTreeSet<String> {
        let bytes = fs.bytes(path).unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let text = String::from_utf8_lossy(&bytes[..whole]).into_owned();
        // A truncation may leave two records on one line.
        let objects = |line: &str| -> Vec<serde_json::Value> {
            serde_json::Deserializer::from_str(line).into_iter().map_while(Result::ok).collect()
        };
        let records = text.lines().flat_map(objects);
        records.filter_map(|record| record["requestId"].as_str().map(str::to_owned)).collect()
    };
    for n in 0..SESSIONS {
        let id = SessionId::new(&session(n));
        let Some((path, _)) = history.house.engine.main_file(&id) else { continue };
        let path = path.to_path_buf();
        let own = requests(&path);
        let text = String::from_utf8_lossy(&fs.bytes(&path).unwrap_or_default()).into_owned();
        let origin =
            text.split(r#""forkedFrom":{"sessionId":""#).nth(1).and_then(|rest| rest.split('"').next());
        let origin = origin.and_then(|origin| {
            let (path, _) = history.house.engine.main_file(&SessionId::new(origin))?;
            Some(requests(&path.to_path_buf()))
        });
        let origin = origin.unwrap_or_default();
        let worker = requests(&agent(PROJECTS[0], &session(n), "acompact-1"));
        let flat = PathBuf::from(format!("{ROOT}/projects/{}/agent-f1a7.jsonl", PROJECTS[0]));
        let flat_is_ours =
            String::from_utf8_lossy(&fs.bytes(&flat).unwrap_or_default()).contains(&session(n));
        let expected = own.difference(&origin).count()
            + requests(&agent(PROJECTS[0], &session(n), "a1")).len()
            + worker.difference(&own).count()
            + if flat_is_ours { requests(&flat).len() } else { 0 };
        let Some(row) = history.house.find(author(n)) else { continue };
        prop_assert_eq!(row.tokens.map(|tokens| tokens.input), Some(10 * expected as u64), "session {}", n);
    }
    Ok(())
}
