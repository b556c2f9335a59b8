//! The archive: a packed transcript is read back, an incomplete one does not count, and the budget holds.

use std::io::{self, Read};
use std::path::Path;

use proptest::prelude::*;
use watchbill_core::history::ArchiveSettings;
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::archive::frames::FRAME;
use watchbill_store::archive::plan::{Candidate, plan};
use watchbill_store::archive::{ARCHIVE, Archive, Original, Packed};
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{OpenMode, Store, StoreError};

use crate::rig::forget;

const PATH: &str = "/home/dev/.claude/projects/p/s.jsonl";

fn at(days: i64) -> Timestamp {
    Timestamp::from_millis(days * 86_400_000)
}

fn original() -> Original<'static> {
    Original { path: PATH, session_id: "s", subagent: None, mtime: at(1), id: (7, 8), meta: None }
}

fn pack(archive: &Archive, bytes: &[u8], known: Option<&ArchiveRow>) -> Result<Packed, StoreError> {
    let mut open = || -> io::Result<Box<dyn Read>> { Ok(Box::new(io::Cursor::new(bytes.to_vec()))) };
    archive.pack_again(&original(), &mut open, known, 3, at(9))
}

fn unpack(archive: &Archive, row: &ArchiveRow) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.open(row).unwrap().reader().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Lines like those of a transcript.
fn lines(count: usize, seed: usize) -> Vec<u8> {
    (0..count)
        .flat_map(|n| format!("{{\"n\":{},\"text\":\"line {n} of it\"}}\n", n * 7919 + seed).into_bytes())
        .collect()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder.join(ARCHIVE))
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_packed_transcript_is_read_at_any_position_and_only_grows() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let whole = lines(120_000, 0);
    assert!(whole.len() > 3 * FRAME);
    let cut = whole.len() / 3;
    let first = pack(&archive, &whole[..cut], None).unwrap();
    assert_eq!(unpack(&archive, &first.row), &whole[..cut]);
    assert!(first.row.stored * 4 < first.row.bytes, "{:?}", first.row);
    let grown = pack(&archive, &whole, Some(&first.row)).unwrap();
    assert_eq!((&grown.row.file, grown.void), (&first.row.file, None));
    assert_eq!(unpack(&archive, &grown.row), whole);
    // The older row is still valid: it counts until the new one is stored.
    assert_eq!(unpack(&archive, &first.row), &whole[..cut]);
    let frames = archive.open(&grown.row).unwrap();
    for offset in [0, 1, FRAME - 1, FRAME, 2 * FRAME + 17, cut, whole.len() - 1, whole.len(), whole.len() + 5]
    {
        let mut buffer = [0; 100];
        let count = frames.read_at(&mut buffer, offset as u64).unwrap();
        let want = whole.get(offset..).unwrap_or_default();
        assert!(want.starts_with(&buffer[..count]) && (count > 0 || want.is_empty()), "{offset}");
    }
}

#[test]
fn a_rewritten_transcript_is_packed_anew_beside_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let first = pack(&archive, &lines(1_000, 0), None).unwrap();
    for changed in [lines(1_000, 1), lines(10, 0)] {
        let second = pack(&archive, &changed, Some(&first.row)).unwrap();
        assert_eq!(unpack(&archive, &second.row), changed);
        assert_eq!(unpack(&archive, &first.row), lines(1_000, 0), "it counts until the new row is stored");
        // It may be the last copy.
        let earlier = second.earlier.unwrap();
        assert_eq!((second.void, &earlier.file), (None, &first.row.file));
        assert_eq!((earlier.transcript(), earlier.path != PATH), (PATH, true));
        assert_eq!(unpack(&archive, &earlier), lines(1_000, 0));
    }
}

