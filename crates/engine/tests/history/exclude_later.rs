//! Data that is excluded after it was stored is removed: rows, index, archive, bytes. Data that is no longer excluded
//! is read again. The store then equals that of a fresh index.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::Millis;
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::handle::{real_sources, start, start_in};
use watchbill_engine::input::Input;
use watchbill_engine::persist::Persist;
use watchbill_history::query::health;
use watchbill_hooks::envelope::Envelope;
use watchbill_hooks::places::HookPaths;
use watchbill_hooks::spool;
use watchbill_settings::Settings;
use watchbill_store::search::Query;
use watchbill_store::{Access, OpenMode, Store};
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::scan;

use crate::archived::{age, archived};
use crate::counting_fs::CountingFs;
use crate::thread::released;
use crate::wait::until;

pub fn line(session: &str, id: &str, cwd: &str, content: &str) -> String {
    let kind = if content.contains("tool_use\"") { "assistant" } else { "user" };
    format!(
        r#"{{"type":"{kind}","uuid":"{session}{id}","sessionId":"{session}","cwd":"{cwd}","timestamp":"2026-10-01T15:00:0{id}.000Z","message":{{"id":"m{session}{id}","content":{content}}}}}"#
    ) + "\n"
}

/// Four sessions. One is in a folder that will be excluded, one was in it for a while, and one has read a file of it. The
/// fourth has no relation to it.
pub fn four_sessions(folder: &Path) -> (Settings, PathBuf) {
    let root = folder.canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let call =
        r#"[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/home/dev/secret/HIDDEN-key"}}]"#;
    let result = r#"[{"type":"tool_result","tool_use_id":"t","content":"HIDDEN content"}]"#;
    let secret = "/home/dev/secret/app";
    let files = [
        ("in", line("in", "1", secret, r#""HIDDEN words""#)),
        (
            "was",
            line("was", "1", "/home/dev/work", r#""open at first""#)
                + &line("was", "2", secret, r#""HIDDEN later""#)
                + &line("was", "3", "/home/dev/work", r#""open again""#),
        ),
        (
            "read",
            line("read", "1", "/home/dev/work", r#""open reader""#)
                + &line("read", "2", "/home/dev/work", call)
                + &line("read", "3", "/home/dev/work", result),
        ),
        ("out", line("out", "1", "/home/dev/work", r#""open elsewhere""#)),
    ];
    for (name, text) in files {
        let path = project.join(format!("{name}.jsonl"));
        std::fs::write(&path, text).unwrap();
        age(&path, 20);
    }
    let mut settings = Settings::for_roots(vec![root.join("claude")]);
    settings.data_dir = Some(root.join("data"));
    (settings, project)
}

pub fn excluding(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.history.exclude = Exclude::new(["/home/dev/secret/**".to_owned()]);
    settings
}

pub fn run_index(settings: &Settings) {
    let done = run(settings, &real_sources(), Options::default(), &mut |_| true).unwrap();
    assert!(matches!(done, Indexed::Here(_)), "{done:?}");
}

/// The first file of the folder that contains the word, or has it in its name.
pub fn file_containing(folder: &Path, word: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find_map(|path| {
        if path.is_dir() {
            return file_containing(&path, word);
        }
        // A socket is not a file, and a file may be removed meanwhile.
        let bytes = std::fs::read(&path).unwrap_or_default();
        bytes.windows(word.len()).any(|piece| piece == word.as_bytes()).then_some(path)
    })
}

/// All stored texts, prompts and calls, and the number of search hits.
pub fn stored_texts(data: &Path) -> Vec<String> {
    let store = Store::open(data, OpenMode::Read).unwrap();
    let mut held = vec![format!("{} found", store.search(&Query::new("open", 50)).unwrap().hits.len())];
    let mut keys = Vec::new();
    store.sessions(&mut |key, row| keys.push((key, row.session_id))).unwrap();
    for (key, id) in keys {
        for (file, _) in store.files_of(key).unwrap() {
            held.extend(store.texts(file, 0, 1_000).unwrap().into_iter().map(|text| text.text));
        }
        held.extend(store.batches(key).unwrap().iter().map(|row| format!("{id} {:?}", row.batch.prompt)));
        held.extend(store.activities(key).unwrap().iter().map(|row| format!("{id} {:?}", row.activity)));
    }
    held.sort();
    held
}

#[test]
fn index_removes_data_that_was_excluded_after_it_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, _) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    run_index(&settings);
    assert!(file_containing(&data, "HIDDEN").is_some(), "the looking finds what is there");

    let excluding = excluding(&settings);
    run_index(&excluding);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    let said = health(&excluding, &*real_sources().fs).unwrap().left_out.unwrap();
    assert!(said.contains("2 sessions, 2 transcripts, 4 prompts, 1 tool call,"), "{said}");
    let mut fresh = excluding.clone();
    fresh.data_dir = Some(data.with_file_name("fresh"));
    run_index(&fresh);
    assert_eq!(stored_texts(&data), stored_texts(fresh.data_dir.as_deref().unwrap()));
    assert!(stored_texts(&data).iter().any(|text| text == "open again"), "{:#?}", stored_texts(&data));

    // Nothing is left to remove, so the report stays the same.
    run_index(&excluding);
    assert_eq!(health(&excluding, &*real_sources().fs).unwrap().left_out.unwrap(), said);
}

#[test]
fn a_start_removes_excluded_sessions_from_the_archive_also_without_their_transcripts() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, project) = four_sessions(folder.path());
    settings.archive = ArchiveSettings { enabled: true, ..ArchiveSettings::default() };
    let data = settings.data_dir.clone().unwrap();
    let engine = start(settings.clone()).unwrap();
    assert_eq!(archived(&data, 4), 4);
    engine.stop();
    drop(engine);
    released(&data);
    std::fs::remove_file(project.join("in.jsonl")).unwrap();

    let engine = start(excluding(&settings)).unwrap();
    until("the rules to be carried out", || {
        let looked = health(&settings, &*real_sources().fs).unwrap().left_out.is_some();
        looked && file_containing(&data, "HIDDEN").is_none()
    });
    engine.stop();
    drop(engine);
    released(&data);
    let store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.access(), Access::Writer);
    let ids: Vec<_> = store.all_archived().unwrap().into_iter().map(|row| row.session_id).collect();
    assert_eq!(ids, ["out"], "nor is any of them archived again");
    let files = std::fs::read_dir(data.join("archive")).unwrap().count();
    assert_eq!(files, ids.len());
}

#[test]
fn a_start_removes_excluded_data_also_of_transcripts_that_have_grown_or_gone() {
    for grows in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (settings, project) = four_sessions(folder.path());
        let data = settings.data_dir.clone().unwrap();
        run_index(&settings);
        let path = project.join("was.jsonl");
        let more = line("was", "4", "/home/dev/work", r#""open and more""#);
        match grows {
            true => std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &more).unwrap(),
            false => std::fs::remove_file(&path).unwrap(),
        }
        let engine = start(excluding(&settings)).unwrap();
        until("the rules to be carried out", || !exclude_health(&excluding(&settings)).2);
        assert!(
            !stored_texts(&data).iter().any(|text| text.contains("HIDDEN")),
            "{:#?}",
            stored_texts(&data)
        );
        until("all of it to be gone", || file_containing(&data, "HIDDEN").is_none());
        until("what may be stored to be", || {
            stored_texts(&data).contains(&"open and more".to_owned()) == grows
        });
        engine.stop();
    }
}

/// Puts an event into the spool, as a hook does when no program listens. The next program that listens has to notice
/// it.
fn spool_event(data: &Path, id: u128, session: &str, cwd: &str, words: &str) {
    let payload = format!(
        r#"{{"session_id":"{session}","hook_event_name":"UserPromptSubmit","cwd":"{cwd}","prompt":"{words}"}}"#
    );
    let at = watchbill_platform::clock::wall();
    let order = watchbill_platform::clock::since_boot();
    let event = Envelope::new(id, at, order);
    spool::write(&HookPaths::new(data).spool(), &event, &event.encode(payload.as_bytes())).unwrap();
}

#[test]
fn a_rule_set_while_the_engine_runs_removes_excluded_data_everywhere_and_keeps_out_more() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, project) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let engine = start(settings.clone()).unwrap();
    let journal = |words: &str| {
        file_containing(&data.join("hooks"), words).is_some_and(|path| path.ends_with("journal"))
    };
    until("a store", || Store::open(&data, OpenMode::Read).is_ok());
    until("all that is there to be stored", || stored_texts(&data).contains(&"open elsewhere".to_owned()));
    spool_event(&data, 1, "secret-by-hook", "/home/dev/secret/app", "HIDDEN by hook");
    until("the spool to be looked into", || journal("HIDDEN by hook"));
    until("what was read to be stored", || {
        stored_texts(&data).iter().any(|text| text.contains("HIDDEN content"))
    });

    engine.apply(&excluding(&settings));
    until("all of it to be gone", || file_containing(&data, "HIDDEN").is_none());
    // Later events are shown while the session lasts, and are not stored.
    spool_event(&data, 2, "secret-again", "/home/dev/secret/app", "HIDDEN again");
    spool_event(&data, 3, "open-by-hook", "/home/dev/work", "open by hook");
    until("the open one to be kept", || journal("open by hook"));
    let heard = || engine.doctor().unwrap().hooks.map(|hooks| hooks.sessions);
    until("both to be heard", || heard() == Some(3));
    let more = line("in", "2", "/home/dev/secret/app", r#""HIDDEN more""#);
    let path = project.join("in.jsonl");
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &more).unwrap();
    let path = project.join("out.jsonl");
    let more = line("out", "2", "/home/dev/work", r#""open more""#);
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + &more).unwrap();
    until("what may be stored to be", || stored_texts(&data).contains(&"open more".to_owned()));
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    let shown = engine.roster(true).unwrap().sessions;
    assert!(shown.iter().any(|row| row.session_id == "in"), "what is there now is shown");
    let mut fresh = excluding(&settings);
    fresh.data_dir = Some(data.with_file_name("fresh"));
    engine.stop();
    run_index(&fresh);
    let told_by_hook = |row: &String| row.contains("by-hook");
    let mut here = stored_texts(&data);
    here.retain(|row| !told_by_hook(row));
    assert_eq!(here, stored_texts(fresh.data_dir.as_deref().unwrap()));
}

