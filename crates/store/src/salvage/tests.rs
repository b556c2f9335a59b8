//! Tests of salvage from damaged databases.

#![allow(clippy::unwrap_used, reason = "a store that cannot be opened is a failure")]

use super::*;
use crate::connect;

#[test]
fn every_column_of_a_table_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (sql, _) = connect::connect_writer(&folder.path().join("watchbill.db"), false).unwrap();
    let owned = TABLES_BY_SESSION_KEY.map(|(table, columns)| (table, format!("session, {columns}")));
    let named = TABLES_BY_SESSION_ID.map(|(table, columns)| (table, columns.to_owned()));
    let is_owned = |table: &str| TABLES_BY_SESSION_KEY.iter().any(|(owned, _)| *owned == table);
    for (table, columns) in named.into_iter().filter(|(table, _)| !is_owned(table)).chain(owned) {
        let all = "SELECT name FROM pragma_table_info(?1) WHERE name != 'id'";
        let mut all: Vec<String> = sql
            .prepare(all)
            .unwrap()
            .query_map([table], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let mut ours: Vec<&str> = columns.split(", ").collect();
        all.sort();
        ours.sort_unstable();
        assert_eq!(ours, all, "{table}");
    }
}

#[test]
fn a_marked_memory_keeps_its_record_and_goes_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watchbill.db");
    let open = || connect::connect_writer(&path, false).unwrap().0;
    let old = open();
    old.execute_batch(
        "INSERT INTO sessions (id, session_id) VALUES (7, 'kept'), (8, 'private');
         INSERT INTO forgotten (session_id, at) VALUES ('private', 1);
         INSERT INTO memory_edits (memory, project, what, at, text, session, batch, byte, record_at) VALUES
            (1, 1, 'added', 1, 'without a record', NULL, NULL, NULL, NULL),
            (2, 1, 'added', 1, 'with a record', 7, 'b', 5, 9),
            (3, 1, 'added', 1, 'of a forgotten session', 8, 'b', 5, 9);",
    )
    .unwrap();
    drop(old);
    let left = [set_aside_database(&path).unwrap()];
    let mut new = open();
    copy_rows(&path, &left, &mut new).unwrap();
    let edits: Vec<(String, Option<String>, Option<i64>)> = new
        .prepare(
            "SELECT e.text, s.session_id, e.byte FROM memory_edits e LEFT JOIN sessions s ON s.id = e.session
             ORDER BY e.memory",
        )
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        edits,
        [
            ("without a record".to_owned(), None, None),
            ("with a record".to_owned(), Some("kept".to_owned()), Some(5))
        ]
    );
}

#[test]
fn a_decision_of_an_older_schema_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watchbill.db");
    let open = || connect::connect_writer(&path, false).unwrap().0;
    let old = open();
    old.execute_batch(
        "DROP TABLE memory_edits;
         CREATE TABLE memory_edits (memory INTEGER PRIMARY KEY, project INTEGER NOT NULL, what TEXT NOT NULL,
            at INTEGER NOT NULL, text TEXT, path TEXT) STRICT;
         INSERT INTO memory_edits VALUES (1, 1, 'edited', 1, 'new words', NULL);",
    )
    .unwrap();
    drop(old);
    let left = [set_aside_database(&path).unwrap()];
    let mut new = open();
    assert_eq!(copy_rows(&path, &left, &mut new).unwrap(), 1);
    let text = "SELECT text FROM memory_edits";
    assert_eq!(new.query_row(text, [], |row| row.get::<_, String>(0)).unwrap(), "new words");
}

#[test]
fn without_free_space_everything_is_copied_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watchbill.db");
    let open = || connect::connect_writer(&path, false).unwrap().0;
    let old = open();
    for n in 0..300 {
        let name = format!("{n} {}", "long ".repeat(200));
        old.execute("INSERT INTO chains (chain_id, name) VALUES (?1, ?2)", (n.to_string(), name)).unwrap();
    }
    drop(old);
    let left = [set_aside_database(&path).unwrap()];
    let mut new = open();
    let names = |sql: &Connection| -> i64 {
        sql.query_row("SELECT count(*) FROM chains", [], |row| row.get(0)).unwrap()
    };
    let pages: u32 = new.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    new.pragma_update(None, "max_page_count", pages + 8).unwrap();
    let refused = copy_rows(&path, &left, &mut new).unwrap_err();
    assert!(matches!(refused, StoreError::Full { .. }), "{refused}");
    assert_eq!((names(&new), unfinished_copies(&path).unwrap()), (0, left.to_vec()));
    new.pragma_update(None, "max_page_count", 1 << 20).unwrap();
    assert_eq!(copy_rows(&path, &left, &mut new).unwrap(), 300);
    assert_eq!((names(&new), unfinished_copies(&path).unwrap()), (300, Vec::new()));
}

#[test]
fn after_rows_are_copied_the_exclusion_rules_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("watchbill.db");
    let open = || connect::connect_writer(&path, false).unwrap().0;
    drop(open());
    let left = [set_aside_database(&path).unwrap()];
    let mut new = open();
    new.execute("INSERT INTO meta (name, value) VALUES (?1, 'a hash')", [EXCLUDE_MARK]).unwrap();
    copy_rows(&path, &left, &mut new).unwrap();
    let mark = "SELECT value FROM meta WHERE name = ?1";
    assert_eq!(new.query_row(mark, [EXCLUDE_MARK], |row| row.get::<_, String>(0)).unwrap(), "");
}
