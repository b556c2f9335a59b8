//! Archived transcripts without a row in the store: `exclude` and `forget` reach them all the same.

use std::path::{Path, PathBuf};

use watchbill_core::history::ArchiveSettings;
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::{real_sources, start};
use watchbill_engine::world::archive::with_archive;
use watchbill_protocol::store::IndexReport;
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

use crate::archived::age;
use crate::exclude_later::{excluding, four_sessions, line, stored_texts};
use crate::thread::released;
use crate::wait::until;

fn index(settings: &Settings) -> IndexReport {
    let world = with_archive(real_sources(), settings);
    let indexed = run(settings, &world, Options::default(), &mut |_| true).unwrap();
    let Indexed::Here(report) = indexed else { panic!("no other process writes") };
    report
}

/// Four archived sessions: two have worked in a folder that will be excluded, and one has read a file there. Their
/// transcripts are kept, or gone.
fn archived_sessions_rig(folder: &Path, kept: bool) -> (Settings, PathBuf) {
    let (mut settings, project) = four_sessions(folder);
    settings.archive = ArchiveSettings { enabled: true, ..ArchiveSettings::default() };
    let data = settings.data_dir.clone().unwrap();
    assert_eq!(index(&settings).archived, Some(4));
    if !kept {
        std::fs::remove_dir_all(project).unwrap();
    }
    (settings, data)
}

fn without_database(data: &Path) {
    for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
        drop(std::fs::remove_file(data.join(name)));
    }
}

fn without_rows(data: &Path) {
    let mut store = Store::open(data, OpenMode::WriteOrRead).unwrap();
    let rows = store.all_archived().unwrap();
    let mut step = store.step().unwrap();
    rows.iter().for_each(|row| step.remove_archived(&row.path).unwrap());
    step.commit().unwrap();
}

/// The archived sessions by their rows, and the number of archive files.
fn archived_sessions(data: &Path) -> (Vec<String>, usize) {
    let rows = Store::open(data, OpenMode::Read).unwrap().all_archived().unwrap();
    let mut sessions: Vec<_> = rows.into_iter().map(|row| row.session_id).collect();
    sessions.sort();
    (sessions, std::fs::read_dir(data.join("archive")).unwrap().count())
}

fn only_what_is_open(data: &Path, what: &str) {
    assert_eq!(archived_sessions(data), (vec!["out".to_owned()], 1), "{what}");
    let held = stored_texts(data);
    assert!(held.iter().all(|text| !text.contains("HIDDEN")), "{what}: {held:#?}");
    assert!(held.contains(&"open elsewhere".to_owned()), "{what}: {held:#?}");
}

#[test]
fn a_rebuilt_database_takes_up_no_excluded_archive_files() {
    for kept in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (settings, data) = archived_sessions_rig(folder.path(), kept);
        without_database(&data);
        index(&excluding(&settings));
        only_what_is_open(&data, &format!("kept {kept}"));
        // Without the rule, the remaining transcripts are archived again.
        index(&settings);
        assert_eq!(archived_sessions(&data).1, if kept { 4 } else { 1 });
    }
}

#[test]
fn excluded_archive_files_without_rows_are_removed_also_when_they_come_back() {
    for kept in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let (settings, data) = archived_sessions_rig(folder.path(), kept);
        let files: Vec<_> = std::fs::read_dir(data.join("archive"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|path| (std::fs::read(&path).unwrap(), path))
            .collect();
        let put_back = || files.iter().for_each(|(bytes, path)| std::fs::write(path, bytes).unwrap());
        without_rows(&data);
        index(&excluding(&settings));
        only_what_is_open(&data, &format!("kept {kept}"));
        // The rules were carried out; then another program puts the files back.
        put_back();
        index(&excluding(&settings));
        only_what_is_open(&data, &format!("kept {kept}, put back"));
        put_back();
        let engine = start(excluding(&settings)).unwrap();
        until("the rules to be carried out once more", || archived_sessions(&data).1 == 1);
        engine.stop();
        drop(engine);
        released(&data);
        only_what_is_open(&data, &format!("kept {kept}, put back for a running engine"));
    }
}

#[test]
fn the_report_counts_only_newly_packed_transcripts_as_archived() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, data) = archived_sessions_rig(folder.path(), true);
    let out = settings.roots[0].join("projects/p/out.jsonl");
    let more = line("out", "2", "/home/dev/work", r#""open and more""#);
    std::fs::write(&out, std::fs::read_to_string(&out).unwrap() + &more).unwrap();
    age(&out, 19);
    without_rows(&data);
    assert_eq!(index(&settings).archived, Some(1), "three were taken up again, and one has grown");
    assert_eq!(archived_sessions(&data).1, 4);
    without_rows(&data);
    assert_eq!(index(&settings).archived, None);
}

#[test]
fn forget_removes_archive_files_without_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, data) = archived_sessions_rig(folder.path(), false);
    without_rows(&data);
    let now = SystemClock.now();
    let forget = |what: ForgetWhat| forget(&settings, &what, false, now, &mut |_| ()).unwrap();
    assert_eq!(forget(ForgetWhat::Sessions(vec!["in".to_owned()])).archived, 1);
    assert_eq!(archived_sessions(&data).1, 3);
    // An empty database; the archive files come back after it was made.
    let aside = data.with_file_name("aside");
    std::fs::rename(data.join("archive"), &aside).unwrap();
    without_database(&data);
    drop(Store::open(&data, OpenMode::WriteOrRead).unwrap());
    std::fs::rename(&aside, data.join("archive")).unwrap();
    assert_eq!(forget(ForgetWhat::Before(now)).archived, 3);
    assert_eq!(archived_sessions(&data).1, 0);
}
