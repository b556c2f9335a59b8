//! Damaged files: nothing panics, each fault is reported, and in the end there is a store to write to.

use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::removal::Forget;
use watchbill_store::search::Query;
use watchbill_store::tables::hook_events::HookEventRow;
use watchbill_store::tables::snoozed_or_put_away::SnoozeRow;
use watchbill_store::{DamagedFile, DatabaseState, OpenMode, Store, StoreError};

use crate::rig::{Rig, forget, prompt, session};

/// A store of some hundred kilobytes.
pub fn filled(rig: &Rig) -> PathBuf {
    let mut store = rig.open();
    for name in ["a", "b", "c"] {
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, name);
        for n in 0..100 {
            let text = format!("text {n} of {name} with commonWord and {}", "more words ".repeat(40));
            step.add_text(file, key, &prompt(n, &text)).unwrap();
        }
        step.commit().unwrap();
    }
    store.path().to_owned()
}

/// Uses a store as a program does; the first error ends it.
pub fn use_store(folder: &Path) -> Result<DatabaseState, StoreError> {
    let mut store = Store::open(folder, OpenMode::WriteOrRead)?;
    let origin = store.origin().clone();
    store.sessions(&mut |_, _| ())?;
    let mut files = Vec::new();
    store.files(&mut |key, _| files.push(key))?;
    for file in files {
        store.texts(file, 0, 1_000)?;
    }
    store.search(&Query::new("common word", 100))?;
    store.totals()?;
    let mut step = store.step()?;
    let key = step.session_key(&SessionId::new("new"))?;
    let file = step.file_key("/home/dev/new.jsonl", key, None)?;
    step.add_text(file, key, &prompt(0, "one text more"))?;
    step.reset_file(file)?;
    // Several pages, so that SQLite needs free ones.
    let text = "one text more ".repeat(80);
    for n in 1..40 {
        step.add_text(file, key, &prompt(n, &text))?;
    }
    step.commit()?;
    Ok(origin)
}

fn set_aside(folder: &Path) -> usize {
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.contains(".corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm"))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_store_is_used_repaired_or_set_aside(
        holes in prop::collection::vec((0.0..1.0f64, 1..600usize, any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, 0.0..1.0f64),
    ) {
        let rig = Rig::new();
        let path = filled(&rig);
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, length, value) in holes {
            let at = (bytes.len() as f64 * at) as usize;
            let end = (at + length).min(bytes.len());
            bytes[at..end].fill(value);
        }
        if let Some(share) = cut {
            bytes.truncate((bytes.len() as f64 * share) as usize);
        }
        std::fs::write(&path, &bytes).unwrap();
        let met = |end: &String| end.starts_with("met: ");
        let mut ends = Vec::new();
        // A use may miss the damage, and the next one meets it, because the store grows. Then one more use follows,
        // which does not meet it.
        while ends.len() < 5 || ends.len() == 5 && ends.last().is_some_and(met) {
            match use_store(rig.folder.path()) {
                Ok(origin) => ends.push(format!("{origin:?}")),
                Err(StoreError::Newer { found, .. }) if found > 1 => {
                    // The hole was in the version. A newer program's file must not be moved.
                    prop_assert_eq!(std::fs::read(&path).unwrap(), bytes);
                    return Ok(());
                }
                Err(error) => ends.push(format!("met: {error}")),
            }
        }
        prop_assert!(
            ends.windows(2).all(|two| !(met(&two[0]) && met(&two[1]))) && !ends.last().is_some_and(met),
            "{:?}: after damage was met, the next start has put it right", ends
        );
        let new = ends.iter().position(|end| end.contains("SetAside")).unwrap_or(ends.len());
        prop_assert!(!ends.iter().skip(new).any(met), "{:?}: a new file has none", ends);
        prop_assert_eq!(set_aside(rig.folder.path()), ends.iter().filter(|end| !met(end) && end.contains("SetAside")).count());
    }
}

