//! An engine on a stage, with a clock that is turned by hand.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::roster::{Group, group_of};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::engine::{Engine, Outlook, World};
use watchbill_engine::input::{Input, Output};
use watchbill_engine::persist::Persist;
use watchbill_engine::publish::snapshot;
use watchbill_engine::stage::Stage;
use watchbill_engine::witnesses::folders::look;
use watchbill_protocol::roster::{Problem, RosterSnapshot, TrackedSession};
use watchbill_settings::Settings;
use watchbill_store::Mode;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Scan, scan};

use crate::counting_fs::{CountingFs, Notes};
use crate::records::Author;

pub const ROOT: &str = "/home/dev/.claude";

/// The stage, the engine and the time.
pub struct House {
    pub stage: Stage,
    pub engine: Engine,
    pub now: Timestamp,
    /// Everything that the engine asked for.
    pub out: Vec<Output>,
    /// Where everything is kept after each step.
    pub memory: Option<Memory>,
    /// Scans of everything and looks at working folders are taken beside the loop, as a running program has them taken.
    elsewhere: bool,
    /// A scan under way, and whether another one is to follow.
    scan: Option<(Scan, bool)>,
    /// Scans take as long as they like, and there is hardly ever time for who rests.
    pub slow_scans: bool,
    next: u64,
}

/// A store in a folder of its own.
pub struct Memory {
    pub folder: tempfile::TempDir,
    pub persist: Persist,
    /// Nothing more is stored: the program is about to be killed.
    pub stopped: bool,
}

impl House {
    /// An engine that has begun to watch an empty folder and has ended its first scan.
    pub fn new() -> Self {
        let mut house = Self::unread();
        house.step(Input::ScanEnded(Vec::new()));
        house
    }

    /// An engine whose first scan has not ended.
    pub fn unread() -> Self {
        let stage = Stage::new(Path::new(ROOT), || {});
        stage.hints.take();
        Self::on(stage)
    }

