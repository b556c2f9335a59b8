//! Damage that the next start repairs: in the file's header, in the full-text index, in table indexes, in any
//! single byte.

use std::sync::OnceLock;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::functions::FunctionFlags;
use watchbill_store::search::Query;
use watchbill_store::{DatabaseState, OpenMode, Store, StoreError};

use crate::damage::{filled, use_store};
use crate::rig::{Rig, prompt, session};

/// A database with little more than its tables.
fn small() -> &'static [u8] {
    static SMALL: OnceLock<Vec<u8>> = OnceLock::new();
    SMALL.get_or_init(|| {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        for n in 0..5 {
            step.add_text(file, key, &prompt(n, "a common word")).unwrap();
        }
        step.commit().unwrap();
        let path = store.path().to_owned();
        drop(store);
        std::fs::read(path).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_next_start_repairs_one_wrong_byte(at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = small().to_vec();
        // Most of a page is empty, and no read uses that part.
        let told: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
        let at = *at.get(&told);
        // A higher number here means to SQLite that a newer version has written the file, so it opens it read-only.
        prop_assume!(at != 18 || value < 3);
        bytes[at] = value;
        let rig = Rig::new();
        std::fs::write(rig.folder.path().join("watchbill.db"), &bytes).unwrap();
        let mut met = None;
        // The store grows with each use, and the last of the four may be the first to meet the damage.
        for n in 0..5 {
            if n == 4 && met.is_none() {
                break;
            }
            match use_store(rig.folder.path()) {
                Ok(_) => met = None,
                Err(StoreError::Newer { found, .. }) if found > 1 => return Ok(()),
                Err(error) => {
                    prop_assert!(met.is_none(), "{:?}, then {error}", met);
                    met = Some(error);
                }
            }
        }
        prop_assert!(met.is_none(), "{:?} at last", met);
    }
}

#[test]
fn the_next_start_repairs_a_wrong_number_in_the_header() {
    // Of the schema's version, the first and the last byte; of the schema format, the last byte; where the free
    // pages begin, and how many there are.
    let harms = [
        (60, 255),
        (63, 0),
        (63, 1),
        (63, 2),
        (63, 3),
        (63, 4),
        (47, 9),
        (47, 0),
        (32, 1),
        (35, 9),
        (36, 1),
        (39, 1),
    ];
    for (at, value) in harms {
        let mut bytes = small().to_vec();
        bytes[at] = value;
        let rig = Rig::new();
        std::fs::write(rig.folder.path().join("watchbill.db"), &bytes).unwrap();
        let met = use_store(rig.folder.path());
        let origin = use_store(rig.folder.path());
        assert!(origin.is_ok(), "{value} at {at}: {met:?}, {origin:?}");
    }
}

#[test]
fn a_broken_index_is_noticed_and_made_anew() {
    let rig = Rig::new();
    let path = filled(&rig);
    let sql = rusqlite::Connection::open(&path).unwrap();
    sql.execute("UPDATE texts_fts_data SET block = zeroblob(length(block)) WHERE id > 100", []).unwrap();
    drop(sql);
    let mut store = rig.open();
    let error = store.search(&Query::new("commonWord", 5)).unwrap_err();
    assert!(matches!(error, StoreError::IndexDamaged { .. }), "{error}");
    assert!(!store.index_is_sound().unwrap());
    let checked = store.check_pages(Duration::from_secs(60));
    assert!(matches!(checked, Err(StoreError::IndexDamaged { .. })), "{checked:?}");
    drop(store);
    let store = rig.open();
    assert_eq!(store.origin(), &DatabaseState::Current, "everything else is whole");
    assert_eq!(store.search(&Query::new("commonWord", 500)).unwrap().hits.len(), 300);
}

#[test]
fn a_check_by_a_reader_tells_of_a_broken_index_and_the_next_start_mends_it() {
    for harm in [
        "UPDATE texts_fts_data SET block = zeroblob(length(block)) WHERE id > 100",
        "DELETE FROM texts_fts_data WHERE id > 100",
        "DELETE FROM texts_fts_data",
        "DELETE FROM texts_fts_config",
        "DELETE FROM texts_fts_idx",
        "DELETE FROM texts_fts_idx WHERE pgno / 2 % 2",
        "INSERT INTO texts_fts (texts_fts) VALUES ('delete-all')",
        "INSERT INTO texts_fts (texts_fts, rowid, text, parts, tags)
            SELECT 'delete', id, text, 'common word', 's1 rprompt' FROM texts WHERE id = 7",
        "INSERT INTO texts_fts (rowid, text, parts, tags) VALUES (9999, 'ghost', '', 's1 rprompt')",
    ] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "many");
        for n in 0..300 {
            let words: Vec<String> = (0..40).map(|word| format!("w{n}x{word}")).collect();
            step.add_text(file, key, &prompt(n, &format!("commonWord {}", words.join(" ")))).unwrap();
        }
        step.commit().unwrap();
        let path = store.path().to_owned();
        drop(store);
        let checked =
            || Store::open(rig.folder.path(), OpenMode::Read).unwrap().check_pages(Duration::from_secs(60));
        assert!(matches!(checked(), Ok(true)), "{harm}");
        rusqlite::Connection::open(&path).unwrap().execute_batch(harm).unwrap();
        let told = checked();
        assert!(matches!(told, Err(StoreError::IndexDamaged { .. })), "{harm}: {told:?}");
        let found = |words: &str| rig.open().search(&Query::new(words, 500)).unwrap().hits.len();
        assert_eq!((found("commonWord"), found("w299x39"), found("ghost")), (300, 1, 0), "{harm}");
        assert!(matches!(checked(), Ok(true)), "{harm}: it was made anew");
    }
}

