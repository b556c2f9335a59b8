//! Files of the archive without their rows. The last copy of a transcript is neither removed nor cut, even if the
//! other copies, the database or the file itself are damaged.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_store::archive::{ARCHIVE, Archive, Original};
use watchbill_store::removal::Forget;
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::tables::folders::WorkedIn;
use watchbill_store::{OpenMode, Store};

use crate::rig::forget;

const PATH: &str = "/home/dev/.claude/projects/p/s.jsonl";

fn at(days: i64) -> Timestamp {
    Timestamp::from_millis(days * 86_400_000)
}

/// Lines like those of a transcript.
fn lines(count: usize, seed: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|n| format!("{{\"n\":{},\"text\":\"line {n} of it\"}}\n", n * 7919 + seed).into_bytes())
        .collect()
}

/// A data folder with an archive.
struct ArchiveFixture {
    folder: tempfile::TempDir,
    archive: Archive,
}

impl ArchiveFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::new(folder.path());
        Self { folder, archive }
    }

    /// Packs without storing the row, as after a kill.
    fn pack(&self, bytes: &[u8], known: Option<&ArchiveRow>, days: i64) -> ArchiveRow {
        let mut open = || -> io::Result<Box<dyn Read>> { Ok(Box::new(io::Cursor::new(bytes.to_vec()))) };
        let original =
            Original { path: PATH, session_id: "s", subagent: None, mtime: at(1), id: (7, 8), meta: None };
        self.archive.pack_again(&original, &mut open, known, 3, at(days)).unwrap().row
    }

    fn path(&self, row: &ArchiveRow) -> PathBuf {
        self.folder.path().join(ARCHIVE).join(&row.file)
    }

    fn open(&self) -> Store {
        Store::open(self.folder.path(), OpenMode::WriteOrRead).unwrap()
    }

    fn store_with(&self, row: &ArchiveRow) -> Store {
        let mut store = self.open();
        let mut step = store.step().unwrap();
        step.put_archived(row).unwrap();
        step.commit().unwrap();
        store
    }

    fn without_database(&self) {
        for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
            drop(std::fs::remove_file(self.folder.path().join(name)));
        }
    }

    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path().join(ARCHIVE)).unwrap();
        let mut names: Vec<_> =
            names.map(|file| file.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn unpacked(&self, row: &ArchiveRow) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.archive.open(row).unwrap().reader().read_to_end(&mut bytes).unwrap();
        bytes
    }
}

/// Changes one byte, at a given position or in the middle.
fn spoil(path: &Path, at: Option<usize>) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = at.unwrap_or(bytes.len() / 2);
    bytes[at] ^= 0x55;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_file_with_one_bad_byte_stays_unchanged_and_is_reported() {
    let house = ArchiveFixture::new();
    let whole = lines(60_000, 0);
    let row = house.pack(&whole, None, 9);
    let path = house.path(&row);
    let good = std::fs::read(&path).unwrap();
    let number = |at: usize| u32::from_le_bytes(good[at..at + 4].try_into().unwrap()) as usize;
    let frame = 8 + number(4);
    let second = frame + 16 + number(frame + 8);
    let places = [
        ("magic number of the label", 0, false),
        ("length of the label, which is too long then", 5, false),
        ("hash of the label", 8, false),
        ("label", 30, false),
        ("length of the first frame", frame + 9, true),
        ("the first frame", frame + 5_000, true),
        ("magic number of the second frame", second, true),
        ("length of the second frame", second + 9, true),
        ("what the second frame becomes", second + 13, true),
        ("somewhere in the middle", good.len() / 2, true),
    ];
    for (name, at, says_of_what) in places {
        std::fs::write(&path, &good).unwrap();
        spoil(&path, Some(at));
        let bad = std::fs::read(&path).unwrap();
        house.without_database();
        let mut store = house.open();
        assert_eq!(std::fs::read(&path).unwrap(), bad, "{name}");
        let tidied = store.tidy_archive().unwrap();
        assert_eq!((tidied.freed, tidied.unknown), (0, usize::from(!says_of_what)), "{name}");
        assert_eq!(std::fs::read(&path).unwrap(), bad, "{name}");
        let known = store.archived(PATH).unwrap();
        assert_eq!(known.is_some(), says_of_what, "{name}");
        assert!(!known.is_some_and(|row| house.archive.is_whole(&row)), "{name}");
        // The transcript still exists, and is packed again.
        let again = house.pack(&whole, store.archived(PATH).unwrap().as_ref(), 10);
        assert_eq!(house.unpacked(&again), whole, "{name}");
        house.archive.remove(&again.file);
    }
}