#[test]
fn a_file_that_is_no_database_is_set_aside() {
    let rig = Rig::new();
    let path = rig.folder.path().join("watchbill.db");
    std::fs::write(&path, "This is a letter to my aunt. ".repeat(100)).unwrap();
    let store = rig.open();
    let DatabaseState::SetAside { to, detail, saved: 0 } = store.origin() else {
        panic!("{:?}", store.origin())
    };
    assert_eq!(detail, "file is not a database");
    assert!(std::fs::read_to_string(to).unwrap().starts_with("This is a letter"));
    // A reader may not set anything aside.
    drop(store);
    std::fs::write(&path, "Another letter. ".repeat(100)).unwrap();
    assert!(matches!(Store::open(rig.folder.path(), OpenMode::Read), Err(StoreError::Damaged { .. })));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("Another letter"));
}

#[test]
fn rows_that_no_transcript_holds_are_saved_from_a_damaged_store() {
    let rig = Rig::new();
    let path = filled(&rig);
    let mut store = rig.open();
    forget(&mut store, &Forget::Session(SessionId::new("b")), Timestamp::from_millis(5), &mut |_| ())
        .unwrap();
    let aside = SnoozeRow {
        session_id: "a".into(),
        snoozed_until: Some(Timestamp::from_millis(9)),
        away: Some((Timestamp::from_millis(1), Timestamp::from_millis(2))),
    };
    let mut step = store.step().unwrap();
    step.name_chain("chain", Some("Release")).unwrap();
    step.put_snooze(&aside).unwrap();
    let (key, _) = session(&mut step, "a");
    step.add_hook_event(key, &stop()).unwrap();
    step.note_hook_folder(key, "/home/dev/heard").unwrap();
    step.commit().unwrap();
    drop(store);
    // One letter of each text is damaged. SQLite itself does not notice.
    let mut bytes = std::fs::read(&path).unwrap();
    let hits: Vec<usize> = memchr::memmem::find_iter(&bytes, b"commonWord").collect();
    assert!(hits.len() >= 200);
    hits.into_iter().for_each(|hit| bytes[hit] = 0xff);
    std::fs::write(&path, bytes).unwrap();
    let met = use_store(rig.folder.path());
    assert!(matches!(met, Err(StoreError::Damaged { .. })), "{met:?}");
    let store = rig.open();
    assert!(matches!(store.origin(), DatabaseState::SetAside { saved: 5, .. }), "{:?}", store.origin());
    assert_eq!(store.forgotten().unwrap(), [SessionId::new("b")]);
    assert_eq!(store.chain_names().unwrap(), [("chain".to_owned(), "Release".to_owned())]);
    assert_eq!(store.all_set_aside().unwrap(), [aside]);
    let key = store.session_key(&SessionId::new("a")).unwrap().unwrap();
    assert_eq!(store.hook_events(key).unwrap(), [stop()]);
    let worked = store.worked_in(&|cwd: &str| cwd == "/home/dev/heard").unwrap();
    assert_eq!(worked.sessions, ["a".to_owned()].into(), "what is excluded later goes by that");
    assert_eq!(store.text_counts().unwrap(), (0, 0), "texts are read again");
}

#[test]
fn forgotten_sessions_are_known_when_their_table_is_damaged() {
    let rig = Rig::new();
    let path = filled(&rig);
    let list = PathBuf::from(format!("{}.forgotten", path.display()));
    let mut store = rig.open();
    assert!(!list.exists(), "nothing was");
    for id in ["a", "b"] {
        forget(&mut store, &Forget::Session(SessionId::new(id)), Timestamp::from_millis(5), &mut |_| ())
            .unwrap();
    }
    assert_eq!(store.remember_again(Some(&SessionId::new("a"))).unwrap(), 1);
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "5 b\n");
    drop(store);
    // An earlier program left no list.
    std::fs::remove_file(&list).unwrap();
    drop(rig.open());
    assert_eq!(std::fs::read_to_string(&list).unwrap(), "5 b\n");
    let sql = rusqlite::Connection::open(&path).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'forgotten'";
    let root: isize = sql.query_row(root, [], |row| row.get(0)).unwrap();
    let page: isize = sql.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    drop(sql);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[((root - 1) * page) as usize..(root * page) as usize].fill(0);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(rig.open().forgotten(), Err(StoreError::Damaged { .. })));
    let store = rig.open();
    assert!(matches!(store.origin(), DatabaseState::SetAside { saved: 1, .. }), "{:?}", store.origin());
    assert_eq!(store.forgotten().unwrap(), [SessionId::new("b")]);
    drop(store);
    // A user who deletes the database to have it made anew still wants the session forgotten.
    std::fs::remove_file(&path).unwrap();
    let mut store = rig.open();
    assert_eq!(
        (store.origin(), store.forgotten().unwrap()),
        (&DatabaseState::Fresh, vec![SessionId::new("b")])
    );
    store.remember_again(None).unwrap();
    drop(store);
    assert_eq!(rig.open().forgotten().unwrap(), []);
}

