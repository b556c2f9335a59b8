//! An index commits in several steps: other processes see stored files before it has read everything.

use std::path::Path;

use watchbill_engine::alone::index::{Options, run};
use watchbill_store::{OpenMode, Store};

use crate::schemas::{SESSION, TRANSCRIPT, one_transcript};

const FILES: usize = 150;

#[test]
fn a_reader_sees_a_part_of_a_first_index_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = one_transcript(&data);
    for n in 1..FILES {
        let id = SESSION.replace("0a000000", &format!("0c{n:06}"));
        let path = Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{id}.jsonl"));
        fs.append(path, TRANSCRIPT.replace(SESSION, &id).as_bytes());
    }
    let mut seen = Vec::new();
    run(&settings, &world, Options::default(), &mut |_| {
        let mut files = 0;
        Store::open(&data, OpenMode::Read).unwrap().files(&mut |_, _| files += 1).unwrap();
        seen.push(files);
        true
    })
    .unwrap();
    assert_eq!(seen.len(), FILES);
    // In an empty store other processes can't read while a step lasts, and SQLite refuses a reader after a second. A
    // step of 192 files takes longer than that on a busy machine.
    let longest = seen.chunk_by(|a, b| a == b).map(<[_]>::len).max();
    assert!(longest.is_some_and(|files| files <= 64), "{longest:?} files in one step");
}