#[test]
fn a_bad_byte_in_an_unfinished_file_leaves_the_file_uncut() {
    let house = ArchiveFixture::new();
    let row = house.pack(&lines(60_000, 0), None, 9);
    let path = house.path(&row);
    let good = std::fs::read(&path).unwrap();
    for end in [good.len() - 30, good.len() - 5_000] {
        let mut bad = good[..end].to_vec();
        bad[good.len() / 3] ^= 0x55;
        std::fs::write(&path, &bad).unwrap();
        house.without_database();
        let store = house.open();
        assert_eq!(std::fs::read(&path).unwrap(), bad);
        let known = store.archived(PATH).unwrap().unwrap();
        assert!(house.archive.open(&known).is_err(), "{known:?}");
    }
}

#[test]
fn of_two_files_of_a_transcript_the_whole_one_counts_and_the_newer_one_stays() {
    let house = ArchiveFixture::new();
    let old = house.pack(&lines(1_000, 0), None, 9);
    let new = house.pack(&lines(2_000, 1), Some(&old), 10);
    assert_ne!(old.file, new.file);
    let good = std::fs::read(house.path(&new)).unwrap();
    spoil(&house.path(&new), None);
    let mut store = house.open();
    assert_eq!(store.archived(PATH).unwrap().as_ref(), Some(&old));
    assert_eq!(store.tidy_archive().unwrap().freed, 0);
    assert_eq!(house.files(), [old.file.clone(), new.file.clone()]);
    // If both are whole, the newer one counts, even in place of a row. The older one stays, because the newer one
    // holds nothing of it.
    std::fs::write(house.path(&new), good).unwrap();
    assert_eq!(store.tidy_archive().unwrap().taken_up, 1);
    assert_eq!(store.archived(PATH).unwrap().as_ref(), Some(&new));
    assert_eq!(house.files(), [old.file.clone(), new.file.clone()]);
    assert_eq!(store.archived(&old.as_earlier().path).unwrap(), Some(old.as_earlier()));
    let mut step = store.step().unwrap();
    step.remove_archived(&old.as_earlier().path).unwrap();
    step.commit().unwrap();
    house.archive.remove(&old.file);
    // A damaged older file is removed only if the one that counts is whole.
    let older = house.path(&new).with_file_name("s.older.jsonl.zst");
    std::fs::copy(house.path(&house.pack(&lines(1_000, 0), None, 9)), &older).unwrap();
    spoil(&older, None);
    spoil(&house.path(&new), None);
    house.archive.remove(&old.file);
    assert_eq!(store.tidy_archive().unwrap().freed, 0, "both are damaged");
    assert_eq!(house.files().len(), 2);
    spoil(&house.path(&new), None);
    assert!(store.tidy_archive().unwrap().freed > 0);
    assert_eq!(house.files(), std::slice::from_ref(&new.file));
}

#[test]
fn a_whole_file_takes_the_place_of_a_damaged_one_that_counts() {
    let house = ArchiveFixture::new();
    let whole = lines(1_000, 0);
    let old = house.pack(&whole, None, 9);
    let mut store = house.store_with(&old);
    spoil(&house.path(&old), None);
    let new = house.pack(&whole, Some(&old), 9);
    assert_eq!(store.tidy_archive().unwrap().taken_up, 1);
    let row = store.archived(PATH).unwrap().unwrap();
    assert_eq!((&row.file, house.unpacked(&row)), (&new.file, whole));
    assert_eq!(house.files(), [new.file]);
}

#[test]
fn archive_files_newer_than_the_database_are_added_to_it() {
    let house = ArchiveFixture::new();
    let whole = lines(60_000, 0);
    let half = house.pack(&whole[..whole.len() / 2], None, 9);
    drop(house.store_with(&half));
    let database = house.folder.path().join("watchbill.db");
    let backup = std::fs::read(&database).unwrap();
    // The file has grown since.
    let grown = house.pack(&whole, Some(&half), 10);
    let bytes = std::fs::read(house.path(&grown)).unwrap();
    let mut store = house.open();
    assert_eq!(store.tidy_archive().unwrap().taken_up, 1);
    assert_eq!(store.archived(PATH).unwrap().as_ref(), Some(&grown));
    drop(store);
    // A part of an addition is kept rather than nothing, and a damaged one is not cut off.
    for (bad, is_damaged) in [(grown.stored as usize - 40, false), (half.stored as usize + 500, true)] {
        let mut part = bytes[..grown.stored as usize - 30].to_vec();
        part[bad] ^= if is_damaged { 0x55 } else { 0 };
        std::fs::write(house.path(&grown), &part).unwrap();
        house.without_database();
        std::fs::write(&database, &backup).unwrap();
        let tidied = house.open().tidy_archive().unwrap();
        assert_eq!((tidied.taken_up, tidied.freed > 0), (usize::from(!is_damaged), !is_damaged));
        let row = house.open().archived(PATH).unwrap().unwrap();
        assert_eq!(house.unpacked(&row), if is_damaged { &whole[..whole.len() / 2] } else { &whole[..] });
        assert_eq!(std::fs::read(house.path(&row)).unwrap() == part, is_damaged);
    }
    // The transcript was rewritten, and the file that the row names is gone.
    house.archive.remove(&grown.file);
    std::fs::write(house.path(&half), &bytes[..half.stored as usize]).unwrap();
    let anew = house.pack(&lines(3_000, 5), Some(&half), 10);
    house.archive.remove(&half.file);
    assert_eq!(house.open().tidy_archive().unwrap().taken_up, 1);
    assert_eq!(house.open().archived(PATH).unwrap(), Some(anew));
}

