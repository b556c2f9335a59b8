//! Indexes the histories, lets the rules see them, and asks at places as hook processes do.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use watchbill_core::history::Exclude;
use watchbill_core::memory::{ContextChoice, gather};
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::alone::index::{Options, run};
use watchbill_engine::handle::real_sources;
use watchbill_engine::{Millis, Timestamp, stable_hash};
use watchbill_history::memory::change::change;
use watchbill_history::memory::context::{context, printed};
use watchbill_protocol::memory::MemoryChange;
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

use crate::histories::{Fact, History, NOW, play};
use crate::transcript::Session;

const HISTORIES: usize = 60;

/// A part of a whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    pub part: usize,
    pub all: usize,
}

impl Share {
    fn count(&mut self, is: bool) {
        self.all += 1;
        self.part += usize::from(is);
    }

    pub fn share(self) -> f64 {
        self.part as f64 / self.all.max(1) as f64
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Measured {
    pub sessions: usize,
    pub file_hits: Share,
    pub prompt_hits: Share,
    pub fitting: Share,
    pub quiet: Share,
    pub stale: Share,
    pub leaks: usize,
    pub loops: usize,
    tokens: usize,
    hits: usize,
    session_tokens: Vec<usize>,
}

impl Measured {
    pub fn tokens_per_hit(&self) -> f64 {
        self.tokens as f64 / self.hits.max(1) as f64
    }

    pub fn median_session(&self) -> usize {
        let mut all = self.session_tokens.clone();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    }

    pub fn greatest_session(&self) -> usize {
        self.session_tokens.iter().copied().max().unwrap_or_default()
    }
}

/// The store with everything, and how it is asked.
struct Desk {
    settings: Settings,
    store: Store,
    asked: usize,
}

impl Desk {
    /// The text that a hook process prints for this payload. It says that it has printed it.
    fn tell(&mut self, session: &str, cwd: &str, event: Value) -> String {
        self.asked += 1;
        let answer = format!("answer{}", self.asked);
        let mut payload = json!({ "session_id": session, "cwd": cwd });
        payload.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        let fs = real_sources().fs;
        let told =
            context(&mut self.store, &*fs, &self.settings, &payload.to_string(), &answer, NOW).unwrap();
        let Some(told) = told else { return String::new() };
        printed(&mut self.store, &answer).unwrap();
        let output: Value = serde_json::from_str(&told.output).unwrap();
        output["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    fn read(&mut self, session: &str, cwd: &str, file: &str) -> String {
        let path = format!("{cwd}/{file}");
        let event = json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": path } });
        self.tell(session, cwd, event)
    }

    fn prompt(&mut self, session: &str, cwd: &str, prompt: &str) -> String {
        self.tell(session, cwd, json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }))
    }

    fn start(&mut self, session: &str, cwd: &str) -> String {
        self.tell(session, cwd, json!({ "hook_event_name": "SessionStart", "source": "startup" }))
    }

    fn change(&mut self, wanted: &MemoryChange) {
        let fs = real_sources().fs;
        change(&mut self.store, &*fs, &self.settings, wanted, NOW).unwrap();
    }
}

fn index(settings: &Settings) {
    run(settings, &real_sources(), Options::default(), &mut |_| true).unwrap();
}

pub fn measure() -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("client");
    let mut settings = Settings::for_roots(vec![root.clone()]);
    settings.data_dir = Some(folder.path().join("data"));
    settings.memory.context = ContextChoice::All;
    settings.history.exclude = Exclude::new(["/home/dev/excluded".to_owned()]);
    // Every second pair of projects has one name.
    let cwd = |n: usize| match n % 4 {
        0 | 1 => format!("/home/dev/team{n}/api"),
        _ => format!("/home/dev/project{n}"),
    };
    let mut histories: Vec<History> = (0..HISTORIES).map(|n| play(&root, n, &cwd(n))).collect();
    let excluded = play(&root, HISTORIES, "/home/dev/excluded/api");
    index(&settings);
    // Each wipes the whole database, so only some are forgotten one by one.
    for history in histories.iter().step_by(10) {
        let what = ForgetWhat::Sessions(vec![history.forgotten.clone()]);
        forget(&settings, &what, false, NOW, &mut |_| ()).unwrap();
    }
    let store = Store::open(settings.data_dir.as_deref().unwrap(), OpenMode::WriteOrRead).unwrap();
    let mut desk = Desk { settings, store, asked: 0 };
    desk.change(&MemoryChange::Learn);
    let mut measured =
        Measured { sessions: histories.iter().map(|h| h.sessions).sum(), ..Measured::default() };
    for (n, history) in histories.iter_mut().enumerate() {
        reject_one(&mut desk, history, n);
        if n % 10 != 0 {
            history.forbidden.retain(|mark| !mark.contains("zqforgotten"));
        }
        history.forbidden.extend(excluded.forbidden.iter().cloned());
    }
    let mut told = Vec::new();
    for n in 0..histories.len() {
        let others: Vec<&str> = histories
            .iter()
            .enumerate()
            .filter(|(m, _)| *m != n)
            .flat_map(|(_, h)| h.forbidden.iter().map(String::as_str))
            .collect();
        told.extend(ask(&mut desk, &histories[n], n, &others, &mut measured));
    }
    measured.leaks += stored_leaks(&desk.store, &histories);
    measured.loops = loops(&mut desk, &root, &histories, &told);
    measured
}