/// The same, and the engine's row and state of each session.
pub fn stored_texts_and_rows(data: &Path) -> Vec<String> {
    let mut held = stored_texts(data);
    let store = Store::open(data, OpenMode::Read).unwrap();
    store
        .sessions(&mut |_, row| held.push(format!("{} {:?} {:?}", row.session_id, row.title, row.cwd)))
        .unwrap();
    store.states(&mut |path, _| held.push(format!("state of {}", path.rsplit('/').next().unwrap()))).unwrap();
    held.sort();
    held
}

/// The stored data of an index that never excluded anything.
fn held_by_a_fresh_index(settings: &Settings) -> Vec<String> {
    let mut fresh = settings.clone();
    fresh.data_dir = Some(settings.data_dir.as_deref().unwrap().with_file_name("never-excluding"));
    run_index(&fresh);
    stored_texts_and_rows(fresh.data_dir.as_deref().unwrap())
}

/// The count of files to read, the count of excluded files, and whether the rules differ from those last carried out.
fn exclude_health(settings: &Settings) -> (u64, u64, bool) {
    let health = health(settings, &*real_sources().fs).unwrap();
    (health.files_behind, health.files_left_out, health.exclude_changed)
}

#[test]
fn transcripts_that_are_no_longer_excluded_count_as_behind_until_index_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, project) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let wanted = held_by_a_fresh_index(&settings);
    run_index(&excluding(&settings));
    assert_eq!(exclude_health(&excluding(&settings)), (0, 3, false));
    assert_eq!(exclude_health(&settings), (3, 0, true), "without the rule they are to be read");

    // One transcript is gone by then: its stored data stays.
    let gone = std::fs::read(project.join("was.jsonl")).unwrap();
    std::fs::remove_file(project.join("was.jsonl")).unwrap();
    run_index(&settings);
    assert_eq!(exclude_health(&settings), (0, 0, false));
    assert!(stored_texts(&data).contains(&"open again".to_owned()), "{:#?}", stored_texts(&data));
    std::fs::write(project.join("was.jsonl"), gone).unwrap();
    run_index(&settings);
    assert_eq!(stored_texts_and_rows(&data), wanted);

    // The other way round, through another rule.
    let mut other = settings.clone();
    other.history.exclude = Exclude::new(["/home/dev/work".to_owned()]);
    assert_eq!(exclude_health(&other), (0, 0, true));
    run_index(&other);
    run_index(&excluding(&settings));
    assert_eq!(exclude_health(&excluding(&settings)), (0, 3, false));
    let mut fresh = excluding(&settings);
    fresh.data_dir = Some(data.with_file_name("fresh"));
    run_index(&fresh);
    assert_eq!(stored_texts(&data), stored_texts(fresh.data_dir.as_deref().unwrap()));
    assert_eq!(file_containing(&data, "HIDDEN"), None);
}