#[test]
fn the_only_copy_of_a_transcript_stays_when_another_one_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let (whole, stub) = (lines(1_000, 0), b"{}\n".to_vec());
    let first = pack(&archive, &whole, None).unwrap().row;
    let mut store = store_with(folder.path(), &[&first]);
    let second = pack(&archive, &stub, Some(&first)).unwrap();
    let rows = [&second.row, second.earlier.as_ref().unwrap()];
    put(&mut store, &rows);
    let kept = |store: &Store| -> Vec<Vec<u8>> {
        let mut rows = store.all_archived().unwrap();
        rows.sort_by_key(|row| (row.path != PATH, row.path.clone()));
        assert!(rows.iter().all(|row| row.transcript() == PATH && row.session_id == "s"));
        rows.iter().map(|row| unpack(&archive, row)).collect()
    };
    assert_eq!(kept(&store), [stub.clone(), whole.clone()]);
    assert_eq!((store.tidy_archive().unwrap().freed, kept(&store).len()), (0, 2));
    // A transcript that was rewritten again stays too. One that only grows is one copy.
    let other = lines(20, 7);
    let third = pack(&archive, &other, store.archived(PATH).unwrap().as_ref()).unwrap();
    put(&mut store, &[&third.row, third.earlier.as_ref().unwrap()]);
    let grown = [&*other, b"{}\n"].concat();
    let fourth = pack(&archive, &grown, store.archived(PATH).unwrap().as_ref()).unwrap();
    assert_eq!((fourth.earlier, fourth.void), (None, None));
    put(&mut store, &[&fourth.row]);
    assert_eq!(kept(&store).len(), 3);
    drop(store);
    // A database made anew keeps all three too.
    for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
        drop(std::fs::remove_file(folder.path().join(name)));
    }
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut all = kept(&store);
    all.sort();
    let mut want = [grown, stub, whole];
    want.sort();
    assert_eq!(all, want);
    assert_eq!((store.tidy_archive().unwrap(), files(folder.path()).len()), (Default::default(), 3));
    let what = watchbill_store::removal::Forget::Session(SessionId::new("s"));
    forget(&mut store, &what, at(9), &mut |_| ()).unwrap();
    assert_eq!(files(folder.path()), [""; 0], "what is forgotten goes with every copy");
}

fn put(store: &mut Store, rows: &[&ArchiveRow]) {
    let mut step = store.step().unwrap();
    rows.iter().for_each(|row| step.put_archived(row).unwrap());
    step.commit().unwrap();
}

/// A store that has these rows, beside the archive in its data folder.
fn store_with(folder: &Path, rows: &[&ArchiveRow]) -> Store {
    let mut store = Store::open(folder, OpenMode::WriteOrRead).unwrap();
    put(&mut store, rows);
    store
}

#[test]
fn leftovers_of_an_unclean_exit_do_not_count_and_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let whole = lines(50_000, 0);
    let first = pack(&archive, &whole[..whole.len() / 2], None).unwrap().row;
    let mut store = store_with(folder.path(), &[&first]);
    let path = folder.path().join(ARCHIVE).join(&first.file);
    // Half of an addition, and files that no row names: another copy of the same transcript, and torn beginnings.
    let mut torn = std::fs::read(&path).unwrap();
    let label = torn[..200].to_vec();
    torn.extend_from_slice(&[0x57, 0x2a, 0x4d, 0x18, 8, 0, 0]);
    std::fs::write(&path, &torn).unwrap();
    let beside = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(ARCHIVE).join(name), bytes).unwrap();
        bytes.len() as u64
    };
    let left = beside("s.0.jsonl.zst", &torn)
        + beside("s.1.jsonl.zst", &label)
        + beside("s.2.jsonl.zst", &label[..5])
        + beside("s.3.jsonl.zst", b"");
    beside("a word of mine.txt", b"half");
    assert_eq!(unpack(&archive, &first), &whole[..whole.len() / 2]);
    let tidied = store.tidy_archive().unwrap();
    assert_eq!((tidied.freed, tidied.taken_up, tidied.unknown), (left + 7, 0, 1));
    assert_eq!(files(folder.path()), ["a word of mine.txt", &first.file]);
    std::fs::write(&path, &torn).unwrap();
    let grown = pack(&archive, &whole, Some(&first)).unwrap().row;
    assert_eq!(unpack(&archive, &grown), whole, "the torn addition was overwritten");
}

