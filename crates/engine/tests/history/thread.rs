//! The history's thread while the engine runs: real files, a real store, a running engine.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::clock::ManualClock;
use watchbill_engine::handle::{real_sources, start, start_in};
use watchbill_engine::model::publish::Subscription;
use watchbill_protocol::roster::RosterMessage;
use watchbill_settings::Settings;
use watchbill_store::search::Query;
use watchbill_store::{Access, OpenMode, Store};
use watchbill_watch::WatchMethod;
use watchbill_watch::hints::HintSet;

use crate::wait::{until, until_is};

pub fn line(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"s","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"{text}"}}}}"#
    ) + "\n"
}

/// Waits until the store holds that many texts of the session; a minute at most.
pub fn texts(data: &Path, count: usize) -> Vec<String> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let found = read(data).unwrap_or_default();
        if found.len() >= count || Instant::now() > until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read(data: &Path) -> Option<Vec<String>> {
    let store = Store::open(data, OpenMode::Read).ok()?;
    let key = store.session_key(&SessionId::new("s")).ok()??;
    let mut found = Vec::new();
    for (file, _) in store.files_of(key).ok()? {
        found.extend(store.texts(file, 0, 1_000).ok()?.into_iter().map(|text| text.text));
    }
    Some(found)
}

/// Waits until a dropped engine has released the store: the drop asks it to end, and does not wait. An engine that
/// starts meanwhile only reads until something happens.
pub fn released(data: &Path) {
    until("the store to be let go of", || {
        Store::open(data, OpenMode::WriteOrRead).unwrap().access() == Access::Writer
    });
}

pub fn settings(folder: &Path) -> Settings {
    let mut settings = Settings::for_roots(vec![folder.join("claude")]);
    settings.data_dir = Some(folder.join("data"));
    settings.watch = WatchMethod::Auto;
    settings
}

#[test]
fn earlier_and_appended_records_are_stored_while_the_engine_runs_and_after_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let (file, data) = (project.join("s.jsonl"), folder.path().join("data"));
    std::fs::write(&file, line("1", "was there")).unwrap();
    let append = |text: String| {
        let mut open = std::fs::OpenOptions::new().append(true).open(&file).unwrap();
        std::io::Write::write_all(&mut open, text.as_bytes()).unwrap();
    };

    let engine = start(settings(folder.path())).unwrap();
    assert_eq!(texts(&data, 1), ["was there"]);
    append(line("2", "came live"));
    assert_eq!(texts(&data, 2), ["was there", "came live"]);
    drop(engine);
    released(&data);

    append(line("3", "came while nothing ran"));
    let engine = start(settings(folder.path())).unwrap();
    assert_eq!(texts(&data, 3), ["was there", "came live", "came while nothing ran"]);
    drop(engine);
}

#[test]
fn a_large_backlog_is_stored_whole_and_the_text_index_is_merged_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    for n in 0..200 {
        std::fs::write(
            project.join(format!("s{n}.jsonl")),
            line(&format!("{n}"), &format!("one of many {n}")),
        )
        .unwrap();
    }
    let engine = start(settings(folder.path())).unwrap();
    // The texts found, and whether the index is in order.
    until_is(&Some((200, true)), || {
        let store = Store::open(&folder.path().join("data"), OpenMode::Read).ok()?;
        let found = store.search(&Query::new("many", 1_000)).ok()?.hits.len();
        Some((found, store.is_tidy().ok()?))
    });
    drop(engine);
}

/// Whether a process holds the right to write.
fn is_written(data: &Path) -> bool {
    let lock = std::fs::File::open(data.join("writer.lock")).unwrap();
    matches!(lock.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}

#[test]
fn a_reader_takes_over_from_an_ended_writer_also_when_nothing_happens() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let (file, data) = (project.join("s.jsonl"), folder.path().join("data"));
    std::fs::write(&file, line("1", "was there")).unwrap();
    let first = start(settings(folder.path())).unwrap();
    assert_eq!(texts(&data, 1), ["was there"]);
    let second = start(settings(folder.path())).unwrap();
    // The second engine has read everything, and found another writer.
    second.roster(true).unwrap();
    first.stop();
    drop(first);
    // The test does not ask for the right to write meanwhile: the second engine may have taken it at once.
    until("the second engine to write", || is_written(&data));
    std::fs::write(&file, line("1", "was there") + &line("2", "came later")).unwrap();
    assert_eq!(texts(&data, 2), ["was there", "came later"]);
    drop(second);
}

#[test]
fn changes_of_the_last_message_before_the_end_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let data = root.join("data");
    std::fs::write(project.join("s.jsonl"), line("1", "was there")).unwrap();
    let begin = Timestamp::from_millis(1_795_262_400_000);
    let clock = ManualClock::new(begin);
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let engine =
        start_in(settings(&root), real_sources(), Arc::new(clock.clone()), Some(silent), Arc::default())
            .unwrap();
    let (handle, late) = (engine.clone(), project.join("late.jsonl"));
    let wants = Subscription { all: true, pause: Millis(0), wait_for_recent: true, first: None };
    // The sink runs on the engine's own thread: both messages wait until the engine reads its queue again.
    let sink = move |message| {
        let reading = match message {
            RosterMessage::Snapshot(snapshot) => snapshot.reading,
            RosterMessage::Delta(delta) => delta.reading,
            _ => true,
        };
        if !reading {
            std::fs::write(&late, line("2", "came late").replace(r#""s""#, r#""late""#)).unwrap();
            clock.set(begin + Millis::from_secs(5));
            handle.look_again();
            handle.stop();
        }
        reading
    };
    engine.subscribe(wants, Box::new(sink));
    let stopped = engine.stopped();
    until("the engine to end", stopped);
    released(&data);
    let store = Store::open(&data, OpenMode::Read).unwrap();
    assert!(store.session_key(&SessionId::new("late")).unwrap().is_some());
}

#[test]
fn bytes_left_by_a_removal_are_wiped_while_the_engine_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir_all(folder.path().join("claude/projects")).unwrap();
    let mut store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    // The mark of a removal that was killed, or that met a reader.
    step.set_meta("cleaning_due", "1").unwrap();
    step.commit().unwrap();
    drop(store);
    let to_be_wiped = || Store::open(&data, OpenMode::Read).unwrap().is_wiping_due().unwrap();
    assert!(to_be_wiped());
    let engine = start(settings(folder.path())).unwrap();
    until("the wipe", || !to_be_wiped());
    drop(engine);
}
