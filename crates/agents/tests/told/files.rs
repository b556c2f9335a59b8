//! Sessions of real clients, from the fixtures of the repository.

use std::path::{Path, PathBuf};

use serde_json::Value;
use watchbill_agents::document;
use watchbill_agents::files::{parser_of, place_of};
use watchbill_agents::layout::ClientPath;
use watchbill_agents::traits::Parser;
use watchbill_core::ids::SessionId;
use watchbill_core::session::effect::Effect;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;

/// A session as a client left it.
pub struct File {
    /// The fixture, and the end of the session's id if the fixture has several.
    pub name: String,
    /// The path below a home.
    pub path: PathBuf,
    /// The lines.
    pub lines: Vec<String>,
}

/// The agents with recordings.
const AGENTS: [&str; 6] = ["pi", "gemini", "kimi", "grok", "droid", "qwen"];

/// The session of Cursor's fixtures.
const CURSORS: &str = "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc";

/// A step of a recording.
pub enum Step {
    /// What the driver did or saw.
    Mark(String),
    /// Lines that the client appended to a file.
    Append(PathBuf, String),
    /// A file that the client wrote anew.
    Write(PathBuf, String),
}

impl File {
    /// The parser for its path.
    pub fn parser(&self) -> Parser {
        parser_of(&self.path)
    }

    /// Its session, by its path.
    pub fn session(&self) -> SessionId {
        session_of(&self.path)
    }

    /// The fold of all its lines.
    pub fn fold(&self) -> SessionFold {
        let mut fold = new_fold(self.session());
        fold_lines(&mut fold, self.parser(), self.lines.iter().map(String::as_str));
        fold
    }
}

/// The session of a path.
pub fn session_of(path: &Path) -> SessionId {
    match place_of(path) {
        Some(ClientPath::Transcript { session, .. } | ClientPath::Subagent { session, .. }) => session,
        place => panic!("{} is {place:?}", path.display()),
    }
}

/// The end of a session's id.
pub fn end(id: &str) -> &str {
    &id[id.len() - 6..]
}

/// The fold of a session that has no lines yet.
pub fn new_fold(session: SessionId) -> SessionFold {
    SessionFold::new(session, Timeouts::default())
}

/// Applies lines to a fold.
pub fn fold_lines<'l>(
    fold: &mut SessionFold,
    parse: Parser,
    lines: impl Iterator<Item = &'l str>,
) -> Vec<Effect> {
    let mut effects = Vec::new();
    for line in lines {
        parse(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut effects));
    }
    effects
}

fn fixtures(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &PathBuf| {
        (file.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(file).unwrap())
    };
    files.iter().map(read).collect()
}

/// The steps of each recording of an agent, by its name.
pub fn recordings(agent: &str) -> Vec<(String, Vec<Step>)> {
    let is_transcript = |path: &str| place_of(Path::new(path)).is_some_and(|place| place.is_transcript());
    let step = |line: &str| {
        let op: Value = serde_json::from_str(line).unwrap();
        let (path, text) = (op["path"].as_str().unwrap_or(""), op["text"].as_str().unwrap_or("").to_owned());
        match op["op"].as_str().unwrap() {
            "mark" => Some(Step::Mark(text)),
            "append" if is_transcript(path) => Some(Step::Append(path.into(), text)),
            "write" if is_transcript(path) => Some(Step::Write(path.into(), text)),
            _ => None,
        }
    };
    let of =
        |(name, text): (String, String)| (format!("{agent} {name}"), text.lines().filter_map(step).collect());
    fixtures(&format!("{agent}/recordings")).into_iter().map(of).collect()
}

/// All sessions.
pub fn files() -> Vec<File> {
    let mut all: Vec<File> = Vec::new();
    for (name, steps) in AGENTS.into_iter().flat_map(recordings) {
        for step in steps {
            let (path, text, anew) = match step {
                Step::Mark(_) => continue,
                Step::Append(path, text) => (path, text, false),
                Step::Write(path, text) => (path, text, true),
            };
            let lines = text.lines().map(str::to_owned);
            match all.iter_mut().find(|file| file.path == path) {
                Some(file) if anew => file.lines = lines.collect(),
                Some(file) => file.lines.extend(lines),
                None => {
                    let id = session_of(&path);
                    let mut name = format!("{name} {}", end(id.as_str()));
                    if let Some(ClientPath::Subagent { agent, .. }) = place_of(&path) {
                        name += &format!(" beside it [{agent}]");
                    }
                    all.push(File { name, path, lines: lines.collect() });
                }
            }
        }
    }
    for (name, text) in fixtures("pi/shapes") {
        let path = format!("sessions/--x--/2026-01-05T09-00-00-000Z_{name}.jsonl").into();
        all.push(File { name: format!("pi {name}"), path, lines: text.lines().map(str::to_owned).collect() });
    }
    for (name, text) in fixtures("gemini/shapes") {
        let path =
            format!("tmp/x/chats/session-2026-01-05T09-00-{}.jsonl", name.replace("session-", "shape"));
        let lines = text.lines().map(str::to_owned).collect();
        all.push(File { name: format!("gemini {name}"), path: path.into(), lines });
    }
    for (fixture, path) in [
        ("gemini/document.json", "tmp/x/chats/session-2026-02-23T08-04-5c2a9d10.jsonl"),
        ("amp/thread.json", "threads/T-5928a90d-d53b-488f-a829-4e36442142ee.jsonl"),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
        let text = document::lines(std::fs::read(folder.join(fixture)).unwrap()).unwrap();
        let lines = String::from_utf8(text).unwrap().lines().map(str::to_owned).collect();
        all.push(File { name: fixture.to_owned(), path: path.into(), lines });
    }
    for (name, text) in fixtures("cursor/shapes") {
        let path = format!("projects/x/agent-transcripts/{CURSORS}.jsonl").into();
        all.push(File {
            name: format!("cursor {name}"),
            path,
            lines: text.lines().map(str::to_owned).collect(),
        });
    }
    all
}