/// Points at which a kill may end a start that sets a damaged store aside. Forgotten sessions stay forgotten in
/// each case.
#[test]
fn the_next_start_finishes_setting_a_damaged_store_aside() {
    for (ended, moved, made) in [
        ("before anything was moved", 0, false),
        ("before the log was", 1, false),
        ("before another was made", 2, false),
        ("before anything was taken over", 2, true),
    ] {
        let rig = Rig::new();
        let path = filled(&rig);
        let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
        let mut store = rig.open();
        forget(&mut store, &Forget::Session(SessionId::new("b")), Timestamp::from_millis(5), &mut |_| ())
            .unwrap();
        // The last writes are only in the log.
        let mut step = store.step().unwrap();
        step.name_chain("chain", Some("Release")).unwrap();
        let (key, _) = session(&mut step, "a");
        step.add_hook_event(key, &stop()).unwrap();
        step.commit().unwrap();
        let log = std::fs::read(beside("-wal")).unwrap();
        assert!(!log.is_empty());
        let database = std::fs::read(&path).unwrap();
        drop(store);
        std::fs::write(&path, database).unwrap();
        std::fs::write(beside("-wal"), log).unwrap();
        let note = beside(".salvage");
        std::fs::write(&note, "watchbill.db.corrupt-7").unwrap();
        for companion in ["", "-wal"].iter().take(moved) {
            std::fs::rename(beside(companion), beside(&format!(".corrupt-7{companion}"))).unwrap();
        }
        if made {
            std::fs::remove_file(&note).unwrap();
            drop(rig.open());
            std::fs::write(&note, "watchbill.db.corrupt-7").unwrap();
        }
        for start in ["the next", "one whose note of it could not be removed"] {
            let mut store = rig.open();
            let key = store.session_key(&SessionId::new("a")).unwrap().unwrap();
            assert_eq!(store.forgotten().unwrap(), [SessionId::new("b")], "{ended}, {start}");
            assert_eq!(store.chain_names().unwrap(), [("chain".to_owned(), "Release".to_owned())], "{ended}");
            assert_eq!(store.hook_events(key).unwrap(), [stop()], "{ended}, {start}");
            // A new database already has the list of forgotten sessions.
            let expected = if made { 2 } else { 3 };
            let is_new =
                matches!(store.origin(), DatabaseState::SetAside { saved, .. } if *saved == expected);
            assert_eq!(is_new, start == "the next" && moved > 0, "{ended}, {start}: {:?}", store.origin());
            assert!(store.index_is_sound().unwrap());
            assert!(!note.exists());
            std::fs::write(&note, "watchbill.db.corrupt-7").unwrap();
        }
    }
}

/// A user's command and a hook event, and nothing else.
fn told(rig: &Rig) -> PathBuf {
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    step.name_chain("chain", Some("Release")).unwrap();
    let (key, _) = session(&mut step, "a");
    step.add_hook_event(key, &stop()).unwrap();
    step.commit().unwrap();
    store.path().to_owned()
}

/// The rows of [`told`] are there once.
fn is_told_once(store: &Store) {
    assert_eq!(store.chain_names().unwrap(), [("chain".to_owned(), "Release".to_owned())]);
    let key = store.session_key(&SessionId::new("a")).unwrap().unwrap();
    assert_eq!(store.hook_events(key).unwrap(), [stop()]);
}

