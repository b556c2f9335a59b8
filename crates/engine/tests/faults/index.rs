//! The search index is damaged while the engine runs.

use std::path::Path;

use crate::house::House;

/// Damages the index where a word stands in it: in the index words are small letters, in the stored texts they are as
/// they were written. What is before the word says how long it is, and how much of the word before it it shares.
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
fn a_damaged_index_is_said_and_made_anew_while_the_engine_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = House::at(&data);
    house.works(1);
    house.says(1, "ZEBRAFISH swim");
    house.until_stored(1, 3);
    assert_eq!(house.found("zebrafish"), Ok(1));
    house.restart_after(|data| damage(&data.join("watchbill.db"), "zebrafish"));
    // It is mended as soon as it is met, so what is said is said once.
    let mut said = None;
    house.until("the damage to be met", |house| {
        said = house.found("zebrafish").err();
        said.is_some()
    });
    insta::assert_snapshot!("damaged_index", said.unwrap());
    house.works(2);
    house.until("the index to be made anew", |house| house.found("zebrafish") == Ok(1));
    house.until_stored(2, 2);
    house.until_well();
    house.ends_with_everything_stored();
}