#[test]
fn a_damaged_file_stays_beside_an_unfinished_one_until_that_is_finished() {
    let house = ArchiveFixture::new();
    let old = house.pack(&lines(1_000, 0), None, 9);
    let mut store = house.store_with(&old);
    let again = lines(2_000, 1);
    let new = house.pack(&again, Some(&old), 10);
    spoil(&house.path(&old), None);
    let bytes = std::fs::read(house.path(&new)).unwrap();
    std::fs::write(house.path(&new), &bytes[..bytes.len() - 30]).unwrap();
    for taken_up in [1, 0] {
        assert_eq!(store.tidy_archive().unwrap().taken_up, taken_up);
        assert_eq!(house.files(), [old.file.clone(), new.file.clone()]);
    }
    let begun = store.archived(PATH).unwrap().unwrap();
    let finished = house.pack(&[&*again, b"{}\n"].concat(), Some(&begun), 11);
    drop(store);
    house.store_with(&finished).tidy_archive().unwrap();
    assert_eq!(house.files(), [new.file]);
}

#[test]
fn damaged_data_after_the_counted_part_stays() {
    let house = ArchiveFixture::new();
    let whole = lines(60_000, 0);
    let half = house.pack(&whole[..whole.len() / 2], None, 9);
    let beside = house.path(&half).with_file_name("s.beside.jsonl.zst");
    let mut store = house.store_with(&half);
    std::fs::copy(house.path(&half), &beside).unwrap();
    house.pack(&whole, Some(&half), 10);
    spoil(&house.path(&half), Some(half.stored as usize + 500));
    let bytes = std::fs::read(house.path(&half)).unwrap();
    let freed = store.tidy_archive().unwrap().freed;
    assert_eq!((freed, beside.exists()), (half.stored, false));
    assert!(std::fs::read(house.path(&half)).unwrap() == bytes);
}

#[test]
fn forgetting_removes_archive_files_that_no_row_names() {
    for is_stored in [true, false] {
        let house = ArchiveFixture::new();
        let mut store = house.open();
        if is_stored {
            let mut step = store.step().unwrap();
            step.session_key(&SessionId::new("s")).unwrap();
            step.commit().unwrap();
        }
        let old = house.pack(&lines(1_000, 0), None, 9);
        let new = house.pack(&lines(2_000, 1), Some(&old), 10);
        spoil(&house.path(&new), None);
        let gone = forget(&mut store, &Forget::Session(SessionId::new("s")), at(11), &mut |_| ()).unwrap();
        assert_eq!((gone.sessions, gone.archived), (["s".to_owned()].into(), [old.file].into()));
        assert_eq!(house.files(), [""; 0], "nor the damaged one that was kept beside it");
        store.remember_again(Some(&SessionId::new("s"))).unwrap();
        assert_eq!((store.tidy_archive().unwrap().taken_up, store.archived(PATH).unwrap()), (0, None));
    }
}

#[test]
fn excluding_removes_the_damaged_copy_beside_the_one_that_counts() {
    let house = ArchiveFixture::new();
    let mut store = house.open();
    let old = house.pack(&lines(1_000, 0), None, 9);
    let new = house.pack(&lines(2_000, 1), Some(&old), 10);
    spoil(&house.path(&new), None);
    store.tidy_archive().unwrap();
    assert_eq!(house.files().len(), 2, "one that counts, and one beside it");
    let worked = WorkedIn { sessions: ["s".to_owned()].into(), ..WorkedIn::default() };
    let selection = store.select_excluded(&Exclude::new(["**/x".into()]), worked, Vec::new()).unwrap();
    let gone = store.remove(&selection, at(11), &mut |_| ()).unwrap();
    assert_eq!((gone.sessions, gone.archived.len()), (["s".to_owned()].into(), 1));
    assert_eq!((house.files(), store.archived(PATH).unwrap()), (Vec::new(), None));
    assert!(store.forgotten().unwrap().is_empty(), "it is stored again when the rules change");
}

#[test]
fn a_folder_in_the_archive_stays() {
    let house = ArchiveFixture::new();
    let row = house.pack(&lines(1_000, 0), None, 9);
    let mut store = house.store_with(&row);
    std::fs::create_dir(house.folder.path().join(ARCHIVE).join("a folder")).unwrap();
    let tidied = store.tidy_archive().unwrap();
    assert_eq!((tidied.freed, tidied.unknown), (0, 1));
    assert_eq!(house.files(), ["a folder", &row.file]);
}
