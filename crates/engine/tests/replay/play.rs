//! Plays a recording to an engine in virtual time and writes down what the roster shows, beside what
//! the driver of the recording did and saw.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::input::{Input, Output};
use watchbill_engine::replay::{Operation, Recording};
use watchbill_engine::settings::Settings;
use watchbill_engine::stage::Stage;

/// The folder of recordings.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings")
}

/// Every recording by name.
pub fn all() -> Vec<(String, Recording)> {
    let mut all: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ndjson"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, Recording::parse(&std::fs::read_to_string(path).unwrap()).unwrap())
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Plays `recording` and gives the timeline: marks of the driver with `#`, states of the roster without.
pub fn play(recording: &Recording, live: bool) -> String {
    let stage = Stage::new(Path::new("/home/dev/.claude"), || {});
    stage.enter(recording);
    let settings = Settings::for_roots(vec![stage.root.clone()]);
    let outlook = Outlook { live, until: None };
    let mut player = Player {
        engine: Engine::new(settings, stage.world(), outlook, recording.begin),
        begin: recording.begin,
        out: String::new(),
        last: BTreeMap::new(),
    };
    let mut first = Vec::new();
    player.engine.read_registries(&mut first);
    player.step(recording.begin, Input::ScanEnded(Vec::new()));
    for (at, operation) in &recording.operations {
        let now = recording.begin + *at;
        player.run_to(now);
        if let Operation::Mark(text) = operation {
            player.mark(*at, text);
        }
        let ended = stage.act(recording, now, operation);
        player.step(now, Input::Hints(stage.hints.take()));
        if let Some(pid) = ended {
            player.step(now, Input::ProcessEnded(Some(pid)));
        }
    }
    // What silence alone changes afterwards.
    player.run_to(recording.begin + recording.length() + Millis::from_secs(3600));
    player.out
}

struct Player {
    engine: Engine,
    begin: Timestamp,
    out: String,
    last: BTreeMap<SessionId, String>,
}

impl Player {
    fn run_to(&mut self, now: Timestamp) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= now) {
            self.step(due, Input::Deadline);
        }
    }

    fn step(&mut self, now: Timestamp, input: Input) {
        let out = self.engine.step(now, input);
        for output in out {
            if let Output::Transition { session } = output {
                self.note(now, &session);
            }
        }
    }

    fn note(&mut self, now: Timestamp, session: &SessionId) {
        let Some(row) = self.engine.row(session) else { return };
        let kind = row.state_kind.map(|kind| format!("/{}", kind.word())).unwrap_or_default();
        let pending: Vec<String> =
            row.pending_tools.iter().map(|tool| format!("{} {}", tool.tool, tool.target)).collect();
        let pending = if pending.is_empty() { String::new() } else { format!("  [{}]", pending.join("; ")) };
        let line = format!(
            "{} {}{kind}  {} ({}, {}){pending}",
            &session.as_str()[..8.min(session.as_str().len())],
            row.state.word(),
            row.state_reason.detail,
            row.state_reason.source.word(),
            row.state_reason.confidence.word(),
        );
        if self.last.insert(session.clone(), line.clone()).as_ref() != Some(&line) {
            let at = now.since(self.begin);
            let _ = writeln!(self.out, "{:>8.1}  {line}", at.0 as f64 / 1000.0);
        }
    }

    fn mark(&mut self, at: Millis, text: &str) {
        let text: String = text.chars().take(120).collect();
        let _ = writeln!(self.out, "{:>8.1}  # {text}", at.0 as f64 / 1000.0);
    }
}
