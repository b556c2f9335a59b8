//! Kill -9 at any point, of the process that follows transcripts and of the process that indexes them.
//!
//! Each round starts a process of its own on one data folder, lets it work while transcripts grow, and kills it. In
//! the end the store must open and equal one that was never interrupted: the same rows, each once.
//! `WATCHBILL_KILLS=200` makes a long run; twenty kills find the frequent faults.

#![allow(missing_docs)]
#![allow(clippy::unwrap_used, reason = "a rig that does not stand should fail loudly")]
#![cfg(unix)]

#[path = "../laws/records.rs"]
#[allow(dead_code)]
mod records;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use records::{SessionWriter, session};
use watchbill_core::time::Timestamp;
use watchbill_engine::alone::index;
use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::{real_sources, start};
use watchbill_engine::model::publish::snapshot;
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store};

/// The child's folder and its task.
const FOLDER: &str = "WATCHBILL_KILLED_FOLDER";
const TASK: &str = "WATCHBILL_KILLED_TASK";

fn settings(folder: &Path, data: &str) -> Settings {
    let mut settings = Settings::for_roots(vec![folder.join("home/.claude")]);
    settings.data_dir = Some(folder.join(data));
    settings
}

/// Not a test: the code of the killed process. It does nothing in a normal test run.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let settings = settings(&folder, "data");
    if std::env::var(TASK).is_ok_and(|task| task == "index") {
        loop {
            let options = index::Options { full: false, cut: None };
            index::run(&settings, &real_sources(), options, &mut |_| true).unwrap();
        }
    }
    let _handle = start(settings).unwrap();
    loop {
        std::thread::park();
    }
}

fn spawn(folder: &Path, task: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(FOLDER, folder)
        .env(TASK, task)
        .env("HOME", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Pseudo-random numbers, the same ones in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Simulated agents whose transcripts grow, whole lines and torn ones.
struct Clients {
    projects: PathBuf,
    authors: Vec<SessionWriter>,
    number: u64,
    dice: Dice,
}

impl Clients {
    fn new(folder: &Path) -> Self {
        let projects = folder.join("home/.claude/projects/p");
        std::fs::create_dir_all(&projects).unwrap();
        std::fs::create_dir_all(folder.join("home/.claude/sessions")).unwrap();
        let cwd = folder.to_str().unwrap();
        let authors = (0..6).map(|n| SessionWriter::new(&session(n), cwd)).collect();
        Self { projects, authors, number: 1, dice: Dice(7) }
    }

    /// One client writes records.
    fn write(&mut self) {
        let author = &self.authors[self.dice.below(6) as usize];
        let (n, at) = (self.number, SystemClock.now());
        self.number += 2;
        let text = match self.dice.below(5) {
            0 | 1 => author.prompt(n, at),
            2 => author.call(n, at) + &author.result(n + 1, n, at),
            3 => author.boundary(n, at),
            _ => author.answer(n, at),
        };
        let path = match self.dice.below(6) {
            0 => self.projects.join(format!("{}/subagents/agent-a1.jsonl", author.session)),
            _ => self.projects.join(format!("{}.jsonl", author.session)),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if self.dice.below(40) == 0 && path.exists() {
            // The file is emptied; no client does this, but editors and restored backups do.
            std::fs::write(&path, b"").unwrap();
        }
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        let (now, later) = text.split_at(self.dice.below(text.len() as u64) as usize);
        file.write_all(now.as_bytes()).unwrap();
        file.write_all(later.as_bytes()).unwrap();
    }
}

/// Every row that was read from transcripts, as text.
fn rows(folder: &Path) -> Vec<String> {
    let store = Store::open(folder, OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.access(), Access::Writer, "a lock outlived its process");
    let mut sessions = Vec::new();
    store.sessions(&mut |key, row| sessions.push((key, row.session_id))).unwrap();
    let mut all = Vec::new();
    for (key, id) in sessions {
        all.extend(store.batches(key).unwrap().iter().map(|stored| format!("{id} {:?}", stored.batch)));
        all.extend(store.activities(key).unwrap().iter().map(|stored| format!("{id} {:?}", stored.activity)));
        for (file, row) in store.files_of(key).unwrap() {
            let texts = store.texts(file, 0, u32::MAX >> 1).unwrap();
            all.extend(texts.iter().map(|text| format!("{id} {} {text:?}", row.path)));
        }
    }
    let usage = store.usage(None, &mut |_| 0, None).unwrap();
    all.extend(usage.iter().map(|row| format!("{row:?}")));
    all.sort();
    all
}

fn index(folder: &Path, data: &str) -> Vec<String> {
    let settings = settings(folder, data);
    let options = index::Options { full: false, cut: None };
    index::run(&settings, &real_sources(), options, &mut |_| true).unwrap();
    rows(&settings.data_dir.unwrap())
}

fn roster(settings: Settings, now: Timestamp) -> Vec<TrackedSession> {
    let clock = watchbill_engine::clock::ManualClock::new(now);
    snapshot(&look(settings, real_sources(), Outlook::LIVE, &clock).current(true)).sessions
}

#[test]
fn a_kill_at_any_point_loses_and_doubles_nothing() {
    let kills = std::env::var("WATCHBILL_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20u32);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut clients = Clients::new(&folder);
    for round in 0..kills {
        let mut child = spawn(&folder, if round % 3 == 2 { "index" } else { "follow" });
        let end = Instant::now() + Duration::from_millis(20 + clients.dice.below(180));
        while Instant::now() < end {
            clients.write();
            std::thread::sleep(Duration::from_millis(clients.dice.below(4)));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if round % 5 == 4 {
            let store = Store::open(&folder.join("data"), OpenMode::WriteOrRead).unwrap();
            assert_eq!(store.access(), Access::Writer, "after kill {round}");
            let intact = matches!(
                store.origin(),
                watchbill_store::DatabaseState::Current | watchbill_store::DatabaseState::Fresh
            );
            assert!(intact, "after kill {round}: {:?}", store.origin());
        }
    }
    let now = SystemClock.now();
    let cold = roster(Settings::for_roots(vec![folder.join("home/.claude")]), now);
    assert!(cold.len() >= 5, "{} sessions", cold.len());
    assert_eq!(roster(settings(&folder, "data"), now), cold, "who starts from the store");
    assert_eq!(index(&folder, "data"), index(&folder, "fresh"), "and the history is that of a fresh index");
}
