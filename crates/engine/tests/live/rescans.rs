//! Changes without an event are seen all the same: on a disk that reports no events, and before the watches are
//! active.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use watchbill_core::problem::Problem;
use watchbill_core::time::Millis;
use watchbill_engine::clock::ManualClock;
use watchbill_engine::engine::Sources;
use watchbill_engine::handle::{Handle, real_sources, start_in};
use watchbill_engine::world::source::HintSource;
use watchbill_protocol::doctor::WatchMode;
use watchbill_settings::Settings;
use watchbill_watch::fs::{FileStat, ReadAt};
use watchbill_watch::hints::{Hint, HintSet};
use watchbill_watch::process::Processes;

use crate::counting_fs::CountingFs;
#[cfg(target_os = "linux")]
use crate::processes::StandIn;
use crate::records::SessionWriter;
use crate::subscriber::{Folder, Subscriber, now, row};

fn state(handle: &Handle, author: &SessionWriter) -> String {
    row(&handle.roster(true).unwrap(), author).unwrap().state.clone()
}

#[test]
fn a_window_focus_rescans_unless_a_scan_has_just_ended() {
    let folder = Folder::new();
    let author = folder.author(1);
    let begin = now();
    folder.append(&author, &author.prompt(1, begin));
    let clock = ManualClock::new(begin);
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let told = Arc::new(Notify::new());
    let handle =
        start_in(folder.settings(), real_sources(), Arc::new(clock.clone()), Some(silent), told).unwrap();
    let subscriber = Subscriber::of(handle);
    folder.append(&author, &author.answer(2, begin));

    // The window gets the focus as it opens, and the first scan has just looked at everything.
    subscriber.handle.look_again();
    assert_eq!(state(&subscriber.handle, &author), "working");

    clock.set(begin + Millis::from_secs(1));
    subscriber.handle.look_again();
    assert_eq!(state(&subscriber.handle, &author), "waiting_for_input");

    // A clock that went back by an hour must not make the last look count as fresh for that hour.
    clock.set(begin - Millis::from_secs(3600));
    folder.append(&author, &author.prompt(3, begin));
    subscriber.handle.look_again();
    assert_eq!(state(&subscriber.handle, &author), "working");
}

/// Stops a thread here until the test lets it go on: by a message, or by dropping the sender. The receiver gets a
/// message when the thread arrives.
fn gate() -> (impl Fn() + Send + Sync, Receiver<()>, Sender<()>) {
    let (been_here, passed) = channel();
    let (go_on, may_go_on) = channel();
    let may_go_on = Mutex::new(may_go_on);
    let stop_here = move || {
        let _ = been_here.send(());
        let _ = may_go_on.lock().unwrap().recv();
    };
    (stop_here, passed, go_on)
}

/// The real disk, on which a rescan that has read the transcripts waits at `stop_here`.
fn slow_look(stop_here: impl Fn() + Send + Sync + 'static) -> (CountingFs, Arc<dyn Processes>) {
    let Sources { fs, processes } = real_sources();
    let fs = CountingFs::new(fs).on_walk(move |walk| {
        let is_transcript = |path: &Path| path.extension().is_some_and(|suffix| suffix == "jsonl");
        let transcripts = walk.files.iter().any(|(path, _)| is_transcript(path));
        if transcripts && std::thread::current().name() == Some("watchbill-rescan") {
            stop_here();
        }
    });
    (fs, processes)
}

#[test]
fn a_slow_scans_result_counts_from_its_beginning() {
    let folder = Folder::new();
    let (first, second) = (folder.author(1), folder.author(2));
    let begin = now();
    folder.append(&first, &first.prompt(1, begin));
    let clock = ManualClock::new(begin);
    let (stop_here, passed, go_on) = gate();
    let (fs, processes) = slow_look(stop_here);
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let (world, told) = (Sources { fs: Arc::new(fs), processes }, Arc::new(Notify::new()));
    let handle = start_in(folder.settings(), world, Arc::new(clock.clone()), Some(silent), told).unwrap();
    passed.recv().unwrap();
    folder.append(&second, &second.prompt(2, begin));
    clock.set(begin + Millis::from_secs(1));
    drop(go_on);
    let subscriber = Subscriber::of(handle);
    assert!(row(&subscriber.copy, &second).is_none(), "it had been there before");
    subscriber.handle.look_again();
    assert_eq!(state(&subscriber.handle, &second), "working");
}

/// A source that reports only lost events, and becomes active when the test says so.
#[derive(Clone, Default)]
struct LateSource {
    stands: Arc<AtomicBool>,
    lost: Arc<AtomicBool>,
}

impl LateSource {
    /// Makes the watches active, and wakes the engine.
    fn activate(&self, told: &Notify) {
        self.stands.store(true, Ordering::Release);
        told.notify_one();
    }
}

impl HintSource for LateSource {
    fn stands(&self) -> bool {
        self.stands.load(Ordering::Acquire)
    }

