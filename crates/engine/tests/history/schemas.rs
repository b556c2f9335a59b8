//! Databases of earlier versions of the program: after the migration they hold the same rows as a fresh index, and
//! the user's own entries.
//!
//! `schema-1` was made by the last program of schema 1: `index` over the transcript beside it, at the path below.
//! Then a name and a forgotten session were put into their tables. It is packed with `zstd -19`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::engine::Sources;
use watchbill_engine::handle::real_sources;
use watchbill_settings::Settings;
use watchbill_store::search::Query;
use watchbill_store::{DatabaseState, OpenMode, Store};
use watchbill_watch::mem::MemFs;

pub(crate) const SESSION: &str = "0a000000-0000-4000-8000-000000000001";
pub(crate) const TRANSCRIPT: &str = include_str!("schema-1/transcript.jsonl");

fn path() -> PathBuf {
    Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{SESSION}.jsonl"))
}

/// The agent's folder of that time, and a data folder.
pub(crate) fn one_transcript(data: &Path) -> (Settings, Sources, MemFs) {
    let fs = MemFs::new();
    fs.append(path(), TRANSCRIPT.as_bytes());
    let mut settings = Settings::for_roots(vec!["/home/dev/.claude"]);
    settings.data_dir = Some(data.to_path_buf());
    (settings, Sources { fs: Arc::new(fs.clone()), ..real_sources() }, fs)
}

/// All rows that were read from transcripts, as text. A session's state is left out: it depends on the time of the
/// look.
pub(crate) fn rows(store: &Store) -> Vec<String> {
    let mut rows = Vec::new();
    let mut sessions = Vec::new();
    store
        .sessions(&mut |key, row| {
            rows.push(format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                row.session_id,
                row.cwd,
                row.title,
                row.goal,
                row.branch,
                row.model,
                row.created_at,
                row.chain_id
            ));
            sessions.push(key);
        })
        .unwrap();
    for session in sessions {
        rows.extend(store.batches(session).unwrap().iter().map(|row| format!("{:?}", row.batch)));
        rows.extend(store.activities(session).unwrap().iter().map(|row| format!("{:?}", row.activity)));
        for (file, row) in store.files_of(session).unwrap() {
            rows.push(format!("{} {} {}", row.path, row.cursor.offset, row.cursor.size));
            rows.extend(store.texts(file, 0, 1_000).unwrap().iter().map(|text| format!("{text:?}")));
        }
    }
    let usage = store.usage(None, &mut |_| 0, None).unwrap();
    let mut usage: Vec<String> = usage.iter().map(|row| format!("{row:?}")).collect();
    usage.sort();
    rows.append(&mut usage);
    for words in ["parse line", "日本", "fn", "docs", "Parser"] {
        let hits = store.search(&Query::new(words, 10)).unwrap().hits;
        rows.push(format!("{words}: {} hits", hits.len()));
    }
    rows
}

#[test]
fn a_database_of_schema_1_equals_a_fresh_index_and_keeps_the_users_entries() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (folder.path().join("old"), folder.path().join("new"));
    std::fs::create_dir_all(&old).unwrap();
    let packed = &include_bytes!("schema-1/watchbill.db.zst")[..];
    std::fs::write(old.join("watchbill.db"), zstd::decode_all(packed).unwrap()).unwrap();
    let (settings, world, _) = one_transcript(&new);
    let fresh = run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    assert!(matches!(fresh, Indexed::Here(_)), "{fresh:?}");

    let mut store = Store::open(&old, OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.origin(), &DatabaseState::Migrated { from: 1 });
    let as_fresh = rows(&Store::open(&new, OpenMode::Read).unwrap());
    assert!(as_fresh.iter().any(|row| row == "parse line: 2 hits"), "{as_fresh:#?}");
    assert_eq!(rows(&store), as_fresh);
    let said = |store: &mut Store| {
        let names: Vec<String> = store.chain_names().unwrap().into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["The parser"]);
        assert_eq!(store.forgotten().unwrap(), [SessionId::new("0b000000-0000-4000-8000-000000000002")]);
        assert!(store.index_is_sound().unwrap());
    };
    said(&mut store);
    drop(store);

    // The migrated database is written like any other.
    let (settings, world, fs) = one_transcript(&old);
    let more = TRANSCRIPT.lines().last().unwrap().replace("u5", "u6").replace("docs", "changelog");
    fs.append(path(), format!("{more}\n").as_bytes());
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    let mut store = Store::open(&old, OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.origin(), &DatabaseState::Current);
    assert_eq!(store.search(&Query::new("changelog", 10)).unwrap().hits.len(), 1);
    assert_eq!(store.search(&Query::new("docs", 10)).unwrap().hits.len(), 1);
    said(&mut store);
}
