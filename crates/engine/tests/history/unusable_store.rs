//! An unusable store: the engine goes on, reports it once, changes nothing, and stores again when the problem is
//! over.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use watchbill_engine::handle::{Handle, start};

use crate::thread::{line, released, settings, texts};
use crate::wait::until;

/// Sets the schema version in the head of the file: four bytes at 60, the highest first (sqlite.org/fileformat2). It
/// writes in place: the engine may open the file at any moment, and must never see half of it.
fn set_schema(database: &Path, version: u32) {
    let mut file = std::fs::OpenOptions::new().write(true).open(database).unwrap();
    file.seek(SeekFrom::Start(60)).unwrap();
    file.write_all(&version.to_be_bytes()).unwrap();
}

fn schema(database: &Path) -> u32 {
    let bytes = std::fs::read(database).unwrap();
    u32::from_be_bytes([bytes[60], bytes[61], bytes[62], bytes[63]])
}

fn troubles(engine: &Handle) -> Vec<String> {
    let problems = engine.doctor().unwrap().problems;
    problems.into_iter().filter(|problem| problem.kind == "store").map(|problem| problem.detail).collect()
}

#[test]
fn a_store_of_a_newer_program_is_not_changed_until_its_schema_is_ours_again() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let (file, data) = (project.join("s.jsonl"), folder.path().join("data"));
    std::fs::write(&file, line("1", "was there")).unwrap();
    let engine = start(settings(folder.path())).unwrap();
    assert_eq!(texts(&data, 1), ["was there"]);
    engine.stop();
    drop(engine);
    released(&data);
    let database = data.join("watchbill.db");
    let ours = schema(&database);
    set_schema(&database, 99);
    let before = std::fs::read(&database).unwrap();

    let engine = start(settings(folder.path())).unwrap();
    until("what is there to be shown", || engine.roster(true).unwrap().sessions.len() == 1);
    until("the trouble", || !troubles(&engine).is_empty());
    let said = troubles(&engine);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("was written by a newer version (schema 99"), "{said:?}");
    std::fs::write(&file, line("1", "was there") + &line("2", "came meanwhile")).unwrap();
    assert_eq!(std::fs::read(&database).unwrap(), before, "nothing of it is changed");

    set_schema(&database, ours);
    assert_eq!(texts(&data, 2), ["was there", "came meanwhile"]);
    until("the end of the trouble", || troubles(&engine).is_empty());
}
