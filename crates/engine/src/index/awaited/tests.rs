//! Waits beside a process that sleeps, and is woken as the test goes on.

#![allow(clippy::unwrap_used, reason = "a folder that cannot be made is a failure")]

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, Want};

use super::*;
use crate::clock::{Clock, SystemClock};
use crate::forget::{Removal, carry_out};
use crate::handle::real_world;
use crate::history::HistoryIndex;
use crate::index::{self, Indexed, Options};
use crate::{left_out, stored};

fn wait_at_most(
    patience: Duration,
    settings: &Settings,
    world: &World,
    pid: Option<u32>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<IndexReport>, ApiError> {
    Awaited::list(settings, world, pid)?.wait(patience, progress)
}

fn settings(folder: &Path) -> Settings {
    let root = folder.join(".claude");
    std::fs::create_dir_all(root.join("projects/-home-dev-x")).unwrap();
    Settings { data_dir: Some(folder.join("data")), ..Settings::for_roots(vec![root]) }
}

fn transcript(settings: &Settings, session: &str) -> PathBuf {
    settings.roots[0].join(format!("projects/-home-dev-x/{session}.jsonl"))
}

fn says(settings: &Settings, session: &str, words: &str) {
    let path = transcript(settings, session);
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"{words}\",\"sessionId\":\"{session}\",\"cwd\":\"/home/dev/x\",\"message\":{{\"content\":\"{words}\"}}}}\n"
    );
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    std::fs::write(path, before + &line).unwrap();
}

/// Stores what there is, and gives the store to another one that writes, and sleeps.
fn sleeper(settings: &Settings) -> Store {
    let run = index::run(settings, &real_world(), Options::default(), &mut |_| true).unwrap();
    assert!(matches!(run, Indexed::Here(_)));
    Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap()
}

/// It wakes, and stores what there is of one transcript.
fn stores(writer: &mut Store, settings: &Settings, session: &str) {
    let path = transcript(settings, session);
    let mut index = HistoryIndex::new(settings.history.clone(), writer).unwrap();
    let place = scan(&*real_world().fs, &settings.roots).found;
    let place = place.iter().find(|found| found.path.ends_with(path.file_name().unwrap())).unwrap();
    index.take_up(writer, &place.path, &place.place().unwrap()).unwrap();
    let mut step = writer.step().unwrap();
    index.read(&*real_world().fs, &mut step, &place.path, u64::MAX).unwrap();
    step.commit().unwrap();
}

/// More looks than any of these waits takes.
const IN_VAIN: usize = 25;

/// Waits, with `then` done after the first look, until it is over. Who waits in vain is interrupted.
fn wait_while(settings: &Settings, then: impl FnOnce()) -> IndexReport {
    let (mut then, mut looks) = (Some(then), 0);
    let report = wait_at_most(PATIENCE, settings, &real_world(), None, &mut |_| {
        then.take().into_iter().for_each(|then| then());
        looks += 1;
        looks < IN_VAIN
    });
    report.unwrap().unwrap()
}

#[test]
fn what_has_become_shorter_meanwhile_is_waited_for_as_it_is_now() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    says(&settings, "a", "stored");
    let mut writer = sleeper(&settings);
    says(&settings, "a", "much more that was never stored");
    let report = wait_while(&settings, || {
        std::fs::write(transcript(&settings, "a"), "").unwrap();
        says(&settings, "a", "less");
        stores(&mut writer, &settings, "a");
    });
    assert_eq!((report.interrupted, report.files, report.skipped), (false, 1, 0));
}

#[test]
fn what_is_gone_meanwhile_is_waited_for_no_longer_however_much_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let _writer = sleeper(&settings);
    let all: Vec<String> = (0..FEW + 6).map(|n| format!("a{n}")).collect();
    all.iter().for_each(|session| says(&settings, session, "not stored"));
    let report = wait_while(&settings, || {
        all.iter().for_each(|session| std::fs::remove_file(transcript(&settings, session)).unwrap());
    });
    assert_eq!((report.interrupted, report.problems), (false, all.len() as u64));
}

#[test]
fn what_is_forgotten_meanwhile_is_waited_for_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    says(&settings, "a", "stored");
    says(&settings, "b", "stored too");
    let mut writer = sleeper(&settings);
    says(&settings, "a", "not stored any more");
    let subagent = settings.roots[0].join("projects/-home-dev-x/agent-0a1b.jsonl");
    let report = wait_while(&settings, || {
        let gone = Removal::Forget(SessionId::new("a"));
        let data_dir = settings.data_dir.as_deref().unwrap();
        carry_out(&mut writer, data_dir, &gone, Timestamp::from_millis(5), &mut |_| ()).unwrap();
    });
    let counted = (report.interrupted, report.files, report.skipped, report.problems);
    assert_eq!(counted, (false, 1, 1, 0));
    // Whose a subagent of a 1.0.x client is, only its records tell.
    std::fs::copy(transcript(&settings, "a"), subagent).unwrap();
    assert!(!wait_while(&settings, || ()).interrupted);
    let lag = stored::lag(&writer, &*real_world().fs, &settings.roots, &settings.history).unwrap();
    assert_eq!(lag, stored::Lag::default());
}

