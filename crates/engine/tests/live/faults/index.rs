//! The search index is damaged while the engine runs.

use std::path::Path;

use crate::running_engine_rig::RunningEngine;

/// Damages the index at each place of a word. The index holds words in small letters; the stored texts keep their
/// case. The bytes before a word hold its length, and the number of letters that it shares with the word before it.
fn damage(database: &Path, word: &str) {
    let mut bytes = std::fs::read(database).unwrap();
    let tail = &word.as_bytes()[1..];
    let places: Vec<usize> =
        (3..bytes.len() - tail.len()).filter(|at| bytes[*at..].starts_with(tail)).collect();
    assert!(!places.is_empty(), "{word} is in no page of the index");
    for at in places {
        bytes[at - 3..at + tail.len()].fill(0xff);
    }
    std::fs::write(database, bytes).unwrap();
}

#[test]
fn a_damaged_index_is_reported_and_rebuilt_while_the_engine_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.append_prompt(1, "ZEBRAFISH swim");
    house.until_stored(1, 3);
    assert_eq!(house.found("zebrafish"), Ok(1));
    house.restart_after(|data| damage(&data.join("watchbill.db"), "zebrafish"));
    // The engine repairs the index when it first finds the damage, so the problem is reported once.
    let mut said = None;
    house.until("the damage to be met", |house| {
        said = house.found("zebrafish").err();
        said.is_some()
    });
    insta::assert_snapshot!("damaged_index", said.unwrap());
    house.run_a_turn(2);
    house.until("the index to be made anew", |house| house.found("zebrafish") == Ok(1));
    house.until_stored(2, 2);
    house.until_no_store_problem();
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn the_doctor_reports_an_unread_destroyed_page_and_the_next_start_repairs_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.append_prompt(1, "ZEBRAFISH swim");
    house.until_stored(1, 3);
    house.stop();
    assert_eq!(house.doctor(), "well");
    let path = data.join("watchbill.db");
    // The stored text and the prompt: the doctor reads neither.
    let (mut bytes, word, page) = (std::fs::read(&path).unwrap(), b"ZEBRAFISH", 8192);
    let places: Vec<usize> =
        (page..bytes.len() - word.len()).filter(|at| bytes[*at..].starts_with(word)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at / page * page..(at / page + 1) * page].fill(0);
    }
    std::fs::write(&path, bytes).unwrap();
    let said = house.doctor();
    assert!(said.starts_with("/home/dev/data/watchbill.db is damaged ("), "{said}");
    house.start();
    house.until_stored(1, 3);
    assert_eq!(house.doctor(), "well");
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn text_edited_out_of_a_transcript_of_the_same_length_is_no_longer_found() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.append_prompt(1, "something long ago");
    house.append_prompt(1, &"many words ".repeat(200));
    house.append_prompt(1, "a hippogriff is a secret");
    house.append_prompt(1, &"many words ".repeat(200));
    house.until_stored(1, 4);
    assert_eq!(house.found("hippogriff"), Ok(1));
    house.edit_transcript(1, "hippogriff", "----------");
    house.until("the edit to be noticed", |house| house.found("hippogriff") == Ok(0));
    house.until_stored(1, 4);
    house.stop_and_compare_with_fresh_index();
}
