//! A second index stores new and continued sessions as one first index over all files would.

use std::path::{Path, PathBuf};

use watchbill_agents::layout::classify;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_engine::persist::Persist;
use watchbill_engine::transcripts::{LoadOptions, load};
use watchbill_settings::Settings;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::mem::MemFs;

use crate::schemas::{SESSION, TRANSCRIPT, one_transcript, rows};

/// Adds another session like the first one to a root. Returns its id.
fn add(fs: &MemFs, root: &str, digit: &str) -> String {
    let other = id(digit);
    add_text(fs, root, digit, &TRANSCRIPT.replace(SESSION, &other));
    other
}

fn id(digit: &str) -> String {
    SESSION.replace("0a000000", &format!("0{digit}000000"))
}

/// The same with a given text: only the ids of its records are replaced.
fn add_text(fs: &MemFs, root: &str, digit: &str, text: &str) {
    let path = Path::new(root).join(format!("projects/-home-dev-work/{}.jsonl", id(digit)));
    let text = text.replace("\"u", &format!("\"{digit}")).replace("\"id\":\"m", &format!("\"id\":\"{digit}"));
    fs.append(path, text.as_bytes());
}

/// Runs the index to its end.
fn index(settings: &Settings, world: &Sources) {
    let run = run(settings, world, Options::default(), &mut |_| true).unwrap();
    assert!(matches!(&run, Indexed::Here(report) if !report.interrupted), "{run:?}");
}

/// Interrupts the index after that many files.
fn index_some(settings: &Settings, world: &Sources, files: usize) {
    let mut read = 0;
    let ended = run(settings, world, Options::default(), &mut |_| {
        read += 1;
        read < files
    });
    assert!(matches!(ended, Ok(Indexed::Here(report)) if report.interrupted));
}

/// The rows of a data folder, sorted: the files may have been read in any order.
fn sorted(data: &Path) -> Vec<String> {
    let mut rows = rows(&Store::open(data, OpenMode::Read).unwrap());
    rows.sort();
    rows
}

/// The rows that a first index makes of the same files, in another data folder.
fn fresh_index_rows(settings: &Settings, world: &Sources, data: &Path) -> Vec<String> {
    let fresh = Settings { data_dir: Some(data.to_path_buf()), ..settings.clone() };
    index(&fresh, world);
    sorted(data)
}

fn row(data: &Path, id: &str) -> SessionRow {
    let store = Store::open(data, OpenMode::Read).unwrap();
    let key = store.session_key(&SessionId::new(id)).unwrap().unwrap();
    store.session_of(key).unwrap().unwrap()
}

#[test]
fn a_second_index_equals_a_first_one() {
    let folder = tempfile::tempdir().unwrap();
    let (twice, once) = (folder.path().join("twice"), folder.path().join("once"));
    let (mut settings, world, fs) = one_transcript(&twice);
    // Sessions must get their rows at once, whenever this test runs: a session at rest gets its row later.
    settings.recent = Millis::from_secs(100 * 365 * 24 * 3600);
    index(&settings, &world);

    let other = add(&fs, "/home/dev/.claude", "c");
    index(&settings, &world);

    let wanted = fresh_index_rows(&settings, &world, &once);
    let is_placed = |row: &String| row.starts_with(&other) && row.contains("/home/dev/work");
    assert!(wanted.iter().any(is_placed), "{wanted:#?}");
    assert_eq!(sorted(&twice), wanted);
}

/// Adds two sessions, and interrupts an index over all three before it has made their rows. Returns the ids without
/// rows.
fn interrupt_before_rows(settings: &Settings, world: &Sources, fs: &MemFs) -> Vec<String> {
    for digit in ["c", "d"] {
        add(fs, "/home/dev/.claude", digit);
    }
    index_some(settings, world, 3);
    let store = Store::open(settings.data_dir.as_deref().unwrap(), OpenMode::Read).unwrap();
    let behind = store.sessions_without_rows().unwrap().unwrap_or_default();
    assert!(behind.len() >= 2, "{behind:?}");
    behind
}

