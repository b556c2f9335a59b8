//! The write-ahead log: copied beside the writer, or by the commits themselves if no copier does it.

use watchbill_core::history::Exclude;
use watchbill_core::history::rows::Activity;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::removal::Forget;
use watchbill_store::search::Query;
use watchbill_store::tables::folders::WorkedIn;
use watchbill_store::{DATABASE, DatabaseState, FileKey, OpenMode, Store};

use crate::rig::{Rig, forget, prompt, session};

/// Half a megabyte of `content`. SQLite does not write a page again that has not changed.
fn fill(store: &mut Store, name: &str, content: u8) {
    let mut step = store.step().unwrap();
    step.put_fact(name, &vec![content; 512 << 10]).unwrap();
    step.commit().unwrap();
}

fn database_length(rig: &Rig) -> u64 {
    std::fs::metadata(rig.folder.path().join(DATABASE)).unwrap().len()
}

#[test]
fn the_log_is_copied_beside_the_writer() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut copier = store.log_copier().unwrap().expect("the store is ours");
    fill(&mut store, "first", 1);
    assert!(!copier.is_due(), "little waits");
    let before = database_length(&rig);
    for n in 0..20 {
        fill(&mut store, &format!("{n}"), 2);
    }
    assert_eq!(database_length(&rig), before, "ten megabytes are in the log alone");
    assert!(copier.is_due());
    // The writer is in the middle of a step. Neither waits for the other, and the step is not copied.
    let mut step = store.step().unwrap();
    step.put_fact("unfinished", b"x").unwrap();
    let (log, copied) = copier.copy().unwrap();
    assert!(log > 1_000 && copied == log, "{copied} of {log}");
    drop(step);
    assert!(database_length(&rig) > before + (10 << 20));
    assert!(!copier.is_due(), "what is copied is not copied again");
    // The log begins anew, and is not due before it is long again.
    fill(&mut store, "another", 3);
    assert!(!copier.is_due());
    assert_eq!(store.fact("unfinished").unwrap(), None);
    assert_eq!(store.fact("19").unwrap().map(|bytes| bytes.len()), Some(512 << 10));
}

#[test]
fn without_a_copier_the_commits_copy_the_log() {
    let rig = Rig::new();
    let mut store = rig.open();
    let before = database_length(&rig);
    for n in 0..150 {
        fill(&mut store, "one", n);
    }
    assert!(database_length(&rig) > before);
    let log = std::fs::metadata(rig.folder.path().join(format!("{DATABASE}-wal"))).unwrap().len();
    assert!(log < 70 << 20, "{log}");
}

#[test]
fn a_reader_has_no_log_copier() {
    let rig = Rig::new();
    let _writer = rig.open();
    let reader = Store::open(rig.folder.path(), OpenMode::WriteOrRead).unwrap();
    assert!(reader.log_copier().unwrap().is_none());
}

fn beside(rig: &Rig, suffix: &str) -> bool {
    let path = rig.folder.path().join(format!("{DATABASE}{suffix}"));
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0 || suffix == ".suspect")
}

fn one_text(store: &mut Store, n: u64) {
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(n, "said")).unwrap();
    step.commit().unwrap();
}

#[test]
fn a_first_index_writes_without_the_log() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    assert!(beside(&rig, ".suspect"), "should the power fail now, the next start looks through everything");
    let before = database_length(&rig);
    fill(&mut store, "first", 1);
    one_text(&mut store, 0);
    assert!(database_length(&rig) >= before + (512 << 10) && !beside(&rig, "-wal"));
    store.end_bulk_insert().unwrap();
    assert!(!beside(&rig, ".suspect") && !beside(&rig, "-journal"));
    // The log is back, and others can read beside a step.
    let mut step = store.step().unwrap();
    step.put_fact("unfinished", b"x").unwrap();
    let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
    assert_eq!(reader.fact("first").unwrap().map(|bytes| bytes.len()), Some(512 << 10));
    step.commit().unwrap();
    assert!(beside(&rig, "-wal"));
    // A process that reads already must not have to wait, once there is something to read.
    drop(reader);
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 1);
    assert!(beside(&rig, "-wal") && !beside(&rig, ".suspect"));
}

/// Stores sessions without the log, each with a row of every kind that belongs to a file, a session or a state.
fn past_the_log(rig: &Rig, names: &[&str]) -> (Store, Vec<FileKey>) {
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    let mut files = Vec::new();
    for name in names {
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, name);
        step.add_text(file, key, &prompt(0, &format!("said {name}"))).unwrap();
        let call = Activity { id: "toolu_1".into(), ..Activity::default() };
        step.merge_activity(key, Some(file), &call).unwrap();
        step.put_state(&format!("/{name}.jsonl"), name, b"head", Some(b"piece"), true).unwrap();
        step.commit().unwrap();
        files.push(file);
    }
    assert!(!beside(rig, "-wal"), "it does go past the log");
    (store, files)
}