#[test]
fn a_running_engine_and_a_start_read_transcripts_that_are_no_longer_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, _) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let wanted = held_by_a_fresh_index(&settings);
    let all_of_it = || stored_texts_and_rows(&data) == wanted;
    run_index(&excluding(&settings));
    let engine = start(settings.clone()).unwrap();
    until("what the rule had left out to be stored at the start", all_of_it);

    engine.apply(&excluding(&settings));
    until("all of it to be gone", || {
        file_containing(&data, "HIDDEN").is_none() && !exclude_health(&excluding(&settings)).2
    });
    engine.apply(&settings);
    until("all of it to be stored again", all_of_it);
    engine.stop();
}

#[test]
fn index_does_not_read_a_transcript_whose_own_path_is_excluded() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, project) = four_sessions(folder.path());
    settings.history.exclude = Exclude::new([project.join("out.jsonl").to_string_lossy().into_owned()]);
    for _ in 0..2 {
        let done = run(&settings, &real_sources(), Options::default(), &mut |_| true).unwrap();
        assert!(matches!(done, Indexed::Here(report) if report.files == 3), "it is not even looked at");
        assert_eq!(exclude_health(&settings), (0, 1, false));
    }
    let data = settings.data_dir.clone().unwrap();
    assert_eq!(Store::open(&data, OpenMode::Read).unwrap().sessions_without_rows().unwrap(), None);
    assert!(!stored_texts(&data).contains(&"open elsewhere".to_owned()));
    settings.history.exclude = Exclude::default();
    assert_eq!(exclude_health(&settings), (1, 0, true));
    run_index(&settings);
    assert_eq!(stored_texts_and_rows(&data), held_by_a_fresh_index(&settings));
}

