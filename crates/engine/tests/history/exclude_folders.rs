//! A later rule applies to every folder in which a session worked: also to folders of subagents, of sessions without
//! a transcript, and to any number of folders. It applies also where an earlier version of the program noted no
//! folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::history::ArchiveSettings;
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::engine::Sources;
use watchbill_engine::handle::{real_sources, start};
use watchbill_history::query::health;
use watchbill_settings::Settings;
use watchbill_store::{DatabaseState, OpenMode, Store};
use watchbill_watch::mem::MemFs;

use crate::archived::{age, archived};
use crate::exclude_later::{
    excluding, file_containing, four_sessions, line, run_index, states, stored_texts, stored_texts_and_rows,
};
use crate::thread::released;
use crate::wait::until;

const SECRET: &str = "/home/dev/secret/app";
const WORK: &str = "/home/dev/work";
const AGENT: &str = "/home/dev/.claude/projects/-home-dev-work/s/subagents/agent-a.jsonl";

/// A subagent's line.
fn by_agent(session: &str, id: &str, cwd: &str, content: &str) -> String {
    line(session, id, cwd, content).replacen('{', r#"{"isSidechain":true,"agentId":"x","#, 1)
}

/// The rows of an index that had these settings from the beginning.
fn fresh(settings: &Settings) -> Vec<String> {
    let mut fresh = settings.clone();
    fresh.data_dir = Some(settings.data_dir.as_deref().unwrap().with_file_name("fresh"));
    run_index(&fresh);
    stored_texts_and_rows(fresh.data_dir.as_deref().unwrap())
}

#[test]
fn a_later_rule_removes_a_subagents_texts_and_keeps_its_session() {
    for is_gone in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (settings, project) = four_sessions(folder.path());
        let data = settings.data_dir.clone().unwrap();
        let agents = project.join("out/subagents");
        std::fs::create_dir_all(&agents).unwrap();
        let went = by_agent("out", "5", SECRET, r#""HIDDEN from a subagent""#)
            + &by_agent("out", "6", WORK, r#""open from it""#);
        std::fs::write(agents.join("agent-went.jsonl"), went).unwrap();
        let stayed = by_agent("out", "7", WORK, r#""open from another""#);
        std::fs::write(agents.join("agent-stayed.jsonl"), stayed).unwrap();
        run_index(&settings);
        if is_gone {
            std::fs::remove_file(project.join("out.jsonl")).unwrap();
            std::fs::remove_dir_all(project.join("out")).unwrap();
        }

        let excluding = excluding(&settings);
        run_index(&excluding);
        assert_eq!(file_containing(&data, "HIDDEN"), None);
        let held = stored_texts(&data);
        for (text, is_there) in
            [("open elsewhere", true), ("open from another", true), ("open from it", !is_gone)]
        {
            assert_eq!(held.iter().any(|row| row == text), is_there, "{text}: {held:#?}");
        }
        if !is_gone {
            assert_eq!(stored_texts_and_rows(&data), fresh(&excluding));
        }
    }
}

#[test]
fn a_later_rule_removes_a_subagents_transcript_from_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let (mut settings, project) = four_sessions(folder.path());
    settings.archive = ArchiveSettings { enabled: true, ..ArchiveSettings::default() };
    let data = settings.data_dir.clone().unwrap();
    let agents = project.join("out/subagents");
    std::fs::create_dir_all(&agents).unwrap();
    let went = agents.join("agent-went.jsonl");
    std::fs::write(&went, by_agent("out", "5", SECRET, r#""HIDDEN from a subagent""#)).unwrap();
    age(&went, 20);
    let engine = start(settings.clone()).unwrap();
    assert_eq!(archived(&data, 5), 5);
    engine.stop();
    drop(engine);
    released(&data);
    std::fs::remove_dir_all(project.join("out")).unwrap();

    let engine = start(excluding(&settings)).unwrap();
    until("all of it to be gone", || file_containing(&data, "HIDDEN").is_none());
    engine.stop();
    drop(engine);
    released(&data);
    let rows = Store::open(&data, OpenMode::Read).unwrap().all_archived().unwrap();
    let names: Vec<_> = rows.iter().map(|row| (&*row.session_id, row.subagent.as_deref())).collect();
    assert_eq!(names, [("out", None)]);
}

#[test]
fn a_rule_matches_every_folder_of_a_session_whose_transcript_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, project) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    run_index(&settings);
    std::fs::remove_file(project.join("was.jsonl")).unwrap();
    let engine = start(settings.clone()).unwrap();
    until("nothing to be kept of the transcript", || !states(&data).contains(&"was".to_owned()));
    engine.stop();
    drop(engine);
    released(&data);
    assert!(stored_texts(&data).contains(&"HIDDEN later".to_owned()), "its texts stay");
    run_index(&excluding(&settings));
    assert_eq!(file_containing(&data, "HIDDEN"), None);
}

#[test]
fn a_rule_matches_the_last_of_many_folders() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, project) = four_sessions(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let mut text = String::new();
    for n in 0..40 {
        text += &line("many", "1", &format!("/home/dev/work/{n}"), r#""open in many""#)
            .replace("many1", &format!("many-{n}"));
    }
    text += &line("many", "2", SECRET, r#""HIDDEN at last""#);
    std::fs::write(project.join("many.jsonl"), text).unwrap();
    run_index(&settings);
    let excluding = excluding(&settings);
    run_index(&excluding);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert_eq!(stored_texts_and_rows(&data), fresh(&excluding));
}

/// `schema-3` was made by the last program of schema 3: `index` over these transcripts, without a rule and then with
/// it. That program did not know where the subagent had worked. It is packed with `zstd -19`.
fn of_schema_3(data: &Path) -> (Settings, Sources, Arc<MemFs>) {
    std::fs::create_dir_all(data).unwrap();
    let packed = &include_bytes!("schema-3/watchbill.db.zst")[..];
    std::fs::write(data.join("watchbill.db"), zstd::decode_all(packed).unwrap()).unwrap();
    let fs = MemFs::new();
    let path = |name: &str| PathBuf::from("/home/dev/.claude/projects/-home-dev-work").join(name);
    let line = |id: &str, cwd: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"s{id}","sessionId":"s","cwd":"{cwd}","timestamp":"2026-11-20T15:00:0{id}.000Z","message":{{"content":"{text}"}}}}"#
        ) + "\n"
    };
    let by_agent = |line: String| line.replacen('{', r#"{"isSidechain":true,"agentId":"a","#, 1).into_bytes();
    fs.append(path("s.jsonl"), line("1", WORK, "open words").as_bytes());
    fs.append(AGENT, &by_agent(line("2", "/home/dev/secret", "HIDDEN words")));
    fs.append(AGENT, &by_agent(line("3", WORK, "open again")));
    let mut settings = Settings::for_roots(vec!["/home/dev/.claude"]);
    settings.data_dir = Some(data.to_path_buf());
    let fs = Arc::new(fs);
    (excluding(&settings), Sources { fs: Arc::clone(&fs) as _, ..real_sources() }, fs)
}

