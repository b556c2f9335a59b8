//! Faults of the system or of other programs: each has its error variant and message, and no stored data is lost.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::time::Duration;

use rusqlite::Connection;
use watchbill_store::search::Query;
use watchbill_store::{DatabaseState, OpenMode, Store, StoreError};

#[cfg(unix)]
use crate::rig::child;
use crate::rig::{Rig, child_folder, prompt, session};
#[cfg(unix)]
use crate::skipped::skipped;

/// Stores one more text; returns how many there are then.
fn add(store: &mut Store, n: u64, text: &str) -> Result<u64, StoreError> {
    let mut step = store.step()?;
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(n, text))?;
    step.commit()?;
    Ok(store.text_counts()?.0)
}

/// The message without the folder of this run.
fn message_of(error: &StoreError, folder: &Path) -> String {
    error.to_string().replace(&folder.to_string_lossy().into_owned(), "/home/dev/data")
}

#[test]
fn a_newer_schema_is_refused_and_left_alone() {
    let rig = Rig::new();
    let mut store = rig.open();
    add(&mut store, 0, "kept").unwrap();
    let path = store.path().to_owned();
    drop(store);
    let sql = Connection::open(&path).unwrap();
    sql.pragma_update(None, "user_version", 99).unwrap();
    sql.close().unwrap();
    let before = std::fs::read(&path).unwrap();
    for mode in [OpenMode::WriteOrRead, OpenMode::Read] {
        let error = Store::open(rig.folder.path(), mode).unwrap_err();
        let known = watchbill_store::schema::NEWEST;
        assert_eq!(
            message_of(&error, rig.folder.path()),
            format!(
                "/home/dev/data/watchbill.db was written by a newer version (schema 99, this one knows {known}); \
                 nothing was changed: update this program, or choose another folder with --data-dir"
            )
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_header_is_not_taken_for_a_newer_schema() {
    let rig = Rig::new();
    let mut store = rig.open();
    add(&mut store, 0, "kept").unwrap();
    let path = store.path().to_owned();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[50..4050].fill(0x71);
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(rig.folder.path(), OpenMode::Read).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(matches!(rig.open().origin(), DatabaseState::SetAside { .. }));
}

#[test]
fn a_reader_treats_an_unfinished_database_as_absent() {
    let rig = Rig::new();
    std::fs::create_dir_all(rig.folder.path()).unwrap();
    let sql = Connection::open(rig.folder.path().join("watchbill.db")).unwrap();
    sql.pragma_update(None, "journal_mode", "WAL").unwrap();
    sql.close().unwrap();
    let error = Store::open(rig.folder.path(), OpenMode::Read).unwrap_err();
    assert!(matches!(error, StoreError::Absent { .. }), "{error}");
    assert_eq!(*rig.open().origin(), DatabaseState::Fresh);
}

#[test]
fn a_locked_database_is_reported_and_the_step_can_be_repeated() {
    let rig = Rig::new();
    let mut store = rig.open();
    add(&mut store, 0, "first").unwrap();
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = add(&mut store, 1, "second").unwrap_err();
    assert_eq!(
        message_of(&error, rig.folder.path()),
        "/home/dev/data/watchbill.db is locked by another program; try again, or end that program"
    );
    assert!(error.is_temporary());
    assert_eq!(store.search(&Query::new("first", 5)).unwrap().hits.len(), 1, "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(add(&mut store, 1, "second").unwrap(), 2);
}

#[test]
fn a_step_refused_at_its_commit_is_rolled_back_and_can_be_repeated() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.set_busy_timeout(Duration::from_millis(20)).unwrap();
    // Without the log, a reader lets a step begin, and keeps it from ending.
    store.begin_bulk_insert().unwrap();
    add(&mut store, 0, "first").unwrap();
    let reader = Connection::open(store.path()).unwrap();
    for _ in 0..2 {
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM texts", [], |row| row.get::<_, i64>(0)).unwrap();
        let error = add(&mut store, 1, "second").unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
        assert_eq!(store.text_counts().unwrap().0, 1, "nothing of it is there");
        reader.execute_batch("ROLLBACK").unwrap();
    }
    assert_eq!(add(&mut store, 1, "second").unwrap(), 2);
    drop(reader);
    store.end_bulk_insert().unwrap();
    assert_eq!(store.search(&Query::new("second", 5)).unwrap().hits.len(), 1);
    assert!(store.index_is_sound().unwrap());
}

#[test]
#[cfg(target_os = "linux")]
fn a_reader_during_a_first_index_is_told_so() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    // More than the page cache holds is written into the database before the end of the step.
    let text = "said again ".repeat(400);
    for at in 0..2_600 {
        step.add_text(file, key, &prompt(at, &text)).unwrap();
    }
    let expected = format!(
        "/home/dev/data/watchbill.db is being filled for the first time, by process {}; there is no need to end it: try again in \
         a moment",
        std::process::id()
    );
    for mode in [OpenMode::Read, OpenMode::WriteOrRead] {
        let error = Store::open(rig.folder.path(), mode).unwrap_err();
        assert_eq!(message_of(&error, rig.folder.path()), expected);
        assert!(error.is_temporary());
    }
    step.commit().unwrap();
    // Between two steps it can be read. A reader that goes on gets the same error within the next step.
    let reader = Store::open(rig.folder.path(), OpenMode::Read).unwrap();
    reader.set_busy_timeout(std::time::Duration::ZERO).unwrap();
    let mut step = store.step().unwrap();
    for at in 2_600..5_200 {
        step.add_text(file, key, &prompt(at, &text)).unwrap();
    }
    let error = reader.search(&Query::new("again", 5)).unwrap_err();
    assert_eq!(message_of(&error, rig.folder.path()), expected);
    step.commit().unwrap();
    assert_eq!(reader.search(&Query::new("again", 5)).unwrap().hits.len(), 5);
}

/// Opens the store as a user without the right to write.
#[test]
fn child_may_not_write() {
    let Some(folder) = child_folder() else { return };
    let error = Store::open(&folder, OpenMode::WriteOrRead).unwrap_err();
    println!("said {}", message_of(&error, &folder));
    let store = Store::open(&folder, OpenMode::Read).unwrap();
    println!("found {}", store.search(&Query::new("kept", 5)).unwrap().hits.len());
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let rig = Rig::new();
    let mut store = rig.open();
    add(&mut store, 0, "kept").unwrap();
    drop(store);
    for entry in std::fs::read_dir(rig.folder.path()).unwrap() {
        std::fs::set_permissions(entry.unwrap().path(), PermissionsExt::from_mode(0o444)).unwrap();
    }
    std::fs::set_permissions(rig.folder.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let mut reader = child("trouble::child_may_not_write");
    reader.env("STORE_TEST_FOLDER", rig.folder.path()).env("TMPDIR", rig.folder.path());
    if rustix::process::geteuid().is_root() {
        // Permissions mean nothing to root.
        reader.uid(65_534).gid(65_534);
    }
    let output = reader.output();
    std::fs::set_permissions(rig.folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let output = match output {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            skipped("NOT TESTED: only root may run the program of the tests");
            return;
        }
        output => output.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains(
            "said /home/dev/data/writer.lock is not writable; check its permissions, or choose another folder"
        ) && text.contains("found 1"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Fills a small file system, makes room again, and goes on.
#[test]
fn child_fills_the_disk() {
    let Some(folder) = child_folder() else { return };
    std::fs::write(folder.join("ballast"), vec![0; 1 << 20]).unwrap();
    let data = folder.join("data");
    let mut store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    let text = "many words that fill the disk ".repeat(500);
    let mut stored = 0;
    let error = loop {
        match add(&mut store, stored, &format!("number{stored} {text}")) {
            Ok(count) => stored = count,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "the disk is never full");
    };
    println!("said {}", message_of(&error, &data));
    assert!(error.is_temporary());
    assert_eq!(store.text_counts().unwrap().0, stored);
    assert_eq!(store.search(&Query::new("many words", 10_000)).unwrap().hits.len() as u64, stored);
    drop(store);
    // Even without space for a new start, it can be read.
    let store = Store::open(&data, OpenMode::Read).unwrap();
    assert_eq!(store.search(&Query::new("number0", 5)).unwrap().hits.len(), 1);
    drop(store);
    std::fs::remove_file(folder.join("ballast")).unwrap();
    let mut store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    assert_eq!(add(&mut store, stored, "there is room again").unwrap(), stored + 1);
    assert!(store.index_is_sound().unwrap());
    println!("went on");
}

/// Rebuilds the index without enough space for another one.
#[test]
fn child_mends_without_room() {
    let Some(folder) = child_folder() else { return };
    let mut store = Store::open(&folder.join("data"), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    for n in 0..200 {
        let words: Vec<String> = (0..100).map(|word| format!("word{n}x{word}")).collect();
        step.add_text(file, key, &prompt(n, &words.join(" "))).unwrap();
    }
    step.commit().unwrap();
    let ballast = folder.join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4 << 10]).is_ok() {}
    file.set_len(file.metadata().unwrap().len() - (160 << 10)).unwrap();
    let error = store.rebuild_index().unwrap_err();
    assert!(error.is_temporary(), "{error}");
    std::fs::remove_file(ballast).unwrap();
    add(&mut store, 1_000, "there is room again").unwrap();
    assert_eq!(store.search(&Query::new("room again", 5)).unwrap().hits.len(), 1, "found at once");
    assert!(store.index_is_sound().unwrap());
    println!("went on");
}

/// The output of a test of this program that runs on a file system of three megabytes; `None` if none can be
/// mounted.
#[cfg(target_os = "linux")]
fn in_three_megabytes(test: &str) -> Option<String> {
    let rig = Rig::new();
    let me = std::env::current_exe().unwrap();
    // Only this process and its children see this file system.
    let script = r#"mount -t tmpfs -o size=3m none "$STORE_TEST_FOLDER" || exit 77
        exec "$0" "$1" --exact --nocapture"#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .args([me.as_os_str(), test.as_ref()])
        .env("STORE_TEST_FOLDER", rig.folder.path())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) && !output.stdout.is_empty() => output,
        other => {
            skipped(&format!("NOT TESTED: no file system of our own may be mounted here: {other:?}"));
            return None;
        }
    };
    let [message_of, failed] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    Some(format!("{message_of}{failed}"))
}

#[test]
#[cfg(target_os = "linux")]
fn after_a_failed_index_rebuild_new_texts_are_found_at_once() {
    let Some(text) = in_three_megabytes("trouble::child_mends_without_room") else { return };
    assert!(text.contains("went on"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing_that_was_stored() {
    let Some(text) = in_three_megabytes("trouble::child_fills_the_disk") else { return };
    assert!(
        text.contains(
            "said no space left for /home/dev/data/watchbill.db; free some space; the rest is stored later"
        ) && text.contains("went on"),
        "{text}"
    );
}

#[test]
#[cfg(unix)]
fn a_folder_that_others_use_too_stays_open_to_them() {
    use std::os::unix::fs::PermissionsExt;

    let rig = Rig::new();
    let folder = rig.folder.path().join("shared");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("of another.txt"), "").unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o1777)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    for _ in 0..2 {
        let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
        add(&mut store, 0, "mine").unwrap();
        assert_eq!((mode(&folder), mode(&folder.join("watchbill.db"))), (0o1777, 0o600));
    }
}

#[test]
#[cfg(unix)]
fn only_the_user_may_read_the_folder_and_its_files() {
    use std::os::unix::fs::PermissionsExt;

    let rig = Rig::new();
    let folder = rig.folder.path().join("below/data");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    add(&mut store, 0, "mine").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["watchbill.db", "watchbill.db-shm", "watchbill.db-wal", "writer.lock"]);
}