#[test]
fn an_index_makes_the_rows_that_an_interrupted_one_has_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let (twice, once) = (folder.path().join("twice"), folder.path().join("once"));
    // All sessions are long ago: such sessions rest from the start on, unless they have no rows yet.
    let (settings, world, fs) = one_transcript(&twice);
    interrupt_before_rows(&settings, &world, &fs);
    index(&settings, &world);
    assert_eq!(Store::open(&twice, OpenMode::Read).unwrap().sessions_without_rows().unwrap(), None);
    assert_eq!(sorted(&twice), fresh_index_rows(&settings, &world, &once));
}

/// A window, or `watch`: stores one row at a time, and is killed after that many.
fn make_rows(settings: &Settings, world: &Sources, most: usize) {
    let mut persist = Persist::open(settings.data_dir.as_deref().unwrap(), OpenMode::WriteOrRead);
    let now = SystemClock.now();
    let mut engine = Engine::new(settings.clone(), world.clone(), Outlook::LIVE, now);
    persist.load(&mut engine);
    for step in [Input::Watching(Vec::new()), Input::ScanEnded(Vec::new())] {
        engine.step(now, step);
        persist.save(&mut engine, now);
    }
    for _ in 0..most {
        engine.step(now, Input::Wake(1));
        persist.save(&mut engine, now);
    }
}

#[test]
fn pending_rows_are_made_a_few_at_a_time_and_equal_those_of_one_index() {
    let folder = tempfile::tempdir().unwrap();
    let (ended, once) = (folder.path().join("ended"), folder.path().join("once"));
    let (settings, world, fs) = one_transcript(&ended);
    for n in 1..8 {
        add(&fs, "/home/dev/.claude", &n.to_string());
    }
    index_some(&settings, &world, 6);
    let made = || {
        let store = Store::open(&ended, OpenMode::Read).unwrap();
        let mut made = 0;
        store.sessions(&mut |_, row| made += usize::from(row.state.is_some())).unwrap();
        (made, store.sessions_without_rows().unwrap().is_some())
    };
    assert_eq!(made(), (0, true));
    // Each killed run gets a little further, or as far as before.
    for (most, expected) in [(0, 0), (1, 1), (3, 3), (2, 3), (4, 4)] {
        make_rows(&settings, &world, most);
        assert_eq!(made(), (expected, true), "after {most}");
    }
    make_rows(&settings, &world, 5);
    assert_eq!(made(), (5, false), "all that were behind");

    index(&settings, &world);
    assert_eq!(sorted(&ended), fresh_index_rows(&settings, &world, &once));
}

#[test]
fn an_index_over_another_root_leaves_the_pending_rows_of_an_interrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = one_transcript(&data);
    let behind = interrupt_before_rows(&settings, &world, &fs);
    let row = |id: &str| row(&data, id);
    assert!(behind.iter().all(|id| row(id).title.is_none()));

    let other = add(&fs, "/home/dev/other", "e");
    let mut elsewhere = settings.clone();
    elsewhere.roots = vec!["/home/dev/other".into()];
    index(&elsewhere, &world);
    assert!(row(&other).title.is_some() && behind.iter().all(|id| row(id).title.is_none()));
    index(&settings, &world);
    assert!(behind.iter().all(|id| row(id).title.is_some()));
}

/// Hands the engine these transcripts, as the first scan does.
fn hand_over(engine: &mut Engine, world: &Sources, paths: &[PathBuf]) {
    let terms = LoadOptions { keep: true, ..LoadOptions::default() };
    let loaded = paths.iter().map(|path| {
        let place = classify(path.strip_prefix("/home/dev/.claude").unwrap()).unwrap();
        load(&*world.fs, path.clone(), place, terms.clone(), &mut Vec::new(), &|| true)
    });
    engine.step(engine.now(), Input::Loaded(loaded.collect()));
}