#[test]
fn a_database_made_anew_finds_archived_transcripts_but_no_forgotten_ones() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let row_of = |name: &str, agent: Option<&str>, bytes: &[u8]| {
        let path = format!("/home/dev/.claude/projects/p/{name}.jsonl");
        let original = Original {
            path: &path,
            session_id: name,
            subagent: agent,
            mtime: at(1),
            id: (7, u64::MAX),
            meta: agent.map(|_| "{}"),
        };
        archive.pack(&original, &mut io::Cursor::new(bytes), None, 3, at(9)).unwrap().row
    };
    let rows = [
        row_of("a", None, &lines(40_000, 0)),
        row_of("b", Some("1"), &lines(10, 1)),
        row_of("c", None, &lines(10, 2)),
        row_of("d", None, &lines(10, 3)),
    ];
    drop(store_with(folder.path(), &rows.each_ref()[..2]));
    let mut store = store_with(folder.path(), &rows.each_ref());
    let what = watchbill_store::removal::Forget::Session(SessionId::new("d"));
    let away = std::fs::read(folder.path().join(ARCHIVE).join(&rows[3].file)).unwrap();
    forget(&mut store, &what, at(9), &mut |_| ()).unwrap();
    drop(store);
    // The file of the forgotten session comes back, and the end of another file is torn.
    std::fs::write(folder.path().join(ARCHIVE).join(&rows[3].file), away).unwrap();
    let torn = folder.path().join(ARCHIVE).join(&rows[2].file);
    std::fs::write(&torn, [&*std::fs::read(&torn).unwrap(), b"\x57\x2a"].concat()).unwrap();
    for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
        drop(std::fs::remove_file(folder.path().join(name)));
    }
    let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.all_archived().unwrap(), rows[..3], "bytes, hashes, and which files they were");
    assert_eq!(files(folder.path()), rows[..3].iter().map(|row| row.file.clone()).collect::<Vec<_>>());
    assert!(rows[..3].iter().all(|row| archive.is_whole(row)));
    assert_eq!(archive.open(&rows[1]).unwrap().label().unwrap().meta.as_deref(), Some("{}"));
}

#[test]
fn a_truncated_file_counts_up_to_its_last_whole_frame() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let whole = lines(100_000, 0);
    let first = pack(&archive, &whole[..whole.len() / 3], None).unwrap().row;
    let row = pack(&archive, &whole, Some(&first)).unwrap().row;
    let path = folder.path().join(ARCHIVE).join(&row.file);
    let file = std::fs::read(&path).unwrap();
    let mut lengths = Vec::new();
    for end in (0..=file.len()).step_by(file.len() / 40).chain([file.len() - 1, file.len()]) {
        std::fs::write(&path, &file[..end]).unwrap();
        for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
            drop(std::fs::remove_file(folder.path().join(name)));
        }
        let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let known = store.archived(PATH).unwrap();
        let bytes = known.map_or(0, |row| {
            assert!(archive.is_whole(&row), "{end}");
            assert_eq!(unpack(&archive, &row), whole[..row.bytes as usize], "{end}");
            assert_eq!((std::fs::metadata(&path).unwrap().len(), row.dev), (row.stored, 7), "{end}");
            row.bytes
        });
        assert_eq!(path.exists(), bytes > 0, "{end}: what holds nothing is removed");
        lengths.push(bytes);
    }
    assert!(
        lengths.is_sorted() && lengths.first() == Some(&0) && lengths.last() == Some(&row.bytes),
        "{lengths:?}"
    );
    assert!(lengths.contains(&first.bytes), "{lengths:?}");
}

#[test]
fn a_damaged_copy_is_noticed_and_packed_again_from_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let whole = lines(50_000, 0);
    let row = pack(&archive, &whole, None).unwrap().row;
    let path = folder.path().join(ARCHIVE).join(&row.file);
    let good = std::fs::read(&path).unwrap();
    for at in [0, 5, 9, 13, 17, 20, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        std::fs::write(&path, &bad).unwrap();
        assert!(!archive.is_whole(&row), "{at}");
        let again = pack(&archive, &whole, Some(&row)).unwrap();
        assert_eq!(unpack(&archive, &again.row), whole, "{at}");
        archive.remove(&again.row.file);
    }
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    assert!(!archive.is_whole(&row));
    std::fs::remove_file(&path).unwrap();
    assert!(archive.open(&row).is_err());
}

#[test]
fn a_source_that_fails_leaves_no_file() {
    struct Fails(usize);
    impl Read for Fails {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("gone bad"));
            }
            let count = buffer.len().min(self.0);
            buffer[..count].fill(b'x');
            self.0 -= count;
            Ok(count)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let mut open = || -> io::Result<Box<dyn Read>> { Ok(Box::new(Fails(3 * FRAME))) };
    let error = archive.pack_again(&original(), &mut open, None, 3, at(9)).unwrap_err();
    assert!(error.to_string().contains(PATH), "{error}");
    assert_eq!(files(folder.path()), [""; 0]);
}

#[test]
fn rows_are_stored_and_found_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let row = pack(&archive, b"{}\n", None).unwrap().row;
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    step.put_archived(&row).unwrap();
    step.commit().unwrap();
    assert_eq!(store.archived(PATH).unwrap().as_ref(), Some(&row));
    assert_eq!(store.all_archived().unwrap(), [row]);
}

