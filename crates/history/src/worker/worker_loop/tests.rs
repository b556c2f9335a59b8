//! Tests of the worker, slice by slice: its state after a refusal of the store, after damage and after a removal.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::{Batch, BatchStatus, Ended, Exclude, HistorySettings, RecoverySettings};
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::SessionId;
use watchbill_core::memory::MemorySettings;
use watchbill_core::time::Millis;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::clock::ManualClock;
use watchbill_watch::mem::MemFs;

use super::*;
use crate::history_progress::HistoryProgress;
use crate::live_state::{ExcludeEffect, LiveState};
use crate::shared_store::SharedStore;
use crate::worker::grown_files::{GrownFiles, PAUSE};
use crate::worker::hook_queue::HookQueue;
use crate::worker::queues::SLICE_FILES;
use crate::worker::retry::RETRY_PAUSE;

mod flood;

/// An engine without state.
struct NoEngine;

impl LiveState for NoEngine {
    fn facts_without(
        &self,
        _: &Store,
        _: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(&'static str, Vec<u8>)>, StoreError> {
        Ok(None)
    }

    fn exclude_effect(&self, _: ClientPath, _: &[u8], _: &Exclude) -> ExcludeEffect {
        ExcludeEffect::Nothing
    }
}

const ROOT: &str = "/home/dev/.claude";

struct WorkerFixture {
    fs: MemFs,
    shared_store: Arc<SharedStore>,
    clock: ManualClock,
    grown: Arc<GrownFiles>,
    hook_events: Arc<HookQueue>,
    reach: Arc<HistoryProgress>,
    folder: tempfile::TempDir,
}

impl WorkerFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        store.set_busy_timeout(Duration::ZERO).unwrap();
        let shared_store = Arc::new(SharedStore::default());
        *shared_store.lock_urgent("test") = Some(store);
        let clock = ManualClock::new(Timestamp::from_millis(1_795_262_400_000));
        let reach = Arc::<HistoryProgress>::default();
        let hook_events = Arc::new(HookQueue::new(Arc::clone(&reach)));
        Self { fs: MemFs::new(), shared_store, clock, grown: Arc::default(), hook_events, reach, folder }
    }

    fn path(session: &str) -> PathBuf {
        Path::new(ROOT).join(format!("projects/p/{session}.jsonl"))
    }

    fn append_prompt(&self, session: &str, id: &str, text: &str) {
        let line = format!(
            r#"{{"type":"user","uuid":"{session}{id}","sessionId":"{session}","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"{text}"}}}}"#
        );
        self.fs.append(Self::path(session), (line + "\n").as_bytes());
    }

    fn worker(&self, exclude: &[&str]) -> Worker {
        let exclude = Exclude::new(exclude.iter().map(|pattern| (*pattern).to_owned()));
        let parts = HistoryParts {
            fs: Arc::new(self.fs.clone()),
            shared_store: Arc::clone(&self.shared_store),
            roots: vec![ROOT.into()],
            settings: HistorySettings { exclude, ..HistorySettings::default() },
            recovery: RecoverySettings::default(),
            archive: ArchiveSettings::default(),
            memory: MemorySettings::default(),
            data_dir: self.folder.path().to_owned(),
            clock: Arc::new(self.clock.clone()),
            reach: Arc::clone(&self.reach),
            live: Arc::new(NoEngine),
            living: Arc::default(),
            journal: Box::new(|_| Vec::new()),
            wake_engine: Arc::new(|| {}),
        };
        let hook_events = HookQueueReceiver::new(Arc::clone(&self.hook_events));
        let model = Arc::new(ModelQueue::new(parts.settings.clone(), parts.memory.clone()));
        Worker::new(parts, GrownFilesReceiver::new(Arc::clone(&self.grown)), hook_events, model)
    }

    /// Takes turns until no work is left.
    fn exhaust(&self, worker: &mut Worker) {
        for _ in 0..1_000 {
            worker.run_slice();
            self.later();
            if !worker.has_work() {
                return;
            }
        }
        panic!("it never ends");
    }

    fn later(&self) {
        let now: Timestamp = watchbill_watch::clock::Clock::now(&self.clock);
        self.clock.set(now + RETRY_PAUSE + Millis(1));
    }

    /// Runs `done` while another connection is in the middle of a step.
    fn while_locked(&self, done: impl FnOnce()) {
        let mut other = self.shared_store.lock_urgent("test").as_ref().unwrap().second_writer().unwrap();
        let step = other.step().unwrap();
        done();
        drop(step);
    }

    fn with_store<T>(&self, done: impl FnOnce(&mut Store) -> T) -> T {
        done(self.shared_store.lock_urgent("test").as_mut().unwrap())
    }

    fn texts(&self, session: &str) -> Vec<String> {
        self.with_store(|store| {
            let key = store.session_key(&SessionId::new(session)).unwrap().unwrap();
            let files = store.files_of(key).unwrap();
            let texts = files.into_iter().flat_map(|(file, _)| store.texts(file, 0, 1_000).unwrap());
            texts.map(|text| text.text).collect()
        })
    }
}