#[test]
fn an_index_that_refuses_everything_is_made_anew() {
    for harm in [
        "UPDATE texts_fts_config SET v = 0 WHERE k = 'version'",
        "UPDATE texts_fts_config SET v = 'many' WHERE k <> 'version'",
        "UPDATE texts_fts_config SET k = k || 's'",
        "UPDATE texts_fts_config SET v = NULL WHERE k <> 'version'",
        "DELETE FROM texts_fts_config",
        // In the row with this number FTS5 keeps its list of segments.
        "UPDATE texts_fts_data SET block = zeroblob(length(block)) WHERE id = 10",
        "DELETE FROM texts_fts_data WHERE id = 10",
    ] {
        let rig = Rig::new();
        let path = filled(&rig);
        rusqlite::Connection::open(&path).unwrap().execute(harm, []).unwrap();
        match use_store(rig.folder.path()) {
            Err(StoreError::IndexDamaged { .. }) => {}
            // SQLite skips the options. Without the list of segments, new ones collide with old ones of the same
            // number.
            Ok(DatabaseState::Current) => assert!(harm.contains("k <> 'version'"), "{harm}"),
            Err(StoreError::Sql { detail, .. }) => assert_eq!(detail, "constraint failed", "{harm}"),
            met => panic!("{harm}: {met:?}"),
        }
        let mut store = rig.open();
        assert_eq!(store.origin(), &DatabaseState::Current, "{harm}: everything else is whole");
        assert!(store.index_is_sound().unwrap(), "{harm}");
        assert_eq!(store.search(&Query::new("commonWord", 500)).unwrap().hits.len(), 300, "{harm}");
    }
}

#[test]
fn indexes_that_disagree_with_their_table_are_made_anew() {
    let rig = Rig::new();
    let path = filled(&rig);
    let sql = rusqlite::Connection::open(&path).unwrap();
    // The index is out of the schema while the table changes.
    sql.execute_batch(
        "CREATE TEMP TABLE away AS SELECT * FROM sqlite_schema WHERE name = 'files_text_at';
         PRAGMA writable_schema = on;
         DELETE FROM sqlite_schema WHERE name = 'files_text_at';
         PRAGMA writable_schema = reset;
         UPDATE files SET text_at = 5;
         PRAGMA writable_schema = on;
         INSERT INTO sqlite_schema SELECT * FROM away;
         PRAGMA writable_schema = reset;",
    )
    .unwrap();
    drop(sql);
    std::fs::write(path.with_file_name("watchbill.db.suspect"), "").unwrap();
    let store = rig.open();
    assert_eq!(store.origin(), &DatabaseState::Current);
    drop(store);
    let sql = rusqlite::Connection::open(&path).unwrap();
    let said: String = sql.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

#[test]
fn rows_with_a_missing_parent_are_damage() {
    let rig = Rig::new();
    let path = filled(&rig);
    let sql = rusqlite::Connection::open(&path).unwrap();
    // Objects that a user has added do not matter, even damaged ones.
    sql.create_scalar_function("of_mine", 1, FunctionFlags::SQLITE_DETERMINISTIC, |call| call.get::<i64>(0))
        .unwrap();
    sql.execute_batch(
        "PRAGMA foreign_keys = off;
         CREATE TABLE mine (a REFERENCES nowhere (b), c TEXT REFERENCES sessions (title), \"d\"\"e\" TEXT);
         CREATE INDEX by_mine ON mine (of_mine(a));
         INSERT INTO mine VALUES (1, x'ff', CAST(x'ff' AS TEXT));",
    )
    .unwrap();
    std::fs::write(path.with_file_name("watchbill.db.suspect"), "").unwrap();
    assert_eq!(rig.open().origin(), &DatabaseState::Current);
    sql.execute("UPDATE files SET id = 99 WHERE id = 1", []).unwrap();
    drop(sql);
    std::fs::write(path.with_file_name("watchbill.db.suspect"), "").unwrap();
    let store = rig.open();
    let DatabaseState::SetAside { detail, .. } = store.origin() else { panic!("{:?}", store.origin()) };
    assert_eq!(detail, "a row of texts belongs to a row that is not in files");
}