    fn take(&self) -> BTreeSet<Hint> {
        self.lost.swap(false, Ordering::AcqRel).then_some(Hint::Everything).into_iter().collect()
    }

    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    fn mode_of(&self, _root: &Path) -> WatchMode {
        WatchMode::Native
    }

    fn watch_folder(&mut self, _folder: &Path) {}

    fn watch_beside(&mut self, _folder: &Path) {}

    fn unwatch_folder(&mut self, _folder: &Path) {}
}

#[cfg(target_os = "linux")]
#[test]
fn changes_before_the_watches_were_active_are_read_once_they_are() {
    let folder = Folder::new();
    let (author, other) = (folder.author(1), folder.author(2));
    folder.append(&author, &author.prompt(1, now()));
    folder.append(&other, &other.prompt(2, now()));
    // The rescan that ends the first scan takes longer than the test.
    let (stop_here, _passed, go_on) = gate();
    let (fs, processes) = slow_look(stop_here);
    let (world, told, late) =
        (Sources { fs: Arc::new(fs), processes }, Arc::new(Notify::new()), LateSource::default());
    let (clock, source) = (Arc::new(ManualClock::new(now())), Box::new(late.clone()));
    let handle = start_in(folder.settings(), world, clock, Some(source), Arc::clone(&told)).unwrap();
    let mut subscriber = Subscriber::from_the_first(handle);
    subscriber.until_state(&author, "working");
    subscriber.until_state(&other, "working");

    folder.append(&author, &author.answer(3, now()));
    let process = StandIn::start(&folder, &other, "waiting");
    late.activate(&told);
    subscriber.until_state(&author, "waiting_for_input");
    subscriber.until_state(&other, "waiting_for_input");
    assert!(subscriber.copy.reading, "the first scan has not ended");
    drop((go_on, process));
}

#[test]
fn a_session_begun_before_the_watches_were_active_is_found_after_the_scan() {
    let folder = Folder::new();
    let (author, other) = (folder.author(1), folder.author(2));
    folder.append(&author, &author.prompt(1, now()));
    let (told, late) = (Arc::new(Notify::new()), LateSource::default());
    let (clock, source) = (Arc::new(ManualClock::new(now())), Box::new(late.clone()));
    let handle = start_in(folder.settings(), real_sources(), clock, Some(source), Arc::clone(&told)).unwrap();
    let mut subscriber = Subscriber::from_the_first(handle);
    while subscriber.copy.reading {
        // A rescan does not end the first scan until that has read everything.
        late.lost.store(true, Ordering::Release);
        told.notify_one();
        subscriber.add_hook_event(Duration::from_millis(20));
    }
    folder.append(&other, &other.prompt(2, now()));
    late.activate(&told);
    subscriber.until_state(&other, "working");
}

/// A file with its earlier content.
struct FileSnapshot(FileStat, Vec<u8>);

impl ReadAt for FileSnapshot {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(self.0)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.1.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let read = rest.len().min(buf.len());
        buf[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

#[test]
fn a_new_session_beside_stored_ones_does_not_wait_for_the_end_of_the_scan() {
    let folder = Folder::new();
    let settings =
        || Settings { data_dir: Some(folder.root.parent().unwrap().join("data")), ..folder.settings() };
    let (known, new) = (folder.author(1), folder.author(2));
    folder.append(&known, &known.prompt(1, now()));
    Subscriber::on(settings()).handle.stop();
    folder.append(&new, &new.prompt(2, now()));

    let (stop_once_read, has_read, go_on) = gate();
    let (never_end, _passed, _never) = gate();
    let (fs, processes) = slow_look(never_end);
    // The first scan stops when it has opened a file, and then reads the file's earlier content.
    let fs = fs.on_open(move |path, file| {
        if std::thread::current().name() != Some("watchbill-scan") {
            return file;
        }
        let as_it_was = FileSnapshot(file.stat().unwrap(), std::fs::read(path).unwrap());
        stop_once_read();
        Box::new(as_it_was)
    });
    let (world, told, late) =
        (Sources { fs: Arc::new(fs), processes }, Arc::new(Notify::new()), LateSource::default());
    let (clock, source) = (Arc::new(ManualClock::new(now())), Box::new(late.clone()));
    let handle = start_in(settings(), world, clock, Some(source), Arc::clone(&told)).unwrap();
    let mut subscriber = Subscriber::from_the_first(handle);
    has_read.recv().unwrap();
    folder.append(&new, &new.answer(3, now()));
    // The engine looks at shown sessions again as soon as the watches are active. One more line in the known session
    // shows that it has done so. A line after that look would never be noticed.
    folder.append(&known, &known.answer(4, now()));
    late.activate(&told);
    subscriber.until_state(&known, "waiting_for_input");
    go_on.send(()).unwrap();
    subscriber.until_state(&new, "waiting_for_input");
    assert!(subscriber.copy.reading, "the first scan has not ended");
}