/// Adds a memory by hand and rejects it, and one that a rule then finds again.
fn reject_one(desk: &mut Desk, history: &History, n: usize) {
    let text = format!("the anchor is {} at night", history.rejected);
    desk.change(&MemoryChange::Add { cwd: history.cwd.clone(), text, path: None, from: None });
    let project = stable_hash(history.cwd.as_bytes());
    let (evidence, edits) = desk.store.memories_of_project(project).unwrap();
    let added = gather(&evidence, &edits).into_iter().find(|memory| memory.text.contains(&history.rejected));
    let id = format!("{:016x}", added.unwrap_or_else(|| panic!("history {n} has its memory")).id);
    desk.change(&MemoryChange::Reject { id });
}

/// Asks at every place of one history. Returns what was told.
fn ask(
    desk: &mut Desk,
    history: &History,
    n: usize,
    others: &[&str],
    measured: &mut Measured,
) -> Vec<String> {
    let mut told = Vec::new();
    let mut sessions = 0;
    let mut fresh = || {
        sessions += 1;
        format!("{n:08x}-1111-4000-8000-{sessions:012x}")
    };
    for fact in &history.facts {
        if let Some(file) = &fact.file {
            let text = desk.read(&fresh(), &history.cwd, file);
            note_place(measured, &text, fact, |measured| &mut measured.file_hits);
            told.push(text);
        }
        let text = desk.prompt(&fresh(), &history.cwd, &fact.asks);
        note_place(measured, &text, fact, |measured| &mut measured.prompt_hits);
        told.push(text);
    }
    for file in &history.plain_files {
        let text = desk.read(&fresh(), &history.cwd, file);
        note_plain(measured, &text);
        told.push(text);
    }
    for prompt in &history.plain_prompts {
        let text = desk.prompt(&fresh(), &history.cwd, prompt);
        note_plain(measured, &text);
        told.push(text);
    }
    told.push(whole_session(desk, history, &fresh(), measured));
    let bad = |mark: &str| told.iter().filter(|text| text.contains(mark)).count();
    measured.leaks += history.forbidden.iter().map(|mark| bad(mark)).sum::<usize>();
    measured.leaks += others.iter().map(|mark| bad(mark)).sum::<usize>();
    told
}

fn note_place(measured: &mut Measured, text: &str, fact: &Fact, hits: impl Fn(&mut Measured) -> &mut Share) {
    let is_hit = text.contains(&fact.mark);
    hits(measured).count(is_hit);
    measured.hits += usize::from(is_hit);
    measured.tokens += text.chars().count().div_ceil(4);
    for line in lines(text) {
        measured.fitting.count(line.contains(&fact.mark));
    }
    if let Some(reversed) = &fact.reverses {
        measured.stale.count(text.contains(reversed));
    }
}