#[test]
fn a_reader_that_takes_over_from_an_interrupted_index_makes_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = one_transcript(&data);
    let ids = [SESSION.to_owned(), add(&fs, "/home/dev/.claude", "c"), add(&fs, "/home/dev/.claude", "d")];
    let writer = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    let mut persist = Persist::open(&data, OpenMode::WriteOrRead);
    let now = SystemClock.now();
    let mut engine = Engine::new(settings.clone(), world.clone(), Outlook::LIVE, now);
    persist.load(&mut engine);
    let projects = Path::new("/home/dev/.claude/projects/-home-dev-work");
    hand_over(&mut engine, &world, &ids.each_ref().map(|id| projects.join(format!("{id}.jsonl"))));
    engine.step(now, Input::ScanEnded(Vec::new()));
    persist.save(&mut engine, now);
    assert!(!persist.writes());
    drop(writer);
    index_some(&settings, &world, 3);

    let later = now + Millis::from_secs(6);
    persist.save(&mut engine, later);
    assert!(persist.writes(), "it has taken over");
    engine.step(later, Input::Deadline);
    persist.save(&mut engine, later);
    let store = Store::open(&data, OpenMode::Read).unwrap();
    let mut titled = Vec::new();
    store.sessions(&mut |_, row| titled.extend(row.title.map(|_| row.session_id))).unwrap();
    titled.sort();
    assert_eq!((titled, store.sessions_without_rows().unwrap()), (ids.to_vec(), None));
}

