//! Whoever turns to the window sees what is so, also on a disk that tells nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use watchbill_core::time::Millis;
use watchbill_engine::clock::ManualClock;
use watchbill_engine::engine::World;
use watchbill_engine::handle::{Handle, real_world, start_in};
use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, Want};
use watchbill_watch::hints::HintSet;

use crate::ear::{Ear, Folder, now, row};
use crate::records::Author;

fn state(handle: &Handle, author: &Author) -> String {
    row(&handle.roster(true).unwrap(), author).unwrap().state.clone()
}

#[test]
fn a_turn_to_the_window_looks_at_everything_but_not_when_that_has_just_been_done() {
    let folder = Folder::new();
    let author = folder.author(1);
    let begin = now();
    folder.append(&author, &author.prompt(1, begin));
    let clock = ManualClock::new(begin);
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let told = Arc::new(Notify::new());
    let handle =
        start_in(folder.settings(), real_world(), Arc::new(clock.clone()), Some(silent), told).unwrap();
    let ear = Ear::of(handle);
    folder.append(&author, &author.answer(2, begin));

    // The window gets the focus as it opens, and the first scan has only just looked at everything.
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "working");

    clock.set(begin + Millis::from_secs(1));
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "waiting_for_input");

    // A clock that went back by an hour must not keep everything fresh for that hour.
    clock.set(begin - Millis::from_secs(3600));
    folder.append(&author, &author.prompt(3, begin));
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &author), "working");
}

/// The disk, on which a look at everything that has been to the transcripts goes on when it may.
struct SlowFs {
    inner: Arc<dyn Fs>,
    been_there: Sender<()>,
    may_go_on: Mutex<Receiver<()>>,
}

impl Fs for SlowFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.inner.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.inner.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.inner.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
        let mut transcripts = false;
        let walk = self.inner.walk(top, &mut |path, kind| {
            transcripts |= path.extension().is_some_and(|suffix| suffix == "jsonl");
            want(path, kind)
        });
        if transcripts && std::thread::current().name() == Some("watchbill-rescan") {
            let _ = self.been_there.send(());
            let _ = self.may_go_on.lock().unwrap().recv();
        }
        walk
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.canonical(path)
    }
}

#[test]
fn what_a_look_finds_that_took_long_is_as_old_as_its_beginning() {
    let folder = Folder::new();
    let (first, second) = (folder.author(1), folder.author(2));
    let begin = now();
    folder.append(&first, &first.prompt(1, begin));
    let clock = ManualClock::new(begin);
    let (been_there, passed) = channel();
    let (go_on, may_go_on) = channel();
    let World { fs: inner, processes } = real_world();
    let fs = Arc::new(SlowFs { inner, been_there, may_go_on: Mutex::new(may_go_on) });
    let silent = Box::new(Arc::new(HintSet::new(|| {})));
    let (world, told) = (World { fs, processes }, Arc::new(Notify::new()));
    let handle = start_in(folder.settings(), world, Arc::new(clock.clone()), Some(silent), told).unwrap();
    passed.recv().unwrap();
    folder.append(&second, &second.prompt(2, begin));
    clock.set(begin + Millis::from_secs(1));
    drop(go_on);
    let ear = Ear::of(handle);
    assert!(row(&ear.copy, &second).is_none(), "it had been there before");
    ear.handle.look_again();
    assert_eq!(state(&ear.handle, &second), "working");
}
