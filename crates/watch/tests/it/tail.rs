//! Following one file: the effect of each kind of change, on real files and in memory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use watchbill_core::time::Timestamp;
use watchbill_watch::tail::{ReadPlan, RestartReason, plan_read};
use watchbill_watch::{
    Cursor, FileId, FileKind, FileStat, Fs, KeptOpen, MemFs, ReadOutcome, StdFs, Tail, TailError,
};

use crate::counting_fs::CountingFs;

/// One read. Returns its outcome and the delivered bytes.
fn read(tail: &mut Tail, fs: &dyn Fs, path: &Path, budget: u64) -> Result<(ReadOutcome, Vec<u8>), TailError> {
    let mut bytes = Vec::new();
    let mut scratch = Vec::new();
    let outcome =
        tail.read(fs, path, &mut scratch, budget, &mut || (), &mut |_, new| bytes.extend_from_slice(new))?;
    assert!(scratch.capacity() <= 512 * 1024, "the buffer stays small");
    Ok((outcome, bytes))
}

fn all(tail: &mut Tail, fs: &dyn Fs, path: &Path) -> (Option<RestartReason>, String) {
    let (outcome, bytes) = read(tail, fs, path, u64::MAX).expect("readable");
    assert!(!outcome.more);
    (outcome.restarted, String::from_utf8(bytes).expect("text"))
}

fn temp_file(content: &str) -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a temporary folder");
    let path = dir.path().join("s.jsonl");
    std::fs::write(&path, content).expect("written");
    (dir, path)
}

fn append(path: &Path, text: &str) {
    use io::Write;
    let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("appended");
}

#[test]
fn the_plan_is_made_from_identity_length_and_time_alone() {
    let id = FileId { dev: 1, ino: 2 };
    let stat = |ino, len, at| FileStat {
        id: FileId { dev: 1, ino },
        len,
        mtime: Timestamp::from_millis(at),
        kind: FileKind::File,
    };
    let cursor = Cursor { id, fingerprint: Default::default(), offset: 10, mtime: Timestamp::from_millis(5) };
    let table = [
        (None, None, ReadPlan::Gone),
        (Some(&cursor), None, ReadPlan::Gone),
        (None, Some(stat(2, 7, 5)), ReadPlan::Append { from: 0, to: 7 }),
        (Some(&cursor), Some(stat(2, 10, 5)), ReadPlan::Nothing),
        (Some(&cursor), Some(stat(2, 14, 6)), ReadPlan::Append { from: 10, to: 14 }),
        (Some(&cursor), Some(stat(2, 14, 5)), ReadPlan::Append { from: 10, to: 14 }),
        (Some(&cursor), Some(stat(2, 10, 6)), ReadPlan::Append { from: 10, to: 10 }),
        (Some(&cursor), Some(stat(2, 9, 6)), ReadPlan::Restart(RestartReason::Truncated)),
        (Some(&cursor), Some(stat(3, 14, 6)), ReadPlan::Restart(RestartReason::Replaced)),
        (Some(&cursor), Some(stat(3, 10, 5)), ReadPlan::Restart(RestartReason::Replaced)),
    ];
    for (cursor, stat, plan) in table {
        assert_eq!(plan_read(cursor, stat.as_ref()), plan, "{cursor:?} {stat:?}");
    }
}

#[test]
fn a_file_whose_folder_has_become_a_file_is_gone() {
    let (dir, folder) = temp_file("a note");
    let read = read(&mut Tail::default(), &StdFs, &folder.join("s.jsonl"), u64::MAX);
    assert!(cfg!(not(unix)) || matches!(read, Err(TailError::Gone)), "{read:?} in {dir:?}");
}

#[test]
fn appends_truncation_and_replacement_of_a_real_file() {
    // Both when the file is opened for each look, and when it stays open.
    for fs in [&StdFs as &dyn Fs, &KeptOpen::default()] {
        appends_truncation_and_replacement(fs);
    }
}