#[test]
fn a_kill_before_a_first_scan_resolved_its_chains_leaves_no_row_without_its_chain() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, world, fs) = one_transcript(&folder.path().join("data"));
    let projects = Path::new("/home/dev/.claude/projects/-home-dev-work");
    let path = |id: &str| projects.join(format!("{id}.jsonl"));
    let mut paths = vec![path(SESSION)];
    for digit in ["1", "2", "3", "4", "5"] {
        // The last session continues the process of the first one.
        let own = format!(r#""sessionId":"{SESSION}""#);
        let also = if digit == "5" { format!(r#""session_id":"{SESSION}","#) } else { String::new() };
        let text = TRANSCRIPT.replace(&own, &format!(r#"{also}"sessionId":"{}""#, id(digit)));
        add_text(&fs, "/home/dev/.claude", digit, &text.replace("T15:", "T16:"));
        paths.push(path(&id(digit)));
    }
    let now = SystemClock.now();
    let mut persist = Persist::open(settings.data_dir.as_deref().unwrap(), OpenMode::WriteOrRead);
    let mut engine = Engine::new(settings.clone(), world.clone(), Outlook::LIVE, now);
    persist.load(&mut engine);
    let last = paths.pop().unwrap();
    for n in 0..300 {
        let other = format!("0e000000-0000-4000-8000-{n:012}");
        let line = format!(
            r#"{{"type":"user","uuid":"{n}","sessionId":"{other}","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"asked"}}}}"#
        );
        fs.append(path(&other), format!("{line}\n").as_bytes());
        paths.push(path(&other));
    }
    // A marker may tie any session of a busy folder. The engine resolves those ties when half as many sessions again
    // have come.
    let gone = "0f000000-0000-4000-8000-000000000001";
    let marker = format!(
        r#"{{"newSessionId":"{gone}","cwd":"/home/dev/work","compactedAt":"2026-11-20T15:30:00.000Z"}}"#
    );
    fs.write(format!("/home/dev/work/.claude/compacted.{gone}.marker"), marker.as_bytes());
    for batch in [&paths[..], &[last]] {
        hand_over(&mut engine, &world, batch);
        persist.save(&mut engine, now);
    }
    assert!(engine.chains().of(&SessionId::new(&id("5"))).is_none(), "it waits for more");
    drop((engine, persist));

    index(&settings, &world);
    let data = settings.data_dir.unwrap();
    assert_eq!(row(&data, SESSION).superseded_by, Some(id("5")));
    assert_eq!(Store::open(&data, OpenMode::Read).unwrap().sessions_without_rows().unwrap(), None);
}

/// More sessions than get their rows at once.
const SESSIONS: usize = 4_200;

/// Sessions of one prompt.
fn add_many(fs: &MemFs) {
    for n in 0..SESSIONS {
        let id = format!("0e000000-0000-4000-8000-{n:012}");
        let path = Path::new("/home/dev/.claude/projects/-home-dev-many").join(format!("{id}.jsonl"));
        let line = format!(
            r#"{{"type":"user","uuid":"{n}","sessionId":"{id}","cwd":"/home/dev/many","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"asked {n}"}}}}"#
        );
        fs.append(path, format!("{line}\n").as_bytes());
    }
}

#[test]
fn all_of_very_many_sessions_get_their_rows_and_none_gets_a_transition() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = one_transcript(&data);
    add_many(&fs);
    index(&settings, &world);
    let store = Store::open(&data, OpenMode::Read).unwrap();
    let (mut titled, mut transitions) = (0, 0);
    store
        .sessions(&mut |key, row| {
            titled += usize::from(row.title.is_some_and(|title| title.starts_with("asked ")));
            transitions += store.transitions(key, 9).unwrap().len();
        })
        .unwrap();
    assert_eq!((titled, transitions, store.sessions_without_rows().unwrap()), (SESSIONS, 0, None));
}

#[test]
fn a_state_found_damaged_when_the_last_rows_are_made_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (mut settings, world, fs) = one_transcript(&data);
    // All sessions get their rows again, and the last ones not at once.
    settings.recent = Millis::from_secs(100 * 365 * 24 * 3600);
    add_many(&fs);
    let (origin, fork) = ("0f000000-0000-4000-8000-000000000001", "0f000000-0000-4000-8000-000000000002");
    let path = |id: &str| Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{id}.jsonl"));
    let lines: String = (10..30)
        .map(|n| {
            format!(
                r#"{{"type":"assistant","uuid":"11111111-0000-4000-8000-0000000000{n}","sessionId":"{origin}","cwd":"/home/dev/work","timestamp":"2026-11-20T15:00:{n}.000Z","requestId":"r{n}","message":{{"id":"m{n}","role":"assistant","model":"claude-opus-4-5","usage":{{"input_tokens":10,"output_tokens":20}},"content":[{{"type":"text","text":"answer {n}"}}]}}}}"#
            ) + "\n"
        })
        .collect();
    let titled =
        |id: &str| format!(r#"{{"type":"custom-title","customTitle":"Title","sessionId":"{id}"}}"#) + "\n";
    fs.append(path(origin), (lines.clone() + &titled(origin)).as_bytes());
    index(&settings, &world);
    let mut store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    let name = path(origin).to_string_lossy().into_owned();
    let head = store.state(&name).unwrap().unwrap().head;
    let mut step = store.step().unwrap();
    step.put_state(&name, origin, &head, Some(b"rubbish"), true).unwrap();
    step.commit().unwrap();
    drop(store);
    // Only the stored pieces of the original say which requests are copies.
    let forked = format!(r#","forkedFrom":{{"sessionId":"{origin}"}}}}"#) + "\n";
    let copied = lines.replace(&format!(r#""sessionId":"{origin}""#), &format!(r#""sessionId":"{fork}""#));
    fs.append(path(fork), (copied.replace("}\n", &forked) + &titled(fork)).as_bytes());
    index(&settings, &world);

    let store = Store::open(&data, OpenMode::Read).unwrap();
    for id in [origin, fork] {
        assert_eq!(row(&data, id).title.as_deref(), Some("Title"), "{id}");
    }
    assert_ne!(store.state(&name).unwrap().unwrap().pieces, b"rubbish");
}

#[test]
fn a_session_at_rest_is_superseded_by_the_new_session_of_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = one_transcript(&data);
    index(&settings, &world);
    // Long ago its process continued in another session, which was not indexed yet.
    let other = id("c");
    let own = format!(r#""sessionId":"{SESSION}""#);
    let text = TRANSCRIPT.replace(&own, &format!(r#""session_id":"{SESSION}","sessionId":"{other}""#));
    add_text(&fs, "/home/dev/.claude", "c", &text.replace("T15:", "T16:"));
    index(&settings, &world);
    assert_eq!(row(&data, SESSION).superseded_by.as_deref(), Some(&*other));
    assert_eq!(row(&data, SESSION).chain_id, row(&data, &other).chain_id);
}