fn hook_message(session: &str) -> HookMessage {
    let path = WorkerFixture::path(session);
    let payload = format!(
        r#"{{"session_id":"{session}","hook_event_name":"Stop","transcript_path":"{}","cwd":"/home/dev/work"}}"#,
        path.display()
    );
    let origin = HookOrigin {
        id: "1".into(),
        at: Timestamp::from_millis(1_795_260_600_000),
        order: 1,
        agent: None,
        ancestors: Arc::from([]),
        terminal: None,
    };
    HookMessage::new(origin, payload.into_bytes())
}

#[test]
fn a_refusal_is_reported_until_a_slice_stores_something_again() {
    let house = WorkerFixture::new();
    (0..SLICE_FILES * 3).for_each(|n| house.append_prompt(&format!("s{n}"), "1", "words"));
    let mut worker = house.worker(&[]);
    worker.take(Task::Begin);
    worker.run_slice();
    house.while_locked(|| worker.run_slice());
    assert!(house.shared_store.trouble().is_some());
    house.later();
    worker.run_slice();
    assert!(house.shared_store.trouble().is_some(), "to look for what is behind writes nothing");
    worker.run_slice();
    assert_eq!(house.shared_store.trouble(), None);
    assert!(worker.has_work());
}

#[test]
fn the_reach_is_published_as_current_behind_or_unknown() {
    let house = WorkerFixture::new();
    let is = |reached: HistoryState| assert_eq!(house.reach.get(), reached);
    let grows = |worker: &mut Worker, session: &str| {
        house.grown.add(vec![WorkerFixture::path(session)]);
        worker.take(Task::FilesGrew);
        // As if the pause after the last take were over.
        worker.queues.receiver.set_taken_at(None);
    };
    (0..SLICE_FILES * 3).for_each(|n| house.append_prompt(&format!("s{n}"), "1", "words"));
    let mut worker = house.worker(&[]);
    worker.run_slice();
    is(HistoryState::Unknown);
    worker.take(Task::Begin);
    for _ in 0..3 {
        worker.run_slice();
        is(HistoryState::Behind);
    }
    house.exhaust(&mut worker);
    is(HistoryState::Current);
    house.append_prompt("s0", "2", "more");
    grows(&mut worker, "s0");
    house.while_locked(|| worker.run_slice());
    is(HistoryState::Unknown);
    house.later();
    house.exhaust(&mut worker);
    is(HistoryState::Current);

    *house.shared_store.lock_urgent("test") = Some(Store::open(house.folder.path(), OpenMode::Read).unwrap());
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    is(HistoryState::Unknown);
    *house.shared_store.lock_urgent("test") =
        Some(Store::open(house.folder.path(), OpenMode::WriteOrRead).unwrap());
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    is(HistoryState::Current);
    house.reach.set_paths_pending(true);
    is(HistoryState::Unknown);
    house.reach.set_paths_pending(false);
    is(HistoryState::Current);
    // A missing file does not matter for the history; a file that may not be read does.
    grows(&mut worker, "gone");
    house.exhaust(&mut worker);
    is(HistoryState::Current);
    house.append_prompt("denied", "1", "words");
    house.fs.deny(WorkerFixture::path("denied"), true);
    grows(&mut worker, "denied");
    house.exhaust(&mut worker);
    is(HistoryState::Unknown);
    house.fs.deny(WorkerFixture::path("denied"), false);
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    is(HistoryState::Current);
    worker.take(Task::Damaged);
    worker.publish_progress();
    is(HistoryState::Unknown);
    house.exhaust(&mut worker);
    is(HistoryState::Current);
    drop(worker);
    is(HistoryState::Unknown);
}

#[test]
fn damage_is_mended_after_the_store_can_be_written_again() {
    let house = WorkerFixture::new();
    house.append_prompt("s", "1", "words");
    let mut worker = house.worker(&[]);
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    worker.take(Task::Damaged);
    house.while_locked(|| worker.run_slice());
    assert!(worker.damage.is_some());
    house.later();
    worker.run_slice();
    assert_eq!(worker.damage, None, "the index is sound");
}