#[test]
fn rows_not_copied_yet_are_copied_when_the_new_store_is_damaged_too() {
    let rig = Rig::new();
    let path = told(&rig);
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    std::fs::rename(&path, beside(".corrupt-7")).unwrap();
    std::fs::write(beside(".salvage"), "watchbill.db.corrupt-7").unwrap();
    std::fs::write(&path, "This is a letter to my aunt. ".repeat(100)).unwrap();
    let damaged = || watchbill_store::damaged_files(rig.folder.path());
    let bytes = std::fs::metadata(beside(".corrupt-7")).unwrap().len();
    assert_eq!(damaged(), [DamagedFile { path: beside(".corrupt-7"), bytes, is_copied: false }]);
    let store = rig.open();
    assert!(matches!(store.origin(), DatabaseState::SetAside { saved: 2, .. }), "{:?}", store.origin());
    is_told_once(&store);
    assert!(!beside(".salvage").exists());
    assert!(damaged().len() > 1 && damaged().iter().all(|file| file.is_copied), "{:?}", damaged());
    drop(store);
    // The new store also has the rows that this one had copied, though its note could not be removed.
    let sql = rusqlite::Connection::open(&path).unwrap();
    sql.execute_batch("DROP INDEX sessions_active").unwrap();
    drop(sql);
    std::fs::write(beside(".suspect"), "").unwrap();
    std::fs::write(beside(".salvage"), "watchbill.db.corrupt-7").unwrap();
    let store = rig.open();
    assert!(matches!(store.origin(), DatabaseState::SetAside { saved: 2, .. }), "{:?}", store.origin());
    is_told_once(&store);
    assert!(!beside(".salvage").exists());
    assert_eq!(set_aside(rig.folder.path()), 3);
}

#[test]
#[cfg(unix)]
fn a_database_that_cannot_be_opened_now_is_copied_later() {
    let rig = Rig::new();
    let path = told(&rig);
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    std::fs::rename(&path, beside(".kept")).unwrap();
    std::fs::write(beside(".salvage"), "watchbill.db.corrupt-7").unwrap();
    // No user can open a socket as a file, not even root.
    let socket = std::os::unix::net::UnixListener::bind(beside(".corrupt-7")).unwrap();
    let store = rig.open();
    assert_eq!((store.origin(), store.chain_names().unwrap()), (&DatabaseState::Fresh, Vec::new()));
    drop((store, socket));
    std::fs::rename(beside(".kept"), beside(".corrupt-7")).unwrap();
    is_told_once(&rig.open());
    assert!(!beside(".salvage").exists());
}

#[test]
#[cfg(unix)]
fn sessions_forgotten_meanwhile_are_not_copied() {
    let rig = Rig::new();
    let path = told(&rig);
    let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let mut store = rig.open();
    let away = |id: &str| SnoozeRow {
        session_id: id.into(),
        snoozed_until: Some(Timestamp::from_millis(9)),
        away: None,
    };
    let mut step = store.step().unwrap();
    let (other, _) = session(&mut step, "other");
    step.add_hook_event(other, &stop()).unwrap();
    ["a", "other"].iter().for_each(|id| step.put_snooze(&away(id)).unwrap());
    step.commit().unwrap();
    drop(store);
    std::fs::rename(&path, beside(".kept")).unwrap();
    std::fs::write(beside(".salvage"), "watchbill.db.corrupt-7").unwrap();
    let socket = std::os::unix::net::UnixListener::bind(beside(".corrupt-7")).unwrap();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    session(&mut step, "a");
    step.commit().unwrap();
    forget(&mut store, &Forget::Session(SessionId::new("a")), Timestamp::from_millis(5), &mut |_| ())
        .unwrap();
    drop((store, socket));
    std::fs::rename(beside(".kept"), beside(".corrupt-7")).unwrap();
    let store = rig.open();
    assert_eq!(store.session_key(&SessionId::new("a")).unwrap(), None);
    assert_eq!(store.all_set_aside().unwrap(), [away("other")]);
    let key = store.session_key(&SessionId::new("other")).unwrap().unwrap();
    assert_eq!(store.hook_events(key).unwrap(), [stop()], "the rest is");
    assert_eq!(store.forgotten().unwrap(), [SessionId::new("a")]);
}

fn stop() -> HookEventRow {
    let at = Timestamp::from_millis(7);
    HookEventRow { at, event: "Stop".into(), tool: None, call: None, prompt: None, detail: None }
}

