//! A writer is killed in the middle of its work, again and again. The store opens, and holds only whole steps.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::removal::Forget;
use watchbill_store::search::Query;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::{DatabaseState, OpenMode, Store};

use crate::rig::{Rig, child, child_folder, forget, prompt, session};

/// How often the writer is killed.
const KILLS: u32 = 25;
/// Texts of one step.
const STEP: u64 = 5;

fn text(n: u64) -> String {
    format!("text{n} with parseLine and 日本語 and some more words to fill pages with, of step {}", n / STEP)
}

/// The number of texts by the file's cursor, by the rows, and by the index.
fn counts(store: &Store) -> (u64, u64, usize) {
    let Some((key, file)) = store.file("/home/dev/.claude/projects/-home-dev-app/a.jsonl").unwrap() else {
        return (0, 0, 0);
    };
    let texts = store.texts(key, 0, u32::MAX).unwrap();
    for (n, stored) in texts.iter().enumerate() {
        assert_eq!((stored.offset, &stored.text), (n as u64, &text(n as u64)));
    }
    let found = store.search(&Query::new("parse_line 本語", 100_000)).unwrap().hits.len();
    (file.cursor.offset, texts.len() as u64, found)
}

/// Goes on writing where the store ends, until it is killed. Prints its progress after each step.
#[test]
fn child_writes() {
    let Some(folder) = child_folder() else { return };
    let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    let (mut n, _, _) = counts(&store);
    let from = n;
    loop {
        // Some of the steps run as in a first index, and sometimes everything is stored again.
        if n % 35 == 0 {
            store.begin_bulk_insert().unwrap();
        } else if n % 35 == 15 {
            store.end_bulk_insert().unwrap();
        }
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        if n > from + 300 {
            step.reset_file(file).unwrap();
            n = 0;
        }
        for _ in 0..STEP {
            step.add_text(file, key, &prompt(n, &text(n))).unwrap();
            n += 1;
        }
        step.set_cursor(file, &FileCursor { offset: n, ..FileCursor::default() }).unwrap();
        step.commit().unwrap();
        println!("stored {n}");
    }
}