#[test]
fn a_failing_rebuild_is_retried_after_growing_pauses_and_reported_once() {
    let house = WorkerFixture::new();
    let mut worker = house.worker(&[]);
    let troubles = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&troubles);
    worker.parts.wake_engine = Arc::new(move || {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    worker.take(Task::Damaged);
    let full = || StoreError::Full { path: house.folder.path().join("watchbill.db") };
    let waits: Vec<u64> = (0..10)
        .map(|_| {
            worker.refused(SliceError::Store(full()));
            let wait = worker.time_left().unwrap();
            house.clock.set(worker.retry.until().unwrap());
            wait.as_secs()
        })
        .collect();
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    assert_eq!(troubles.load(Ordering::Relaxed), 1);
    house.exhaust(&mut worker);
    assert_eq!((worker.damage, house.shared_store.trouble()), (None, None), "as soon as there is room");
    assert_eq!(troubles.load(Ordering::Relaxed), 2);
}

#[test]
fn hook_events_before_a_removal_do_not_block_a_new_reading() {
    let house = WorkerFixture::new();
    house.append_prompt("s", "1", "first");
    let mut worker = house.worker(&[]);
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    // The roster has the session in a folder that is excluded now. Its records have another folder.
    house.with_store(|store| {
        let mut step = store.step().unwrap();
        let key = step.session_key(&SessionId::new("s")).unwrap();
        step.note_hook_folder(key, "/home/dev/secret").unwrap();
        step.commit().unwrap();
    });
    let mut worker = house.worker(&["/home/dev/secret/**", "/home/dev/secret"]);
    house.hook_events.add(vec![hook_message("s")]);
    worker.take(Task::HookEvents);
    worker.run_slice();
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    assert_eq!(house.texts("s"), ["first"]);
    house.append_prompt("s", "2", "second");
    house.grown.add(vec![WorkerFixture::path("s")]);
    worker.take(Task::FilesGrew);
    house.exhaust(&mut worker);
    assert_eq!(house.texts("s"), ["first", "second"]);
    assert_eq!(house.shared_store.trouble(), None);
}

#[test]
fn new_settings_apply_on_the_same_thread() {
    let house = WorkerFixture::new();
    house.append_prompt("s", "1", "first");
    let mut worker = house.worker(&[]);
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    let mut settings = watchbill_settings::Settings::for_roots(vec![PathBuf::from(ROOT)]);
    settings.history.exclude = Exclude::new([format!("{ROOT}/projects/p/s.jsonl")]);
    worker.take(Task::Settings(Box::new(settings)));
    worker.take(Task::Begin);
    house.exhaust(&mut worker);
    let known = house.with_store(|store| store.session_key(&SessionId::new("s")).unwrap());
    assert_eq!(known, None);
}

#[test]
fn the_first_line_is_stored_at_once_and_lines_of_the_pause_together() {
    let house = WorkerFixture::new();
    let mut worker = house.worker(&[]);
    let grows = |id: &str| {
        house.append_prompt("s", id, id);
        house.grown.add(vec![WorkerFixture::path("s")])
    };
    assert!(grows("first"));
    worker.take(Task::FilesGrew);
    worker.run_slice();
    assert_eq!(house.texts("s"), ["first"]);
    // Even if this test runs slowly, the last take was a moment ago.
    worker.queues.receiver.set_taken_at(Some(Instant::now() + Duration::from_secs(3_600)));
    assert!(grows("second"), "the thread is told");
    worker.take(Task::FilesGrew);
    assert_eq!(worker.time_left(), Some(PAUSE));
    worker.run_slice();
    assert!(!grows("third"), "and not woken again");
    assert_eq!(house.texts("s"), ["first"]);
    worker.queues.receiver.set_taken_at(None);
    assert_eq!(worker.time_left(), Some(Duration::ZERO));
    worker.run_slice();
    assert_eq!(house.texts("s"), ["first", "second", "third"]);
    assert!(!worker.has_work());
}

#[test]
fn turns_stored_during_a_recovery_get_a_check_too() {
    let house = WorkerFixture::new();
    let mut worker = house.worker(&[]);
    let batch = |id: &str, at: Timestamp| Batch {
        started_at: Some(at),
        last_activity_at: Some(at),
        ended: Some(Ended { status: BatchStatus::Active, at, error: None }),
        ..Batch::new(id.into())
    };
    let (long_ago, now) = (Timestamp::from_millis(1_000), watchbill_watch::clock::Clock::now(&house.clock));
    let store = |session: &str, batch: &Batch| {
        house.with_store(|store| {
            let mut step = store.step().unwrap();
            let key = step.session_key(&SessionId::new(session)).unwrap();
            step.merge_batch(key, None, batch).unwrap();
            step.commit().unwrap();
            key
        })
    };
    store("killed", &batch("a", long_ago));
    worker.schedule.recover = Some(now);
    worker.run_slice();
    assert_eq!(worker.schedule.recover, Some(now), "the look has begun");
    house.append_prompt("s", "1", "words");
    house.grown.add(vec![WorkerFixture::path("s")]);
    worker.take(Task::FilesGrew);
    worker.run_slice();
    assert_eq!(house.texts("s"), ["words"]);
    worker.run_slice();
    let every = worker.parts.recovery.every;
    assert_eq!(worker.schedule.recover, Some(now + every), "a turn that was stored meanwhile may get stuck");
}