    /// An engine on a stage on which something lies already.
    pub fn on(stage: Stage) -> Self {
        let now = Timestamp::from_millis(1_795_000_000_000);
        stage.fs.set_now(now);
        let engine = Engine::new(settings(), stage.world(), Outlook::LIVE, now);
        let mut house = Self {
            stage,
            engine,
            now,
            out: Vec::new(),
            memory: None,
            elsewhere: false,
            scan: None,
            slow_scans: false,
            next: 1,
        };
        house.engine.read_registries(&mut house.out);
        house
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
        self.says_one_thing();
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

    /// Rows, and whoever counts, say at the same moment that a session needs the person.
    fn says_one_thing(&self) {
        let rows = self.engine.current(false).rows.iter();
        let stand = rows.filter(|row| group_of(&row.row) == Group::NeedsYou).count();
        assert_eq!(
            stand,
            self.engine.needs().total() as usize,
            "rows under 'Needs you', and those that count"
        );
    }

    /// There is time for a few of those at rest.
    fn wake(&mut self) {
        if self.engine.is_waking() {
            self.step(Input::Wake(2));
        }
    }

    /// From now on scans and looks are taken beside the loop.
    pub fn look_elsewhere(&mut self) {
        self.elsewhere = true;
        self.engine.look_elsewhere();
    }

    fn begin_scan(&mut self) {
        match &mut self.scan {
            Some((_, again)) => *again = true,
            None => self.scan = Some((scan(&self.stage.fs, &settings().roots), false)),
        }
        if !self.slow_scans {
            self.end_scan();
        }
    }

    /// A scan that is under way comes to its end.
    pub fn end_scan(&mut self) {
        if let Some((found, again)) = self.scan.take() {
            self.step(Input::Rescanned(found));
            if again {
                self.begin_scan();
            }
        }
        self.wake();
    }

    /// From now on everything is kept in a real store.
    pub fn remember(&mut self) {
        let folder = tempfile::TempDir::new().unwrap();
        let mut persist = Persist::open(folder.path(), Mode::WriteOrRead);
        persist.load(&mut self.engine);
        self.memory = Some(Memory { folder, persist, stopped: false });
    }

    /// The program ends, in whatever way. What it had stored lies in the folder.
    pub fn end(&mut self) -> Option<tempfile::TempDir> {
        let Memory { folder, persist, .. } = self.memory.take()?;
        // Whoever holds the store keeps others from writing, and the engine holds it too.
        self.engine = Engine::new(settings(), self.stage.world(), Outlook::LIVE, self.now);
        self.scan = None;
        if self.elsewhere {
            self.engine.look_elsewhere();
        }
        drop(persist);
        Some(folder)
    }

    /// The program has ended and starts again: it knows what was stored, and has read nothing.
    pub fn reboot(&mut self) {
        if let Some(folder) = self.end() {
            self.boot_with(folder);
        }
    }

    /// The program starts, and knows what is stored in the folder.
    pub fn boot_with(&mut self, folder: tempfile::TempDir) {
        let mut persist = Persist::open(folder.path(), Mode::WriteOrRead);
        assert!(persist.writes(), "{:?}", persist.trouble());
        persist.load(&mut self.engine);
        self.memory = Some(Memory { folder, persist, stopped: false });
        self.engine.read_registries(&mut self.out);
        self.step(Input::Watching(Vec::new()));
    }

    /// Hands over what the file system has hinted at, and everything that a step leaves for the next one.
    pub fn catch_up(&mut self) {
        let hints = self.stage.hints.take();
        self.hint(hints);
        self.wake();
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

    /// Lets time go by; deadlines fire when they are due.
    pub fn wait(&mut self, span: Millis) {
        let until = self.now + span;
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.stage.fs.set_now(self.now);
            self.step(Input::Deadline);
        }
        self.now = until;
        self.stage.fs.set_now(self.now);
    }

    /// Appends to a transcript of project `p`.
    pub fn append(&self, author: &Author, text: &str) {
        self.stage.fs.append(transcript("p", &author.session), text.as_bytes());
    }

    /// A process that runs.
    pub fn run(&self, pid: u32, start: &str) {
        self.stage.processes.set(instance(pid, start), Liveness::Alive);
    }

    /// A process ends; the engine is told.
    pub fn kill(&mut self, pid: u32, start: &str) {
        self.stage.processes.set(instance(pid, start), Liveness::Dead);
        self.step(Input::ProcessEnded(Some(pid)));
    }

    /// The view with everything.
    pub fn all(&self) -> RosterSnapshot {
        snapshot(&self.engine.current(true))
    }

    /// The row of a session, shown or not.
    pub fn row(&self, author: &Author) -> Option<TrackedSession> {
        self.engine.row(&SessionId::new(&author.session)).map(|row| TrackedSession::from(&row))
    }

    /// Tokens in of a session.
    pub fn tokens(&self, author: &Author) -> u64 {
        self.row(author).and_then(|row| row.tokens).map_or(0, |tokens| tokens.input)
    }

    pub fn problems(&self) -> Vec<Problem> {
        self.all().problems
    }

    /// The problem of a kind at a path.
    pub fn problem(&self, path: impl AsRef<Path>, kind: &str) -> Option<Problem> {
        let path = path.as_ref().to_string_lossy();
        self.problems().into_iter().find(|problem| problem.path == path && problem.kind == kind)
    }

    /// The stage as a world whose file system counts.
    pub fn counted(&self) -> (World, Arc<Notes>) {
        let World { fs, processes } = self.stage.world();
        let fs = CountingFs::new(fs);
        let notes = Arc::clone(&fs.notes);
        (World { fs: Arc::new(fs), processes }, notes)
    }

    /// What a program that starts now sees.
    pub fn cold(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::cold::look(settings(), self.stage.world(), Outlook::LIVE, &clock)
    }

    /// What a program that starts now sees that reads the store beside us.
    pub fn warm(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::cold::look(self.settings(), self.stage.world(), Outlook::LIVE, &clock)
    }

    /// The same of a program that only wants what the default roster shows.
    pub fn recent(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::cold::look_at_recent(self.settings(), self.stage.world(), Outlook::LIVE, &clock)
    }

    /// The same where nothing is stored.
    pub fn recent_cold(&self) -> Engine {
        let clock = ManualClock::new(self.now);
        watchbill_engine::cold::look_at_recent(settings(), self.stage.world(), Outlook::LIVE, &clock)
    }

    fn settings(&self) -> Settings {
        let data_dir = self.memory.as_ref().map(|memory| memory.folder.path().to_path_buf());
        Settings { data_dir, ..settings() }
    }
}

pub fn settings() -> Settings {
    Settings::for_roots(vec![PathBuf::from(ROOT)])
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