/// The stored states of the engine, by the names of their transcripts.
pub fn states(data: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let store = Store::open(data, OpenMode::Read).unwrap();
    store.states(&mut |path, _| names.push(path.rsplit_once('/').unwrap().1.replace(".jsonl", ""))).unwrap();
    names.sort();
    names
}

#[test]
fn subagents_are_stored_with_their_sessions_and_do_not_wait_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, project) = four_sessions(folder.path());
    let agents = [
        ("in", "/home/dev/secret/app", "HIDDEN"),
        ("out", "/home/dev/work", "open"),
        ("gone", "/home/dev/work", "open"),
    ];
    for (session, cwd, word) in agents {
        let path = project.join(session).join(format!("subagents/agent-{session}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = line(session, "5", cwd, &format!(r#""{word} to a subagent""#));
        std::fs::write(&path, text.replacen('{', r#"{"isSidechain":true,"agentId":"x","#, 1)).unwrap();
        age(&path, 25);
    }
    let path = project.join("last.jsonl");
    std::fs::write(&path, line("last", "1", "/home/dev/work", r#""open at last""#)).unwrap();
    age(&path, 1);
    let settings = excluding(&settings);
    let data = settings.data_dir.clone().unwrap();
    // The index is interrupted when it has read all but the newest transcript.
    let ended = run(&settings, &real_sources(), Options::default(), &mut |progress| {
        progress.bytes < progress.total_bytes
    });
    assert!(matches!(ended, Ok(Indexed::Here(report)) if report.interrupted));
    assert_eq!(
        states(&data),
        ["agent-out", "out", "read"],
        "of what is left out, and of whose session is gone, none yet"
    );
    run_index(&settings);
    assert_eq!(states(&data), ["agent-gone", "agent-out", "last", "out", "read"]);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    let mut fresh = settings.clone();
    fresh.data_dir = Some(data.with_file_name("fresh"));
    run_index(&fresh);
    assert_eq!(stored_texts_and_rows(&data), stored_texts_and_rows(fresh.data_dir.as_deref().unwrap()));
}

#[test]
fn new_rules_are_taken_while_the_history_carries_out_the_last_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, _) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let Sources { fs, processes } = real_sources();
    let (slow, looks) = (Arc::new(RwLock::new(())), Arc::new(AtomicBool::new(false)));
    let (lock, has_looked) = (Arc::clone(&slow), Arc::clone(&looks));
    // The history's thread proceeds only while no writer holds the lock.
    let fs = CountingFs::new(fs).on_walk(move |_| {
        if std::thread::current().name().is_some_and(|name| name.starts_with("watchbill-history")) {
            has_looked.store(true, Ordering::SeqCst);
            drop(lock.read());
        }
    });
    let world = Sources { fs: Arc::new(fs), processes };
    let at_work = slow.write().unwrap();
    let engine = start_in(settings.clone(), world, Arc::new(SystemClock), None, Arc::default()).unwrap();
    until("the history to be at work", || looks.load(Ordering::SeqCst));
    engine.apply(&excluding(&settings));
    let shown = engine.roster(true).unwrap().sessions;
    assert_eq!(shown.len(), 4, "rows do not wait for the history");
    drop(at_work);
    until("what may be stored to be", || stored_texts(&data).contains(&"open again".to_owned()));
    until("the rules to be carried out", || file_containing(&data, "HIDDEN").is_none());
    engine.stop();
}

#[test]
fn pending_changes_follow_the_rules_of_the_time_when_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, _) = four_sessions(folder.path());
    let excluding = excluding(&settings);
    let cases = [
        (&settings, &excluding, &["out", "read"][..]),
        (&excluding, &settings, &["in", "out", "read", "was"][..]),
    ];
    for (n, (before, after, stored)) in cases.into_iter().enumerate() {
        let data = folder.path().join(format!("data-{n}"));
        let now = SystemClock.now();
        let mut persist = Persist::open(&data, OpenMode::WriteOrRead);
        let mut engine = Engine::new(before.clone(), real_sources(), Outlook::LIVE, now);
        persist.load(&mut engine);
        let shared_store = persist.shared_store();
        let at_work = shared_store.second_connection("removal that takes long").unwrap();
        engine.step(now, Input::ScanEnded(Vec::new()));
        let found = scan(&*real_sources().fs, &before.roots).found;
        engine.step(now, Input::Hints(found.into_iter().map(|found| Hint::File(found.path)).collect()));
        persist.save(&mut engine, now);
        engine.step(now, Input::Settings(Box::new(after.clone())));
        drop(at_work);
        assert!(persist.has_unstored());
        persist.save(&mut engine, now + Millis::from_secs(5));
        assert!(!persist.has_unstored() && persist.trouble().is_none());
        let mut rows = Vec::new();
        let store = Store::open(&data, OpenMode::Read).unwrap();
        store.sessions(&mut |_, row| rows.push(row.session_id)).unwrap();
        rows.sort();
        assert_eq!((rows, states(&data)), (owned(stored), owned(stored)));
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_rule_removes_excluded_data_also_of_transcripts_in_roots_that_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, _) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    run_index(&settings);
    let mut elsewhere = excluding(&settings);
    elsewhere.roots = vec![folder.path().join("another").into()];
    run_index(&elsewhere);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    run_index(&excluding(&settings));
    assert!(stored_texts(&data).contains(&"open again".to_owned()), "what is not excluded is stored again");
}