#[test]
fn what_was_written_anew_in_as_many_bytes_is_waited_for_and_what_was_only_touched_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    says(&settings, "a", "first words");
    let mut writer = sleeper(&settings);
    let path = transcript(&settings, "a");
    let touch = |seconds| {
        let at = SystemTime::now() - Duration::from_secs(seconds);
        File::options().append(true).open(&path).unwrap().set_modified(at).unwrap();
    };
    let wait = || wait_at_most(Duration::ZERO, &settings, &real_world(), None, &mut |_| true);
    touch(0);
    assert_eq!(wait().unwrap().map(|report| report.skipped), Some(1));
    // A copy from a backup is older than what it replaces.
    for (words, age) in [("other words", 0), ("third words", 3_600)] {
        let text = std::fs::read_to_string(&path).unwrap();
        let before = text.split('"').rfind(|part| part.ends_with(" words")).unwrap().to_owned();
        std::fs::write(&path, text.replace(&before, words)).unwrap();
        touch(age);
        assert!(wait().is_err(), "{words}");
        stores(&mut writer, &settings, "a");
        assert!(wait().is_ok(), "{words}");
    }
}

#[test]
fn for_a_large_file_a_slow_disk_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let _writer = sleeper(&settings);
    says(&settings, "a", "small");
    let world = real_world();
    let slow_disk = || {
        let mut awaited = Awaited::list(&settings, &world, None).unwrap();
        awaited.look(false).unwrap();
        awaited.slow_disk()
    };
    assert_eq!(slow_disk(), Duration::ZERO);
    File::options().append(true).open(transcript(&settings, "a")).unwrap().set_len(2_000_000_000).unwrap();
    assert_eq!(slow_disk(), Duration::from_secs(200));
}

#[test]
fn the_files_that_are_behind_are_named_and_nothing_is_said_that_nobody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let _writer = sleeper(&settings);
    ["a", "b", "c", "d"].iter().for_each(|session| says(&settings, session, "not stored"));
    let error = wait_at_most(Duration::ZERO, &settings, &real_world(), None, &mut |_| true).unwrap_err();
    let said = error.message.replace(&*folder.path().canonicalize().unwrap().to_string_lossy(), "HOME");
    let pid = std::process::id();
    let files = ["a", "b", "c", "d"].map(|name| format!("HOME/.claude/projects/-home-dev-x/{name}.jsonl"));
    assert!(said.starts_with(&format!("process {pid} keeps the history, and has stored nothing more for ")));
    assert!(
        said.contains(" though 4 files (") && said.contains(", …) are not stored to the end; "),
        "{said}"
    );
    assert_eq!(files.iter().filter(|file| said.contains(*file)).count(), NAMED, "{said}");
    assert!(!said.contains("folders"), "{said}");
}

#[test]
fn what_another_process_never_stores_is_waited_for_no_longer_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    says(&settings, "a", "stored");
    let writer = sleeper(&settings);
    let run = index::run(&settings, &real_world(), Options::default(), &mut |_| true).unwrap();
    let Indexed::ByAnother { pid } = run else { panic!("it may not write") };
    assert_eq!(pid, Some(std::process::id()));
    let wait = || wait_at_most(Duration::ZERO, &settings, &real_world(), pid, &mut |_| true);
    let report = wait().unwrap().unwrap();
    assert_eq!((report.files, report.skipped, report.bytes, report.kept_by), (1, 1, 0, pid));
    // Nobody can store this, so nobody is waited for.
    let senseless = settings.roots[0].join("projects/-home-dev-x/senseless.jsonl");
    std::fs::write(senseless, b"\xff no record\n{\"type\":").unwrap();
    assert_eq!(wait().unwrap().map(|report| (report.files, report.problems)), Some((2, 1)));
    says(&settings, "b", "not stored");
    let error = wait().unwrap_err();
    let said = format!("process {} keeps", std::process::id());
    assert!(error.message.contains(&said) && error.message.contains("1 file ("), "{}", error.message);
    // Nor can what is no longer there.
    std::fs::remove_file(settings.roots[0].join("projects/-home-dev-x/b.jsonl")).unwrap();
    says(&settings, "a", "goes on");
    let mut file = Some(settings.roots[0].join("projects/-home-dev-x/a.jsonl"));
    let gone = wait_at_most(Duration::ZERO, &settings, &real_world(), pid, &mut |_| {
        file.take().is_none_or(|file| std::fs::remove_file(file).is_ok())
    });
    assert_eq!(gone.unwrap().map(|report| report.problems), Some(2));
    drop(writer);
    assert_eq!(wait().unwrap(), None, "nobody writes any more");
}

