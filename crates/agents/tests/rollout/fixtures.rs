//! Rollouts of real clients, from the fixtures of the repository.

use std::path::{Path, PathBuf};

use serde_json::Value;
use watchbill_agents::codex::records::parse_line;
use watchbill_core::ids::SessionId;
use watchbill_core::session::effect::Effect;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;

/// A rollout as a client left it.
pub struct Rollout {
    /// The fixture, and the end of the session's id if the fixture has several.
    pub name: String,
    /// The session, by the file's name; for a file without one, by its first record.
    pub session: String,
    /// The whole text.
    pub text: String,
}

/// A step of a recording.
pub enum Step {
    /// What the driver did or saw.
    Mark(String),
    /// Lines that the client appended to a rollout.
    Append {
        /// The session.
        session: String,
        /// The lines.
        text: String,
    },
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/codex").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The steps of each recording, by its name.
pub fn recordings() -> Vec<(String, Vec<Step>)> {
    let steps = |file: &PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let step = |line: &str| {
            let op: Value = serde_json::from_str(line).unwrap();
            let (path, text) = (op["path"].as_str().unwrap_or(""), op["text"].as_str().unwrap_or(""));
            match op["op"].as_str().unwrap() {
                "mark" => Some(Step::Mark(text.to_owned())),
                "append" if path.contains("/rollout-") => {
                    let name = path.strip_suffix(".jsonl").unwrap();
                    let session = name[name.len() - 36..].to_owned();
                    Some(Step::Append { session, text: text.to_owned() })
                }
                _ => None,
            }
        };
        text.lines().filter_map(step).collect()
    };
    files("recordings").iter().map(|file| (stem(file), steps(file))).collect()
}

/// All rollouts.
pub fn rollouts() -> Vec<Rollout> {
    let mut all: Vec<Rollout> = Vec::new();
    for (name, steps) in recordings() {
        for step in steps {
            let Step::Append { session, text } = step else { continue };
            let name = format!("{name} {}", &session[30..]);
            match all.iter_mut().find(|rollout| rollout.name == name) {
                Some(rollout) => rollout.text.push_str(&text),
                None => all.push(Rollout { name, session, text }),
            }
        }
    }
    for file in files("rollouts").into_iter().chain(files("shapes")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let session = first["payload"]["id"].as_str().unwrap().to_owned();
        all.push(Rollout { name: stem(&file), session, text });
    }
    all
}

/// The fold of a rollout that has no lines yet.
pub fn new_fold(session: &str) -> SessionFold {
    SessionFold::new(SessionId::new(session), Timeouts::default())
}

/// Applies lines to a fold.
pub fn fold_lines(fold: &mut SessionFold, text: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for line in text.lines() {
        parse_line(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut effects));
    }
    effects
}