#[test]
fn a_damaged_schema_or_version_is_noticed() {
    // A column's name in the SQL text of the schema. SQLite takes the result for another column.
    let rig = Rig::new();
    let path = filled(&rig);
    let mut bytes = std::fs::read(&path).unwrap();
    let hits: Vec<usize> = memchr::memmem::find_iter(&bytes, b"cwd           TEXT").collect();
    hits.into_iter().for_each(|hit| bytes[hit] = b'k');
    std::fs::write(&path, bytes).unwrap();
    assert!(use_store(rig.folder.path()).is_err());
    assert!(matches!(use_store(rig.folder.path()), Ok(DatabaseState::SetAside { .. })));
    // The version, at byte 60 of the file's header.
    let rig = Rig::new();
    let path = filled(&rig);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[60..64].fill(0);
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(use_store(rig.folder.path()), Ok(DatabaseState::SetAside { .. })));
}

#[test]
fn a_new_database_stores_nothing_while_the_forgotten_list_is_unreadable() {
    let rig = Rig::new();
    let list = rig.folder.path().join("watchbill.db.forgotten");
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    crate::rig::session(&mut step, "a");
    step.commit().unwrap();
    forget(&mut store, &Forget::Session(SessionId::new("a")), Timestamp::from_millis(5), &mut |_| ())
        .unwrap();
    drop(store);
    let said = std::fs::read(&list).unwrap();
    for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
        drop(std::fs::remove_file(rig.folder.path().join(name)));
    }
    std::fs::remove_file(&list).unwrap();
    // A folder cannot be read as a file, not even by root.
    std::fs::create_dir(&list).unwrap();
    for _ in 0..2 {
        let refused = Store::open(rig.folder.path(), OpenMode::WriteOrRead).unwrap_err();
        assert!(matches!(refused, StoreError::ForgottenUnread { .. }) && refused.is_temporary(), "{refused}");
        assert!(refused.to_string().contains("watchbill.db.forgotten"), "{refused}");
        let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
        assert!(reader.forgotten_list_error().unwrap().is_some(), "who only looks is told as well");
    }
    std::fs::remove_dir(&list).unwrap();
    std::fs::write(&list, [&*said, b"\nb\n"].concat()).unwrap();
    let store = rig.open();
    assert_eq!(store.forgotten().unwrap(), [SessionId::new("a"), SessionId::new("b")], "a time is no matter");
    assert!(store.forgotten_list_error().unwrap().is_none());
}

#[test]
fn a_check_of_the_pages_finds_a_destroyed_page() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "s");
    for at in 0..3_000 {
        step.add_text(file, key, &prompt(at, &format!("word{at} {}", "and more ".repeat(30)))).unwrap();
    }
    step.commit().unwrap();
    drop(store);
    let path = rig.folder.path().join("watchbill.db");
    let suspect = rig.folder.path().join("watchbill.db.suspect");
    let patience = Duration::from_secs(60);
    let whole = std::fs::read(&path).unwrap();
    let sql = rusqlite::Connection::open(&path).unwrap();
    let page = sql.pragma_query_value(None, "page_size", |row| row.get::<_, u32>(0)).unwrap() as usize;
    let root = |name: &str| -> usize {
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        sql.query_row(root, [name], |row| row.get::<_, u32>(0)).unwrap() as usize
    };
    let roots = [root("texts"), root("texts_fts_data"), root("archive"), root("links_later")];
    drop(sql);
    let look = || Store::open(rig.folder.path(), OpenMode::Read).unwrap().check_pages(patience);
    assert!(look().unwrap() && !suspect.exists());
    // Pages of tables that `doctor` does not query, and one in the middle of the texts.
    for at in roots.into_iter().chain([whole.len() / page / 2]) {
        let mut bytes = whole.clone();
        bytes[(at - 1) * page..at * page].fill(0x5a);
        std::fs::write(&path, bytes).unwrap();
        let damaged = look().unwrap_err();
        assert!(matches!(damaged, StoreError::Damaged { .. }), "page {at}: {damaged}");
        assert!(suspect.exists(), "the next start looks for it");
        std::fs::remove_file(&suspect).unwrap();
    }
    std::fs::write(&path, &whole).unwrap();
    assert!(look().unwrap());
    // A first index would have to wait for this reader, so the pages are not checked.
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    std::fs::write(&suspect, boot.trim()).unwrap();
    assert_eq!(look().unwrap(), boot.is_empty(), "it is said that not all was looked at");
}