#[test]
fn what_holds_no_record_any_more_is_waited_for_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    ["a", "b"].iter().for_each(|session| says(&settings, session, "stored"));
    let mut writer = sleeper(&settings);
    std::fs::write(transcript(&settings, "a"), "").unwrap();
    std::fs::write(transcript(&settings, "b"), "{\"type\":").unwrap();
    let wait = || wait_at_most(Duration::ZERO, &settings, &real_world(), None, &mut |_| true);
    let before = wait().unwrap().map(|report| (report.skipped, report.problems));
    assert_eq!(before, Some((1, 1)), "the other one has not noticed it");
    ["a", "b"].iter().for_each(|session| stores(&mut writer, &settings, session));
    let after = wait().unwrap().map(|report| (report.skipped, report.problems));
    assert_eq!(after, Some((1, 1)), "it has");
    let lag = stored::lag(&writer, &*real_world().fs, &settings.roots, &settings.history).unwrap();
    assert_eq!(lag, stored::Lag::default());
    says(&settings, "a", "something");
    assert!(wait().is_err(), "that can be stored");
}

#[test]
fn many_that_hold_no_record_are_not_waited_for_either() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let _writer = sleeper(&settings);
    let many = FEW + 6;
    (0..many).for_each(|n| std::fs::write(transcript(&settings, &format!("a{n}")), "nothing\n").unwrap());
    let report = wait_at_most(Duration::ZERO, &settings, &real_world(), None, &mut |_| true);
    assert_eq!(report.unwrap().map(|report| report.problems), Some(many as u64));
}

/// The disk as it was listed before the last line came.
struct Earlier(Arc<dyn Fs>);

impl Fs for Earlier {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.0.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.0.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.0.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
        let mut walk = self.0.walk(top, want);
        walk.files.iter_mut().for_each(|(_, stat)| stat.len -= 1);
        walk
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(path)
    }
}

#[test]
fn what_was_stored_since_the_files_were_listed_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    says(&settings, "a", "stored");
    let _writer = sleeper(&settings);
    let World { fs, processes } = real_world();
    let world = World { fs: Arc::new(Earlier(fs)), processes };
    let report = wait_at_most(Duration::ZERO, &settings, &world, None, &mut |_| true).unwrap();
    assert_eq!(report.map(|report| (report.files, report.skipped)), Some((1, 1)));
}

#[test]
fn what_was_left_out_is_waited_for_as_soon_as_the_rule_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let mut excluding = settings.clone();
    excluding.history.exclude = Exclude::new(["/home/dev/x/**".to_owned()]);
    says(&settings, "a", "hidden");
    let mut writer = sleeper(&excluding);
    let wait = |settings| wait_at_most(Duration::ZERO, settings, &real_world(), None, &mut |_| true);
    assert!(wait(&excluding).unwrap().is_some());
    let error = wait(&settings).unwrap_err();
    assert!(error.message.contains("leaves out something else"), "{}", error.message);
    left_out::carry_out(
        &mut writer,
        &*real_world().fs,
        &settings.history,
        &settings.roots,
        SystemClock.now(),
    )
    .unwrap();
    let error = wait(&settings).unwrap_err();
    assert!(error.message.contains("1 file ("), "{}", error.message);
}

#[test]
fn who_writes_by_now_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let writer = Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap();
    // Another one wrote when it was looked for.
    let report = wait_at_most(Duration::ZERO, &settings, &real_world(), Some(7), &mut |_| true);
    assert_eq!(report.unwrap().unwrap().kept_by, Some(std::process::id()));
    drop(writer);
}

#[test]
fn who_keeps_the_history_and_cannot_begin_it_is_said_to_be_the_one() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    std::fs::create_dir(folder.path().join("data")).unwrap();
    // Another one that may write, and has had no room for it.
    let lock = std::fs::File::create(folder.path().join("data/writer.lock")).unwrap();
    lock.lock().unwrap();
    let options = Options::default();
    let ran = index::run(&settings, &real_world(), options, &mut |_| true).unwrap();
    assert_eq!(ran, Indexed::ByAnother { pid: None });
    let wait = wait_at_most(Duration::ZERO, &settings, &real_world(), Some(7), &mut |_| true);
    assert!(wait.unwrap_err().message.starts_with("process 7 keeps the history, and has stored nothing yet"));
}