#[test]
fn rules_carried_out_by_an_earlier_version_are_applied_again_to_all_folders() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, _) = of_schema_3(&data);
    assert!(file_containing(&data, "HIDDEN").is_some());
    let said = || {
        let health = health(&settings, &*world.fs).unwrap();
        (health.files_behind, health.files_left_out, health.exclude_changed)
    };
    assert_eq!(
        Store::open(&data, OpenMode::WriteOrRead).unwrap().origin(),
        &DatabaseState::Migrated { from: 3 }
    );
    assert_eq!(said(), (0, 0, true), "no pass over all folders has run yet");
    let done = run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    assert!(matches!(done, Indexed::Here(_)), "{done:?}");
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert!(stored_texts(&data).contains(&"open again".to_owned()), "{:#?}", stored_texts(&data));
    assert_eq!(said(), (0, 1, false));
}

#[test]
fn a_subagent_with_an_unreadable_transcript_is_removed_until_its_folders_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = of_schema_3(&data);
    fs.deny(AGENT, true);
    let index = || {
        let done = run(&settings, &world, Options::default(), &mut |_| true);
        assert!(matches!(done, Ok(Indexed::Here(_))), "{done:?}");
    };
    index();
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert!(stored_texts(&data).contains(&"open words".to_owned()), "{:#?}", stored_texts(&data));
    fs.deny(AGENT, false);
    index();
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert!(stored_texts(&data).contains(&"open again".to_owned()), "{:#?}", stored_texts(&data));
}