#[cfg(unix)]
#[test]
fn only_the_user_may_read_the_archive() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::new(folder.path());
    let row = pack(&archive, b"{}\n", None).unwrap().row;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join(ARCHIVE)), 0o700);
    assert_eq!(mode(&folder.path().join(ARCHIVE).join(&row.file)), 0o600);
}

fn candidate(name: &str, bytes: u64, days: i64) -> Candidate {
    Candidate { path: name.to_owned(), bytes, mtime: at(days) }
}

fn archived(name: &str, bytes: u64, stored: u64, days: i64) -> ArchiveRow {
    ArchiveRow {
        path: name.to_owned(),
        session_id: "s".to_owned(),
        subagent: None,
        file: name.to_owned(),
        bytes,
        stored,
        hash: String::new(),
        mtime: at(days),
        archived_at: at(days),
        dev: 0,
        inode: 0,
    }
}

#[test]
fn old_transcripts_are_packed_oldest_first_within_the_budget() {
    let settings = ArchiveSettings { enabled: true, budget: 1_000, ..ArchiveSettings::default() };
    let candidates = [
        candidate("new", 300, 99),
        candidate("b", 900, 50),
        candidate("a", 900, 40),
        candidate("empty", 0, 1),
    ];
    let done = plan(&candidates, &[], &settings, at(100));
    assert_eq!((done.pack, done.prune.len()), (vec![2, 1], 0));
    // Without a change there is nothing to do.
    let rows = [archived("b", 900, 100, 50), archived("a", 900, 100, 40)];
    assert_eq!(plan(&candidates, &rows, &settings, at(100)), Default::default());
    // It has grown.
    let grown = [candidate("b", 1_200, 60)];
    assert_eq!(plan(&grown, &rows, &settings, at(100)).pack, [0]);
    // With a small budget the newest stay, and the oldest is not packed only to be deleted.
    let small = ArchiveSettings { budget: 350, ..settings };
    assert_eq!(plan(&candidates, &[], &small, at(100)).pack, [1]);
    let over = plan(&[], &rows, &ArchiveSettings { budget: 150, ..settings }, at(100));
    assert_eq!((over.pack.len(), over.prune), (0, vec!["a".to_owned()]));
    // A copy that is too old is deleted, and not packed again from a transcript that is still there.
    let keep = ArchiveSettings { keep: Some(Millis(55 * 86_400_000)), ..settings };
    let aged = plan(&candidates, &rows, &keep, at(100));
    assert_eq!((aged.pack.len(), aged.prune), (0, vec!["a".to_owned()]));
}

#[test]
fn the_time_of_a_plan_grows_only_with_the_number_of_transcripts() {
    let candidates: Vec<_> = (0..40_000).map(|n| candidate(&format!("f{n}"), 1_000, 1)).collect();
    let rows: Vec<_> = (0..40_000).map(|n| archived(&format!("f{n}"), 900, 100, 1)).collect();
    let began = std::time::Instant::now();
    let done = plan(&candidates, &rows, &ArchiveSettings::default(), at(100));
    assert_eq!(done.pack.len(), candidates.len());
    assert!(began.elapsed() < std::time::Duration::from_secs(30), "{:?}", began.elapsed());
}

proptest! {
    #[test]
    fn the_plan_keeps_the_budget_and_does_not_alternate(
        files in proptest::collection::vec((1u64..5_000, 0i64..100, 4u64..12), 0..20),
        budget in 1u64..10_000,
    ) {
        let settings = ArchiveSettings { enabled: true, budget, ..ArchiveSettings::default() };
        let candidates: Vec<_> = files.iter().enumerate().map(|(n, (bytes, days, _))| candidate(&format!("f{n}"), *bytes, *days)).collect();
        let mut rows: Vec<ArchiveRow> = Vec::new();
        for round in 0..3 {
            let todo = plan(&candidates, &rows, &settings, at(100));
            rows.retain(|row| !todo.prune.contains(&row.path));
            for number in &todo.pack {
                let (bytes, days, ratio) = files[*number];
                rows.retain(|row| row.path != candidates[*number].path);
                rows.push(archived(&candidates[*number].path, bytes, bytes / ratio, days));
            }
            let taken: u64 = rows.iter().map(|row| row.stored).sum();
            prop_assert!(taken <= budget);
            prop_assert!(round < 2 || todo.prune.is_empty(), "nothing is packed and given up in turns");
        }
    }
}