fn appends_truncation_and_replacement(fs: &dyn Fs) {
    let (dir, path) = temp_file("one\ntwo\n");
    let mut tail = Tail::default();
    assert_eq!(all(&mut tail, fs, &path), (None, "one\ntwo\n".into()));
    assert_eq!(all(&mut tail, fs, &path), (None, String::new()));
    append(&path, "thr");
    assert_eq!(all(&mut tail, fs, &path), (None, "thr".into()), "a torn line is delivered as it is");
    append(&path, "ee\n");
    assert_eq!(all(&mut tail, fs, &path), (None, "ee\n".into()));

    let file = std::fs::OpenOptions::new().write(true).open(&path).expect("opened");
    file.set_len(4).expect("cut off");
    assert_eq!(all(&mut tail, fs, &path), (Some(RestartReason::Truncated), "one\n".into()));

    file.set_len(0).expect("cut off");
    append(&path, "longer than before\n");
    assert_eq!(
        all(&mut tail, fs, &path),
        (Some(RestartReason::Rewritten), "longer than before\n".into()),
        "cut off and grown beyond the cursor between two looks"
    );

    let other = dir.path().join("other");
    std::fs::write(&other, "longer than before\nand more\n").expect("written");
    std::fs::rename(&other, &path).expect("renamed");
    assert_eq!(
        all(&mut tail, fs, &path),
        (Some(RestartReason::Replaced), "longer than before\nand more\n".into())
    );

    std::fs::remove_file(&path).expect("removed");
    assert!(matches!(read(&mut tail, fs, &path, u64::MAX), Err(TailError::Gone)));
}

#[test]
fn a_dropped_line_is_noticed_although_records_end_alike() {
    let record = |n: u32| {
        format!("{{\"n\":{n},\"cwd\":\"/home/dev/work\",\"version\":\"2.1.329\",\"gitBranch\":\"main\"}}\n")
    };
    let fs = MemFs::new();
    let path = Path::new("/s.jsonl");
    let text: String = (100..200).map(record).collect();
    fs.write(path, text.as_bytes());
    let mut tail = Tail::default();
    all(&mut tail, &fs, path);
    // Another line of the same length replaces the last one, and a new line follows: the same file, longer, with the
    // same front.
    let rewritten: String = (100..199).chain([777, 778]).map(record).collect();
    fs.write(path, rewritten.as_bytes());
    assert_eq!(all(&mut tail, &fs, path), (Some(RestartReason::Rewritten), rewritten));
}

#[test]
fn a_changed_front_is_noticed_although_the_rest_is_the_same() {
    let fs = MemFs::new();
    let path = Path::new("/s.jsonl");
    let long = "x".repeat(5000);
    fs.write(path, format!("one\n{long}").as_bytes());
    let mut tail = Tail::default();
    all(&mut tail, &fs, path);
    let other = format!("two\n{long}");
    fs.write(path, other.as_bytes());
    assert_eq!(all(&mut tail, &fs, path), (Some(RestartReason::Rewritten), other));
}

#[test]
fn a_sparse_file_of_three_gigabytes_costs_one_budget() {
    let (_dir, path) = temp_file("{}\n");
    std::fs::OpenOptions::new().write(true).open(&path).expect("opened").set_len(3 << 30).expect("stretched");
    let mut tail = Tail::default();
    let mut delivered = 0;
    for _ in 0..3 {
        let (outcome, bytes) = read(&mut tail, &StdFs, &path, 1 << 20).expect("readable");
        assert!(outcome.more);
        assert_eq!(outcome.bytes_read, 1 << 20);
        delivered += bytes.len() as u64;
    }
    assert_eq!(tail.cursor.expect("set").offset, delivered);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_regular_file_is_refused_without_waiting() {
    let dir = TempDir::new().expect("a temporary folder");
    let pipe = dir.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success(), "a pipe");
    let folder = dir.path().join("folder.jsonl");
    std::fs::create_dir(&folder).expect("a folder");
    for path in [&pipe, &folder, &PathBuf::from("/dev/null")] {
        assert!(matches!(read(&mut Tail::default(), &StdFs, path, 1), Err(TailError::NotAFile)), "{path:?}");
        let error = StdFs.open(path).err().expect("refused");
        assert!(watchbill_watch::fs::NotRegular::is_cause_of(&error), "{path:?}: {error}");
        assert!(StdFs.read_small(path, 10).is_err(), "{path:?}");
    }
}

