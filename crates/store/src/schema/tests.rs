//! Tests of the schema: each version from those before it, and what users added.

#![allow(clippy::unwrap_used, reason = "a schema that cannot be made is a failure")]

use rusqlite::types::Value;

use super::*;

/// A database in memory, with the functions that the schema needs.
fn empty() -> Connection {
    let sql = Connection::open_in_memory().unwrap();
    crate::text::register(&sql).unwrap();
    sql
}

#[test]
fn a_released_version_is_never_edited() {
    insta::assert_snapshot!("schema", text());
}

#[test]
fn every_table_that_refers_to_files_or_states_is_known_to_their_removal() {
    let mut sql = empty();
    migrate(&mut sql, 0).unwrap();
    let naming = |parent: &str| -> Vec<String> {
        let mut statement = sql
            .prepare(
                "SELECT m.name FROM sqlite_schema m, pragma_foreign_key_list(m.name) k
                 WHERE m.type = 'table' AND k.\"table\" = ?1 ORDER BY m.name",
            )
            .unwrap();
        statement.query_map([parent], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut read = crate::tables::READ_FROM_FILES.to_vec();
    read.sort_unstable();
    assert_eq!(naming("files"), read);
    // `WriteTransaction::remove_state` deletes from it.
    assert_eq!(naming("states"), ["state_pieces"]);
}

#[test]
fn a_migration_adds_a_column_and_keeps_the_rows() {
    let next: &[&str] = &["ALTER TABLE chains ADD COLUMN colour TEXT;"];
    let versions = [VERSIONS, &[next]].concat();
    let mut sql = empty();
    migrate(&mut sql, 0).unwrap();
    sql.execute_batch("INSERT INTO chains (chain_id, name) VALUES ('c', 'Release')").unwrap();
    migrate_by(&versions, &mut sql, NEWEST).unwrap();
    assert_eq!(version(&sql).unwrap(), NEWEST + 1);
    let kept = "SELECT name || coalesce(colour, ' without colour') FROM chains";
    assert_eq!(sql.query_row(kept, [], |row| row.get::<_, String>(0)).unwrap(), "Release without colour");
    sql.execute_batch("SELECT * FROM v_sessions").unwrap();
}

#[test]
fn a_store_of_the_first_version_becomes_the_newest() {
    let mut sql = empty();
    migrate_by(&VERSIONS[..1], &mut sql, 0).unwrap();
    sql.execute_batch("INSERT INTO chains (chain_id, name) VALUES ('c', 'Release')").unwrap();
    migrate(&mut sql, 1).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    sql.execute_batch("INSERT INTO set_aside (session_id, snoozed_until) VALUES ('s', 5)").unwrap();
    let kept = "SELECT name FROM chains";
    assert_eq!(sql.query_row(kept, [], |row| row.get::<_, String>(0)).unwrap(), "Release");
}

#[test]
fn a_store_of_version_6_gets_the_list_of_answers() {
    let mut sql = empty();
    migrate_by(&VERSIONS[..6], &mut sql, 0).unwrap();
    assert!(sql.prepare("SELECT * FROM answers").is_err(), "it has none");
    sql.execute_batch("INSERT INTO sessions (id, session_id) VALUES (1, 's')").unwrap();
    migrate(&mut sql, 6).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    // The session of an answer need not be stored.
    let answer =
        "INSERT INTO answers VALUES (?1, 'other', 'Bash', 'ls', 'allowed once', 'window', 1, 'sent', NULL)";
    sql.execute(answer, ["a"]).unwrap();
    assert!(sql.execute(answer, ["a"]).is_err(), "a request has one answer");
    let kept = "SELECT session_id FROM sessions";
    assert_eq!(sql.query_row(kept, [], |row| row.get::<_, String>(0)).unwrap(), "s");
}

#[test]
fn files_with_prompts_that_an_older_program_cut_are_read_again() {
    let mut sql = empty();
    migrate_by(&VERSIONS[..11], &mut sql, 0).unwrap();
    sql.execute_batch("INSERT INTO sessions (id, session_id) VALUES (1, 's')").unwrap();
    // The texts of a file: where the record begins, the part, the role, the length. Each file has 300,000 bytes.
    type Texts = &'static [(u32, u32, &'static str, usize)];
    let cases: [(Texts, bool); 8] = [
        (&[(0, 0, "prompt", 65_536), (100_000, 0, "tool_result", 4_000)], true),
        (&[(0, 0, "tool_result", 4_000), (200_000, 0, "answer", 65_533)], true),
        // After the cut, reminders and private text were left out.
        (&[(0, 0, "prompt", 700), (100_000, 0, "tool_result", 4_000)], true),
        // Two parts of one record, which were cut together.
        (&[(0, 0, "command", 40), (0, 1, "command", 50_000), (90_000, 0, "thinking", 1)], true),
        (&[(0, 0, "thinking", 1), (290_000, 0, "answer", 4_000)], false),
        (&[(0, 0, "prompt", 3_000), (5_000, 0, "tool_result", 4_000)], false),
        (&[(0, 0, "tool_result", 70_000), (240_000, 0, "answer", 50_000)], false),
        (&[], false),
    ];
    for (file, (texts, _)) in (1..).zip(cases) {
        let row = "INSERT INTO files (id, path, session, size, cursor) VALUES (?1, 'path' || ?1, 1, 300000, 300000)";
        sql.execute(row, [file]).unwrap();
        for (byte, part, role, length) in texts {
            let text = "INSERT INTO texts (file, byte, part, session, role, cut, text) VALUES (?1, ?2, ?3, 1, ?4, 0, ?5)";
            sql.execute(text, (file, byte, part, role, "x".repeat(*length))).unwrap();
        }
    }
    migrate(&mut sql, 11).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    for (file, (texts, again)) in (1..).zip(cases) {
        let found: (i64, i64) = sql
            .query_row("SELECT size, cursor FROM files WHERE id = ?1", [file], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        let kept = if again { 0 } else { 300_000 };
        assert_eq!(found, (kept, kept), "{texts:?}");
    }
}

#[test]
fn a_database_of_version_13_gets_the_summaries() {
    let mut sql = empty();
    migrate_by(&VERSIONS[..13], &mut sql, 0).unwrap();
    let count = |sql: &Connection| sql.query_row("SELECT count(*) FROM summaries", [], |row| row.get(0));
    assert!(count(&sql).is_err(), "that version was released without them");
    migrate(&mut sql, 13).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    assert_eq!(count(&sql), Ok(0_i64));
}

#[test]
fn prompts_and_tool_calls_survive_the_migration_to_version_5() {
    let mut sql = empty();
    sql.pragma_update(None, "foreign_keys", true).unwrap();
    migrate_by(&VERSIONS[..4], &mut sql, 0).unwrap();
    // Each column has its own value, so that no two can be exchanged unnoticed.
    sql.execute_batch(
        "INSERT INTO sessions (id, session_id) VALUES (1, 's');
         INSERT INTO files (id, path, session) VALUES (7, 'a', 1);
         INSERT INTO batches VALUES
            (1, 'q', 7, 'human', 'why', 0, 10, 11, x'12', 'failed', 13, 'e', 14, 15, 'so', 1),
            (1, 'p', NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
         INSERT INTO activities VALUES
            (1, 'c', 7, 'q', 'sub', 'Bash', 'ls', '/a', '{}', 20, 21, 'ok', 22, 23, 24, 'none'),
            (1, 'b', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);",
    )
    .unwrap();
    let rows = |sql: &Connection, table: &str| -> Vec<(String, Vec<Value>)> {
        let mut statement = sql.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([], |row| {
            names.iter().enumerate().map(|(at, _)| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>()
        });
        rows.unwrap().map(|row| (names.join(" "), row.unwrap())).collect()
    };
    let before = ["batches", "activities"].map(|table| rows(&sql, table));
    migrate_by(&VERSIONS[..5], &mut sql, 4).unwrap();
    assert_eq!(["batches", "activities"].map(|table| rows(&sql, table)), before);
    migrate(&mut sql, 5).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    for twice in [
        "INSERT INTO batches (session, batch, private, plan) VALUES (1, 'p', 0, 0)",
        "INSERT INTO activities (session, call) VALUES (1, 'b')",
    ] {
        assert!(sql.execute(twice, []).is_err(), "{twice}");
    }
    sql.execute("DELETE FROM files", []).unwrap();
    assert_eq!(["batches", "activities"].map(|table| rows(&sql, table).len()), [1, 1], "keys are there");
}

#[test]
fn objects_that_a_user_has_added_survive_a_migration() {
    let mut sql = empty();
    sql.pragma_update(None, "foreign_keys", true).unwrap();
    migrate_by(&VERSIONS[..4], &mut sql, 0).unwrap();
    sql.execute_batch(
        "CREATE VIEW my_prompts AS SELECT prompt FROM batches;
         CREATE VIEW my_calls AS SELECT tool FROM activities;
         CREATE VIEW of_nothing AS SELECT * FROM nowhere;
         CREATE TABLE mine (prompt TEXT, session INTEGER);
         CREATE TABLE notes (note TEXT, session, batch,
            FOREIGN KEY (session, batch) REFERENCES batches (session, batch) ON DELETE CASCADE);
         ALTER TABLE batches ADD COLUMN mood TEXT;
         CREATE TRIGGER watch AFTER INSERT ON sessions BEGIN INSERT INTO mine SELECT prompt, 1 FROM batches; END;
         PRAGMA foreign_keys = off;
         INSERT INTO sessions (id, session_id) VALUES (1, 's');
         INSERT INTO batches (session, batch, prompt, private, plan) VALUES (1, 'p', 'why', 0, 0), (9, 'lost', 'no', 0, 0);
         INSERT INTO activities (session, call, tool, file) VALUES (1, 'c', 'Bash', NULL), (1, 'lost', 'no', 9);
         INSERT INTO notes VALUES ('mind this', 1, 'p');
         PRAGMA foreign_keys = on;",
    )
    .unwrap();
    migrate(&mut sql, 4).unwrap();
    assert_eq!(first_difference(&sql).unwrap(), None);
    let all = |sql: &Connection, from: &str| -> Vec<String> {
        let mut statement = sql.prepare(&format!("SELECT * FROM {from}")).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(all(&sql, "my_prompts"), ["why"], "but for what belongs to nothing");
    assert_eq!(all(&sql, "my_calls"), ["Bash"]);
    sql.execute("INSERT INTO sessions (session_id) VALUES ('t')", []).unwrap();
    assert_eq!(all(&sql, "mine"), ["why"]);
    sql.execute("INSERT INTO notes VALUES ('and this', 1, 'p')", []).unwrap();
    assert_eq!(all(&sql, "notes"), ["mind this", "and this"]);
    assert!(sql.execute("INSERT INTO notes VALUES ('but not this', 1, 'none')", []).is_err());
}

#[test]
fn a_users_own_table_with_a_name_of_the_document_stays() {
    let mut sql = empty();
    migrate_by(&VERSIONS[..8], &mut sql, 0).unwrap();
    sql.execute_batch("DROP VIEW observations; CREATE TABLE observations (mine TEXT); INSERT INTO observations VALUES ('kept')")
        .unwrap();
    migrate(&mut sql, 8).unwrap();
    assert_eq!((version(&sql).unwrap(), first_difference(&sql).unwrap()), (NEWEST, None));
    let kept = "SELECT mine FROM observations";
    assert_eq!(sql.query_row(kept, [], |row| row.get::<_, String>(0)).unwrap(), "kept");
    sql.prepare("SELECT * FROM session_summaries").unwrap();
}

#[test]
fn a_broken_index_does_not_block_a_migration() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let sql = Connection::open(folder.path().join("a.db")).unwrap();
        crate::text::register(&sql).unwrap();
        sql
    };
    migrate_by(&VERSIONS[..4], &mut open(), 0).unwrap();
    open().execute("DELETE FROM texts_fts_config", []).unwrap();
    let mut sql = open();
    assert!(sql.prepare("SELECT * FROM texts_fts").is_err(), "it does");
    migrate(&mut sql, 4).unwrap();
    assert_eq!(version(&sql).unwrap(), NEWEST);
}

#[test]
fn after_an_older_program_with_rules_every_transcript_counts_as_left_out() {
    for (rules, noted) in [("", 0), ("INSERT INTO meta (name, value) VALUES ('left_out', 'hash');", 2)] {
        let mut sql = empty();
        migrate_by(&VERSIONS[..2], &mut sql, 0).unwrap();
        sql.execute_batch(rules).unwrap();
        sql.execute_batch(
            "INSERT INTO sessions (id, session_id) VALUES (1, 's');
             INSERT INTO files (path, session) VALUES ('a', 1), ('b', 1);",
        )
        .unwrap();
        migrate(&mut sql, 2).unwrap();
        let done = "SELECT count(*) FROM meta WHERE name = 'left_out' AND value <> ''";
        assert_eq!(sql.query_row(done, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "to be done again");
        let count = "SELECT count(*) FROM left_out";
        assert_eq!(sql.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), noted);
    }
}

#[test]
fn a_failed_migration_keeps_the_version_before() {
    let versions =
        [VERSIONS, &[&["ALTER TABLE chains ADD COLUMN colour TEXT;", "CREATE nonsense;"]]].concat();
    let mut sql = empty();
    assert!(migrate_by(&versions, &mut sql, 0).is_err());
    assert_eq!(version(&sql).unwrap(), 0, "a new database has all versions or none");
    migrate(&mut sql, 0).unwrap();
    assert!(migrate_by(&versions, &mut sql, NEWEST).is_err());
    assert_eq!(version(&sql).unwrap(), NEWEST);
    assert!(sql.prepare("SELECT colour FROM chains").is_err());
    sql.execute_batch("SELECT * FROM v_sessions").unwrap();
}

#[test]
fn every_view_can_be_read_without_this_program() {
    let mut sql = empty();
    migrate(&mut sql, 0).unwrap();
    sql.remove_function("index_parts", 1).unwrap();
    sql.remove_function("index_tags", 3).unwrap();
    let views: Vec<String> = sql
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let views: Vec<String> = views.into_iter().filter(|name| is_view_of_ours(name)).collect();
    assert!(views.len() >= 12);
    for view in views {
        sql.query_row(&format!("SELECT count(*) FROM {view}"), [], |row| row.get::<_, i64>(0)).unwrap();
    }
}
