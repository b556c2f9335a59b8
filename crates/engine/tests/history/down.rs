//! Changes that happen while no Watchbill runs are in the store after the next start. That includes changes that no
//! file reports: time that has passed, and a removed transcript.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use watchbill_core::history::BatchStatus;
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::handle::{real_sources, start_in};
use watchbill_store::{OpenMode, Store};

use super::thread::{released, settings};

use crate::wait::until_is;

const PROMPT: &str = r#"{"type":"user","uuid":"u1","sessionId":"s","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:01.000Z","message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"text","text":"I look"}],"stop_reason":null}}
"#;
const END: &str = r#"{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:09.000Z","message":{"id":"m2","role":"assistant","model":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}}
"#;

fn at(secs: i64) -> Timestamp {
    Timestamp::parse("2026-11-20T15:00:00.000Z").unwrap() + Millis::from_secs(secs)
}

/// The stored session: its state, all its transitions, the status of its turns.
#[derive(Debug, PartialEq, Eq)]
struct Stored {
    state: Option<String>,
    transitions: Vec<(Timestamp, String)>,
    turns: Vec<Option<BatchStatus>>,
}

struct OneSession {
    _folder: tempfile::TempDir,
    root: PathBuf,
    transcript: PathBuf,
}

impl OneSession {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("claude/projects/p");
        std::fs::create_dir_all(&project).unwrap();
        let transcript = project.join("s.jsonl");
        std::fs::write(&transcript, text).unwrap();
        Self { _folder: folder, root, transcript }
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// Runs an engine at that time until the store holds the expected state.
    fn run(&self, now: Timestamp, state: &str, transitions: &[(Timestamp, &str)], turn: BatchStatus) {
        let mut settings = settings(&self.root);
        settings.recovery.every = Millis(20);
        let clock = ManualClock::new(now);
        let engine =
            start_in(settings, real_sources(), Arc::new(clock.clone()), None, Arc::default()).unwrap();
        let transitions = transitions.iter().map(|(at, state)| (*at, (*state).to_owned())).collect();
        let expected = Stored { state: Some(state.to_owned()), transitions, turns: vec![Some(turn)] };
        let began = Instant::now();
        until_is(&Some(expected), || {
            clock.set(now + Millis(i64::try_from(began.elapsed().as_millis()).unwrap()));
            stored(&self.data())
        });
        engine.stop();
        drop(engine);
        released(&self.data());
    }
}

fn stored(data: &Path) -> Option<Stored> {
    let store = Store::open(data, OpenMode::Read).ok()?;
    let id = SessionId::new("s");
    let key = store.session_key(&id).ok()??;
    let transitions = store.transitions(key, 9).ok()?.into_iter().rev().map(|row| (row.at, row.state));
    let turns = store.batches(key).ok()?.into_iter();
    Some(Stored {
        state: store.session(&id).ok()??.state,
        transitions: transitions.collect(),
        turns: turns.map(|stored| stored.batch.ended.map(|ended| ended.status)).collect(),
    })
}

#[test]
fn a_turn_that_timed_out_while_watchbill_was_down_is_over() {
    let session = OneSession::new(PROMPT);
    let working = (at(0), "working");
    session.run(at(2), "working", &[working], BatchStatus::Active);
    session.run(at(3_600), "idle", &[working, (at(601), "idle")], BatchStatus::Completed);
    session.run(at(3_601), "idle", &[working, (at(601), "idle")], BatchStatus::Completed);
}

#[test]
fn a_turn_that_ended_while_watchbill_was_down_has_its_transition() {
    let session = OneSession::new(PROMPT);
    let working = (at(0), "working");
    session.run(at(2), "working", &[working], BatchStatus::Active);
    std::fs::write(&session.transcript, PROMPT.to_owned() + END).unwrap();
    session.run(
        at(20),
        "waiting_for_input",
        &[working, (at(9), "waiting_for_input")],
        BatchStatus::Completed,
    );
}

#[test]
fn a_session_whose_transcript_was_removed_while_watchbill_was_down_is_ended() {
    let session = OneSession::new(PROMPT);
    let working = (at(0), "working");
    session.run(at(2), "working", &[working], BatchStatus::Active);
    std::fs::remove_file(&session.transcript).unwrap();
    session.run(at(3_600), "ended", &[working], BatchStatus::Completed);
}