#[test]
fn small_files_are_read_whole_or_not_at_all() {
    let (_dir, path) = temp_file("12345678");
    assert_eq!(StdFs.read_small(&path, 8).expect("fits"), b"12345678");
    assert_eq!(StdFs.read_small(&path, 7).expect_err("too long").kind(), io::ErrorKind::FileTooLarge);
    let (_dir, empty) = temp_file("");
    assert_eq!(StdFs.read_small(&empty, 8).expect("torn while it is rewritten"), b"");
    let (_dir, long) = temp_file(&"x".repeat(20_000));
    assert_eq!(StdFs.read_small(&long, 20_000).expect("fits").len(), 20_000);
}

#[test]
fn reading_goes_on_where_it_stopped_when_permission_returns() {
    let fs = MemFs::new();
    let path = Path::new("/s.jsonl");
    fs.write(path, b"one\n");
    let mut tail = Tail::default();
    all(&mut tail, &fs, path);
    fs.deny(path, true);
    fs.append(path, b"two\n");
    let error = read(&mut tail, &fs, path, u64::MAX).expect_err("denied");
    assert!(matches!(&error, TailError::Io(io) if io.kind() == io::ErrorKind::PermissionDenied), "{error:?}");
    fs.deny(path, false);
    assert_eq!(all(&mut tail, &fs, path), (None, "two\n".into()));
}

#[test]
fn an_append_costs_the_same_for_any_length_of_the_file() {
    let inner = MemFs::new();
    let fs = CountingFs::new(Arc::new(inner.clone()));
    let path = Path::new("/s.jsonl");
    for megabytes in [1, 8] {
        inner.write(path, &vec![b'x'; megabytes << 20]);
        let mut tail = Tail::default();
        all(&mut tail, &fs, path);
        let before = fs.notes.bytes();
        inner.append(path, b"new\n");
        assert_eq!(all(&mut tail, &fs, path), (None, "new\n".into()));
        assert_eq!(fs.notes.bytes() - before, 3 * 1024 + 4, "front, window, window with the new bytes");
    }
}

/// Changes a byte in the middle, and sets the write time later by `later`.
fn edit(path: &Path, at: usize, later: std::time::Duration) -> String {
    let before = std::fs::metadata(path).expect("there").modified().expect("a time");
    let mut bytes = std::fs::read(path).expect("read");
    bytes[at] = if bytes[at] == b'X' { b'Y' } else { b'X' };
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("opened");
    io::Write::write_all(&mut file, &bytes).expect("written in place");
    file.set_modified(before + later).expect("set");
    String::from_utf8(bytes).expect("text")
}

#[test]
fn an_edit_in_place_is_noticed_although_the_length_stays() {
    let line = "{\"n\":1,\"text\":\"some words of a record\"}\n";
    let minute = std::time::Duration::from_secs(60);
    for fs in [&StdFs as &dyn Fs, &KeptOpen::default()] {
        let (_dir, path) = temp_file(&line.repeat(200));
        let mut tail = Tail::default();
        all(&mut tail, fs, &path);
        for at in [0, 2_000, line.len() * 200 - 2_000, line.len() * 200 - 3] {
            let edited = edit(&path, at, minute);
            assert_eq!(all(&mut tail, fs, &path), (Some(RestartReason::Rewritten), edited), "{at}");
            assert_eq!(all(&mut tail, fs, &path), (None, String::new()), "once");
        }
        // A later append is delivered alone.
        append(&path, line);
        assert_eq!(all(&mut tail, fs, &path), (None, line.into()));
    }
}

/// As documented: of a large file only its two ends are compared.
#[test]
fn an_edit_of_a_large_file_is_noticed_at_its_ends() {
    let line = format!("{{\"text\":\"{}\"}}\n", "words ".repeat(1_000));
    let lines = (17 << 20) / line.len();
    let (_dir, path) = temp_file(&line.repeat(lines));
    let minute = std::time::Duration::from_secs(60);
    let mut tail = Tail::default();
    all(&mut tail, &StdFs, &path);
    edit(&path, line.len() * lines / 2, minute);
    assert_eq!(all(&mut tail, &StdFs, &path), (None, String::new()));
    let edited = edit(&path, line.len() * lines - 900, minute);
    assert!(all(&mut tail, &StdFs, &path) == (Some(RestartReason::Rewritten), edited));
}