fn note_plain(measured: &mut Measured, text: &str) {
    measured.quiet.count(text.is_empty());
    measured.tokens += text.chars().count().div_ceil(4);
    lines(text).for_each(|_| measured.fitting.count(false));
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with("- "))
}

/// One session that meets every place of the history.
fn whole_session(desk: &mut Desk, history: &History, session: &str, measured: &mut Measured) -> String {
    let mut text = desk.start(session, &history.cwd);
    for file in history.facts.iter().filter_map(|fact| fact.file.as_ref()).chain(&history.plain_files) {
        text += &desk.read(session, &history.cwd, file);
    }
    for prompt in history.facts.iter().map(|fact| &fact.asks).chain(&history.plain_prompts) {
        text += &desk.prompt(session, &history.cwd, prompt);
    }
    let all: Vec<&str> = lines(&text).collect();
    let once: BTreeSet<&&str> = all.iter().collect();
    assert_eq!(all.len(), once.len(), "a line is told once in a session:\n{text}");
    measured.session_tokens.push(text.chars().count().div_ceil(4));
    text
}

/// Forbidden marks in the memories themselves. What a rule took from a turn with a web page may be there as a proposal.
fn stored_leaks(store: &Store, histories: &[History]) -> usize {
    let mut leaks = 0;
    for history in histories {
        let (evidence, edits) = store.memories_of_project(stable_hash(history.cwd.as_bytes())).unwrap();
        let texts =
            gather(&evidence, &edits).into_iter().filter(|memory| !memory.suspect).map(|memory| memory.text);
        let texts: Vec<String> = texts.collect();
        leaks +=
            history.forbidden.iter().filter(|mark| texts.iter().any(|text| text.contains(&***mark))).count();
    }
    leaks
}

/// Writes sessions in which the agent was told these texts, and counts what becomes of them.
fn loops(desk: &mut Desk, root: &Path, histories: &[History], told: &[String]) -> usize {
    let later = |n: i64| -> Timestamp { NOW + Millis(n * 60_000) };
    let mut ids = Vec::new();
    for (n, text) in told.iter().filter(|text| !text.is_empty()).enumerate() {
        let id = format!("{n:08x}-2222-4000-8000-000000000000");
        let mut session = Session::new(id.clone(), &histories[n % histories.len()].cwd, later(n as i64));
        session.prompt("go on").read("src/a.rs").told(text).answer("I read it.");
        // A user pastes it, and the output of a tool holds it.
        session.prompt(&format!("No, look at this:\n{text}")).bash("cat notes", None);
        session.call("Bash", json!({ "command": "make notes" }), text, true).edit("src/a.rs");
        session.call("Bash", json!({ "command": "make notes" }), "ok", false).answer("Done.");
        session.write(root);
        ids.push(id);
    }
    // The index opens the store for writing itself.
    let data_dir = desk.settings.data_dir.clone().unwrap();
    desk.store = Store::open(&data_dir, OpenMode::Read).unwrap();
    index(&desk.settings);
    desk.store = Store::open(&data_dir, OpenMode::WriteOrRead).unwrap();
    desk.change(&MemoryChange::Learn);
    let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let texts: Vec<&str> = told.iter().flat_map(|text| lines(text)).map(|line| &line[2..]).collect();
    let mut loops = 0;
    for history in histories {
        let (evidence, _) = desk.store.memories_of_project(stable_hash(history.cwd.as_bytes())).unwrap();
        let here = evidence.iter().filter(|one| ids.contains(&*one.session));
        loops += here
            .filter(|one| {
                texts
                    .iter()
                    .any(|text| one.text.contains(&text[..text.len().min(40)]) || text.contains(&*one.text))
            })
            .count();
    }
    loops
}
