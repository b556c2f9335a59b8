//! Plays a recording to an engine in virtual time, through files, hints and stand-in processes.

use std::path::{Path, PathBuf};

use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::demo::replay::{Operation, Recording};
use watchbill_engine::demo::stage::Stage;
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::input::{Input, Output};
use watchbill_settings::Settings;

/// The folder of recordings.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings")
}

/// One recording: its name, its text, and its parsed form.
pub struct NamedRecording {
    pub name: String,
    pub text: String,
    pub recording: Recording,
}

/// Every recording, by name.
pub fn all() -> Vec<NamedRecording> {
    let mut all: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "ndjson"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(path).unwrap();
            NamedRecording { name, recording: Recording::parse(&text).unwrap(), text }
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(all.len() >= 32, "the recordings are missing");
    all
}

/// The witnesses beside the transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Witnesses {
    pub registry: bool,
    pub hooks: bool,
}

impl Witnesses {
    pub const ALL: Self = Self { registry: true, hooks: true };
    pub const REGISTRY: Self = Self { registry: true, hooks: false };
    pub const HOOKS: Self = Self { registry: false, hooks: true };
    /// Files alone; no process is probed.
    pub const FILES: Self = Self { registry: false, hooks: false };
}

/// A stage, an engine on it, and the time.
pub struct Player<'a> {
    pub recording: &'a Recording,
    pub stage: Stage,
    pub engine: Engine,
    pub now: Timestamp,
    witnesses: Witnesses,
}

impl<'a> Player<'a> {
    /// An engine on an empty stage, after its first scan.
    pub fn new(recording: &'a Recording, witnesses: Witnesses) -> Self {
        let stage = Stage::new(Path::new("/home/dev/.claude"), || {});
        stage.enter(recording);
        let settings = Settings::for_roots(vec![stage.root.clone()]);
        let outlook = Outlook { live: witnesses != Witnesses::FILES, until: None };
        let mut engine = Engine::new(settings, stage.world(), outlook, recording.begin);
        engine.read_registries(&mut Vec::new());
        engine.step(recording.begin, Input::ScanEnded(Vec::new()));
        Self { recording, stage, engine, now: recording.begin, witnesses }
    }

    /// Fires every deadline up to `until` at its own time; calls `seen` with the engine after each.
    pub fn run_to(&mut self, until: Timestamp, seen: &mut dyn FnMut(&Engine, Timestamp, &[Output])) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            let out = self.engine.step(self.now, Input::Deadline);
            seen(&self.engine, self.now, &out);
        }
        self.now = self.now.max(until);
    }

    /// Performs one operation at its time and hands it to the engine.
    pub fn act(
        &mut self,
        at: Millis,
        operation: &Operation,
        seen: &mut dyn FnMut(&Engine, Timestamp, &[Output]),
    ) {
        self.run_to(self.recording.begin + at, seen);
        if let Operation::Hook(hook) = operation
            && self.witnesses.hooks
        {
            let out = self.engine.step(self.now, Input::Hooks(vec![hook.message(self.now)]));
            seen(&self.engine, self.now, &out);
        }
        let of_registry = match operation {
            Operation::Write { path, .. } | Operation::Remove { path } => path.starts_with("sessions"),
            _ => false,
        };
        if of_registry && !self.witnesses.registry {
            return;
        }
        let ended = self.stage.act(self.recording, self.now, operation);
        let hints = self.stage.hints.take();
        if !hints.is_empty() {
            let out = self.engine.step(self.now, Input::Hints(hints));
            seen(&self.engine, self.now, &out);
        }
        if let Some(pid) = ended {
            let out = self.engine.step(self.now, Input::ProcessEnded(Some(pid)));
            seen(&self.engine, self.now, &out);
        }
    }

    /// The changes that silence alone makes after the recording's end.
    pub fn run_out(&mut self, seen: &mut dyn FnMut(&Engine, Timestamp, &[Output])) {
        self.run_to(self.recording.begin + self.recording.length() + Millis::from_secs(3600), seen);
    }
}
