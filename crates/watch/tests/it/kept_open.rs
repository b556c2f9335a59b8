//! Growing files stay open. The tests check the open files by the system's own list, and the hints of a watcher.

use std::io::Write;
use std::path::Path;

use rustix::fs::inotify;
use watchbill_watch::{Fs, KeptOpen, Tail};

/// Appends a line and reads it.
fn grow(tail: &mut Tail, fs: &KeptOpen, path: &Path) {
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).expect("opened");
    file.write_all(b"a line\n").expect("appended");
    let mut bytes = Vec::new();
    tail.read(fs, path, &mut Vec::new(), u64::MAX, &mut || panic!("restarted"), &mut |_, new| {
        bytes.extend_from_slice(new);
    })
    .expect("readable");
    assert_eq!(bytes, b"a line\n");
}

/// Files in the folder that this process has open, by the targets of their links.
fn open_in(folder: &Path) -> Vec<String> {
    let open = std::fs::read_dir("/proc/self/fd").expect("a list");
    let names = open.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
    let mut names: Vec<String> =
        names.filter_map(|path| Some(path.strip_prefix(folder).ok()?.display().to_string())).collect();
    names.sort();
    names
}

#[test]
fn a_file_read_once_is_closed_and_a_growing_one_stays_open_until_it_is_gone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (path, fs, mut tail) = (dir.path().join("s.jsonl"), KeptOpen::default(), Tail::default());
    grow(&mut tail, &fs, &path);
    assert!(open_in(dir.path()).is_empty());
    for _ in 0..3 {
        grow(&mut tail, &fs, &path);
        assert_eq!(open_in(dir.path()), ["s.jsonl"]);
    }
    fs.close_unread();
    assert_eq!(open_in(dir.path()), ["s.jsonl"], "it was read a moment ago");
    std::fs::remove_file(&path).expect("removed");
    fs.stat(&path).expect_err("gone");
    assert!(open_in(dir.path()).is_empty());
}

#[test]
fn of_many_growing_files_only_a_few_stay_open() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let fs = KeptOpen::default();
    let mut files: Vec<_> = (0..3 * KeptOpen::MAX_OPEN)
        .map(|n| (dir.path().join(format!("{n:03}.jsonl")), Tail::default()))
        .collect();
    for _ in 0..3 {
        for (path, tail) in &mut files {
            grow(tail, &fs, path);
        }
    }
    let last =
        files[2 * KeptOpen::MAX_OPEN..].iter().map(|(path, _)| path.strip_prefix(dir.path()).expect("below"));
    assert_eq!(open_in(dir.path()), last.map(|name| name.display().to_string()).collect::<Vec<_>>());
}

#[test]
fn reading_a_kept_open_file_gives_a_watcher_no_event() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let (path, fs, mut tail) = (dir.path().join("s.jsonl"), KeptOpen::default(), Tail::default());
    grow(&mut tail, &fs, &path);
    grow(&mut tail, &fs, &path);
    let told = inotify::init(inotify::CreateFlags::NONBLOCK).expect("an instance");
    inotify::add_watch(&told, dir.path(), inotify::WatchFlags::OPEN).expect("watched");
    grow(&mut tail, &fs, &path);
    let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 4096];
    let mut events = inotify::Reader::new(&told, &mut buffer);
    assert!(events.next().is_ok(), "the writer has opened it");
    assert!(events.next().is_err(), "and no other event");
}
