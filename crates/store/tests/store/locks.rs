//! Another program opens and closes the database, as `sqlite3` does, while our store is open. The log that we write
//! must stay.
//!
//! The system drops a process's locks on a file as soon as that process closes any descriptor of it. Without our
//! locks, SQLite in the other program takes itself for the last connection, and removes the log that we go on
//! writing. From 3.51 on it checks more than the locks, but a user's `sqlite3` may be older. So the other program
//! asks for the lock itself.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Error, ErrorCode};
use watchbill_store::{Access, DATABASE, OpenMode, Store};

use crate::rig::{Rig, child, child_folder, prompt, session};

/// Reads with SQLite alone and closes. Then checks whether another process has the database open. Prints both, with
/// the number of texts.
#[test]
fn child_reads_and_closes() {
    let Some(folder) = child_folder() else { return };
    let count =
        |sql: &Connection| sql.query_row("SELECT count(*) FROM texts", [], |row| row.get::<_, i64>(0));
    let sql = Connection::open(folder.join(DATABASE)).unwrap();
    let texts = count(&sql).unwrap();
    sql.close().unwrap();
    // In exclusive mode, a connection reads the database only with the lock that the last connection holds.
    let sql = Connection::open(folder.join(DATABASE)).unwrap();
    sql.busy_timeout(Duration::ZERO).unwrap();
    sql.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    let alone = match count(&sql) {
        Err(Error::SqliteFailure(error, _)) if error.code == ErrorCode::DatabaseBusy => "beside others",
        other => &format!("alone: {other:?}"),
    };
    println!("texts {texts}, {alone}.");
}

fn read_elsewhere(folder: &Path) -> String {
    let mut other = child("locks::child_reads_and_closes");
    let output = other.env("STORE_TEST_FOLDER", folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let (_, said) = said.split_once("texts ").unwrap();
    said.split_once('.').unwrap().0.to_owned()
}

fn add(store: &mut Store, n: u64) {
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(n, "said")).unwrap();
    step.commit().unwrap();
}

/// The store has one text by now.
fn stays_whole(rig: &Rig, store: &mut Store) {
    assert_eq!(store.access(), Access::Writer);
    add(store, 1);
    assert_eq!(read_elsewhere(rig.folder.path()), "2, beside others");
    let log = rig.folder.path().join(format!("{DATABASE}-wal"));
    assert!(log.exists(), "the other program took itself for the last one");
    add(store, 2);
    assert_eq!(
        read_elsewhere(rig.folder.path()),
        "3, beside others",
        "what is written since is for all to see"
    );
}

fn with_one_text() -> Rig {
    let rig = Rig::new();
    add(&mut rig.open(), 0);
    rig
}

#[test]
fn after_a_start() {
    let rig = with_one_text();
    let mut store = rig.open();
    stays_whole(&rig, &mut store);
}

#[test]
fn after_a_start_at_which_damage_was_suspected() {
    let rig = with_one_text();
    let note = rig.folder.path().join(format!("{DATABASE}.suspect"));
    std::fs::write(&note, "").unwrap();
    let mut store = rig.open();
    assert!(!note.exists(), "all of it was looked through, and is on the disk");
    stays_whole(&rig, &mut store);
}

#[test]
fn after_the_first_texts() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    add(&mut store, 0);
    store.end_bulk_insert().unwrap();
    stays_whole(&rig, &mut store);
}

#[test]
fn after_a_start_beside_a_reader_of_the_same_program() {
    let rig = with_one_text();
    let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
    let mut store = Store::take_over(rig.folder.path()).unwrap().unwrap();
    stays_whole(&rig, &mut store);
    assert_eq!(reader.text_counts().unwrap().0, 3);
}