#[test]
fn a_killed_writer_leaves_whole_steps() {
    let rig = Rig::new();
    let mut reached = 0;
    for kill in 0..KILLS {
        let mut writer = child("kill::child_writes");
        writer.env("STORE_TEST_FOLDER", rig.folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut writer = writer.spawn().unwrap();
        let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        // Kill it after so many steps, and some milliseconds into the next ones.
        let mut said = None;
        for _ in 0..=kill % 7 {
            said = lines
                .by_ref()
                .map(Result::unwrap)
                .find_map(|line| line.split_once("stored ").map(|(_, n)| n.parse::<u64>().unwrap()));
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 977 % 5_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let store = rig.open();
        let (cursor, texts, found) = counts(&store);
        assert_eq!((texts, found as u64), (cursor, cursor), "kill {kill}");
        assert_eq!(cursor % STEP, 0, "no half step");
        assert!(Some(cursor) >= said.or(Some(0)) || cursor < reached, "what was committed is there");
        drop(store);
        let mut store = rig.open();
        assert!(store.index_is_sound().unwrap());
        reached = cursor;
    }
    assert!(reached > 0);
}

/// Writes into an empty store as the first index does, without the log, until it is killed.
#[test]
fn child_writes_first() {
    let Some(folder) = child_folder() else { return };
    let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    store.begin_bulk_insert().unwrap();
    for step_number in 0.. {
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        for n in step_number * STEP..(step_number + 1) * STEP {
            step.add_text(file, key, &prompt(n, &text(n))).unwrap();
            // Existing pages change too, so that there is something to roll back.
            step.put_fact(&format!("{}", n % 50), &vec![b'x'; 20_000 + n as usize % 7]).unwrap();
        }
        step.set_cursor(file, &FileCursor { offset: (step_number + 1) * STEP, ..FileCursor::default() })
            .unwrap();
        step.commit().unwrap();
        println!("stored {}", (step_number + 1) * STEP);
    }
}

#[test]
fn a_first_index_that_is_killed_leaves_whole_steps_to_readers_too() {
    let mut left_open = 0;
    for kill in 0..KILLS {
        let rig = Rig::new();
        let mut writer = child("kill::child_writes_first");
        writer.env("STORE_TEST_FOLDER", rig.folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut writer = writer.spawn().unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut said = lines.filter_map(|line| Some(line.split_once("stored ")?.1.parse::<u64>().unwrap()));
        let stored = said.nth(kill as usize % 9).unwrap();
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 977 % 5_000));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let stored = said.last().unwrap_or(stored);
        let journal = rig.folder.path().join("watchbill.db-journal");
        left_open += u32::from(journal.metadata().is_ok_and(|journal| journal.len() > 0));
        let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
        let (cursor, texts, _) = counts(&reader);
        assert_eq!(texts, cursor, "kill {kill}");
        assert!(cursor >= stored && cursor % STEP == 0, "kill {kill}: {cursor}, {stored} were told");
        drop(reader);
        let mut store = rig.open();
        assert_eq!(counts(&store), (cursor, cursor, cursor as usize), "kill {kill}");
        assert!(store.index_is_sound().unwrap());
        assert!(!rig.folder.path().join("watchbill.db.suspect").exists(), "it was looked through");
    }
    assert!(left_open > 0, "no kill fell into a step");
}

/// A word of the session to forget that is nowhere else.
const SECRET: &str = "theirsecretword";

/// Forgets a session; prints when it begins.
#[test]
fn child_forgets() {
    let Some(folder) = child_folder() else { return };
    let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    println!("forgets now");
    forget(&mut store, &Forget::Session(SessionId::new("a")), Timestamp::from_millis(5), &mut |_| ())
        .unwrap();
}

#[test]
fn a_killed_removal_has_removed_all_or_nothing_and_the_next_program_finishes_it() {
    for kill in 0..12 {
        let rig = Rig::new();
        let mut store = rig.open();
        for id in ["a", "b"] {
            let mut step = store.step().unwrap();
            let (key, file) = session(&mut step, id);
            for n in 0..300 {
                let word = if id == "a" { SECRET } else { "another" };
                step.add_text(file, key, &prompt(n, &format!("{word}{n} {word} {}", text(n)))).unwrap();
            }
            step.commit().unwrap();
        }
        drop(store);
        let mut remover = child("kill::child_forgets");
        remover.env("STORE_TEST_FOLDER", rig.folder.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut remover = remover.spawn().unwrap();
        let mut lines = BufReader::new(remover.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("forgets now")));
        std::thread::sleep(Duration::from_millis(kill * 5));
        remover.kill().unwrap();
        remover.wait().unwrap();
        let mut store = rig.open();
        assert!(matches!(store.origin(), DatabaseState::Current));
        let left = store.search(&Query::new(SECRET, 1_000)).unwrap().hits.len();
        let forgotten = store.forgotten().unwrap().len();
        assert!([(300, 0), (0, 1)].contains(&(left, forgotten)), "kill {kill}: {left}, {forgotten}");
        assert_eq!(store.search(&Query::new("another", 1_000)).unwrap().hits.len(), 300);
        assert!(store.index_is_sound().unwrap());
        store.finish_wiping().unwrap();
        drop(store);
        if forgotten > 0 {
            for entry in std::fs::read_dir(rig.folder.path()).unwrap() {
                let bytes = std::fs::read(entry.unwrap().path()).unwrap();
                assert!(memchr::memmem::find(&bytes, SECRET.as_bytes()).is_none(), "kill {kill}");
            }
        }
    }
}

/// The child processes run this same program, so this test checks that it can be started.
#[test]
fn the_program_of_the_tests_can_be_started_again() {
    let listed = Command::new(std::env::current_exe().unwrap()).arg("--list").output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("kill::child_writes: test"));
}