/// Checks that the rows of one session are left, and nothing else.
fn one_session_is_left(rig: &Rig) {
    let sql = rusqlite::Connection::open(rig.folder.path().join(DATABASE)).unwrap();
    let count = |of: &str| {
        sql.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(count("pragma_foreign_key_check"), 0, "nothing belongs to what is gone");
    for table in ["files", "texts", "activities", "states", "state_pieces"] {
        assert_eq!(count(table), 1, "{table}");
    }
}

#[test]
fn removals_without_the_log_leave_no_orphaned_rows() {
    let rig = Rig::new();
    let (mut store, files) = past_the_log(&rig, &["a", "b", "c"]);
    // A file is gone, and the user forgets a session meanwhile.
    let mut step = store.step().unwrap();
    step.remove_file(files[0]).unwrap();
    step.remove_state("/a.jsonl").unwrap();
    step.commit().unwrap();
    let what = Forget::Session(SessionId::new("b"));
    forget(&mut store, &what, Timestamp::from_millis(1), &mut |_| {}).unwrap();
    store.end_bulk_insert().unwrap();
    let found = store.search(&Query::new("said", 10)).unwrap().hits;
    assert_eq!(found.into_iter().map(|hit| hit.session_id).collect::<Vec<_>>(), ["c"]);
    assert!(store.index_is_sound().unwrap());
    one_session_is_left(&rig);
}

#[test]
fn excluding_without_the_log_removes_whole_sessions() {
    let rig = Rig::new();
    let (mut store, _) = past_the_log(&rig, &["a", "b"]);
    let mut worked = WorkedIn::default();
    worked.sessions.insert("a".into());
    let selection = store.select_excluded(&Exclude::new(["**/x".into()]), worked, Vec::new()).unwrap();
    store.remove(&selection, Timestamp::from_millis(1), &mut |_| ()).unwrap();
    store.end_bulk_insert().unwrap();
    one_session_is_left(&rig);
}

#[test]
fn with_the_log_back_a_text_of_a_removed_file_is_refused() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 0);
    store.end_bulk_insert().unwrap();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.remove_file(file).unwrap();
    let refused = step.add_text(file, key, &prompt(9, "too late"));
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn a_store_with_user_edits_keeps_the_log_in_a_first_index() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    step.name_chain("chain", Some("the user's name for it")).unwrap();
    step.commit().unwrap();
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 0);
    assert!(beside(&rig, "-wal") && !beside(&rig, ".suspect"), "a power loss takes nothing of it");
    store.end_bulk_insert().unwrap();
}

#[test]
fn a_store_that_others_read_keeps_the_log_in_a_first_index() {
    let rig = Rig::new();
    let mut store = rig.open();
    let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
    store.begin_bulk_insert().unwrap();
    let mut step = store.step().unwrap();
    step.put_fact("unfinished", b"x").unwrap();
    assert_eq!(reader.fact("unfinished").unwrap(), None, "and no reader waits");
    step.commit().unwrap();
    assert_eq!(reader.fact("unfinished").unwrap().as_deref(), Some(&b"x"[..]));
    assert!(!beside(&rig, ".suspect"));
    store.end_bulk_insert().unwrap();
}

#[test]
fn damage_met_before_a_first_index_is_still_searched_for() {
    let rig = Rig::new();
    let mut store = rig.open();
    let note = rig.folder.path().join(format!("{DATABASE}.suspect"));
    std::fs::write(&note, "").unwrap();
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 0);
    assert!(!beside(&rig, "-wal"), "it goes past the log");
    assert_eq!(
        std::fs::read_to_string(&note).unwrap(),
        "",
        "it counts for the next start, not for the next boot"
    );
    store.end_bulk_insert().unwrap();
    assert!(note.exists());
}

#[test]
#[cfg(unix)]
fn without_a_note_about_damage_the_log_stays() {
    let rig = Rig::new();
    let mut store = rig.open();
    // A link into a missing folder: it holds no note, and none can be written.
    let note = rig.folder.path().join(format!("{DATABASE}.suspect"));
    std::os::unix::fs::symlink("nowhere/suspect", note).unwrap();
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 0);
    assert!(beside(&rig, "-wal"));
    store.end_bulk_insert().unwrap();
}

#[test]
fn damage_met_in_a_first_index_is_still_searched_for() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    one_text(&mut store, 0);
    // A sound schema refuses none of our statements.
    let sql = rusqlite::Connection::open(rig.folder.path().join(DATABASE)).unwrap();
    sql.execute_batch("DROP TABLE recoveries").unwrap();
    assert!(store.recoveries(1).is_err());
    drop(sql);
    store.end_bulk_insert().unwrap();
    assert!(beside(&rig, ".suspect"));
}

#[test]
fn after_a_kill_everything_is_checked_only_if_the_power_failed_too() {
    // A usual start does not read the damaged page. Only a check of the whole database finds it.
    for (power_failed, looked) in [(false, false), (true, true)] {
        let rig = Rig::new();
        let mut store = rig.open();
        store.begin_bulk_insert().unwrap();
        one_text(&mut store, 0);
        drop(store);
        let note = rig.folder.path().join(format!("{DATABASE}.suspect"));
        if power_failed {
            std::fs::write(&note, "another boot").unwrap();
        }
        let sql = rusqlite::Connection::open(rig.folder.path().join(DATABASE)).unwrap();
        sql.execute_batch("DROP TABLE recoveries").unwrap();
        drop(sql);
        let store = rig.open();
        assert_eq!(matches!(store.origin(), DatabaseState::SetAside { .. }), looked, "{:?}", store.origin());
        assert!(!note.exists(), "by now it is on the disk");
    }
}
