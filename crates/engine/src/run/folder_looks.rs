//! Looks at working folders on other threads, so that a dead mount does not block the engine.
//!
//! A thread starts when a look is requested and no thread is free. It ends after some time without work. A mount that
//! never answers blocks one thread and its own folder; other threads look at all other folders.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use watchbill_watch::fs::Fs;

use crate::witnesses::folders::{FolderLook, look};

/// Limit of threads. As many dead mounts would block all of them.
const MAX_THREADS: usize = 4;
/// A thread with nothing to do ends after this long.
const LINGER: Duration = Duration::from_secs(10);

/// The queue of requested looks.
pub struct FolderLooks(Arc<Shared>);

struct Shared {
    fs: Arc<dyn Fs>,
    tell: Box<dyn Fn(FolderLook) -> bool + Send + Sync>,
    asked: Mutex<LookQueue>,
    bell: Condvar,
}

#[derive(Default)]
struct LookQueue {
    waiting: BTreeSet<PathBuf>,
    under_way: BTreeSet<PathBuf>,
    threads: usize,
    over: bool,
}

impl FolderLooks {
    /// An empty queue. Calls `tell` with each look, from any thread; `tell` returns `false` to end the looks, and must
    /// not block.
    pub fn new(fs: Arc<dyn Fs>, tell: impl Fn(FolderLook) -> bool + Send + Sync + 'static) -> Self {
        let shared = Shared { fs, tell: Box::new(tell), asked: Mutex::default(), bell: Condvar::new() };
        Self(Arc::new(shared))
    }

    /// Requests a look. If one at this folder is under way, another one follows, because the first may miss the change.
    pub fn ask(&self, folder: PathBuf) {
        let mut asked = self.0.lock();
        asked.waiting.insert(folder);
        let free = asked.threads - asked.under_way.len();
        if free >= asked.waiting.len() || asked.threads >= MAX_THREADS {
            self.0.bell.notify_one();
            return;
        }
        let shared = Arc::clone(&self.0);
        let thread =
            std::thread::Builder::new().name("watchbill-folders".into()).spawn(move || shared.work());
        match thread {
            Ok(_) => asked.threads += 1,
            Err(error) => {
                tracing::error!(%error, "the system gives no thread; working folders are not looked at")
            }
        }
    }

    /// The number of folders that were requested and not looked at yet.
    pub fn outstanding(&self) -> usize {
        let asked = self.0.lock();
        asked.waiting.len() + asked.under_way.len()
    }
}

impl Drop for FolderLooks {
    fn drop(&mut self) {
        self.0.lock().over = true;
        // Do not wait for the threads: one of them may never return.
        self.0.bell.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, LookQueue> {
        // The sets and the number stay consistent after any panic.
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(folder) = self.next() {
            let found = look(&*self.fs, &folder);
            // Under one lock. So the later of two looks at one folder is told last, and after the last `tell` nothing
            // is outstanding.
            let mut asked = self.lock();
            asked.under_way.remove(&folder);
            asked.over |= !(self.tell)(found);
        }
    }

    /// The next folder that no other thread looks at; `None` if the thread must end.
    fn next(&self) -> Option<PathBuf> {
        let mut asked = self.lock();
        loop {
            let free = asked.waiting.iter().find(|folder| !asked.under_way.contains(*folder)).cloned();
            if asked.over {
                asked.threads -= 1;
                return None;
            }
            if let Some(folder) = free {
                asked.waiting.remove(&folder);
                asked.under_way.insert(folder.clone());
                return Some(folder);
            }
            let (again, rest) = self.bell.wait_timeout(asked, LINGER).unwrap_or_else(PoisonError::into_inner);
            asked = again;
            if rest.timed_out() && asked.waiting.is_empty() {
                asked.threads -= 1;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;
    use std::sync::mpsc;

    use watchbill_watch::fs::{FileKind, FileStat, Name, ReadAt, Walk, WalkChoice};
    use watchbill_watch::mem::MemFs;

    use super::*;

    /// A file system with a mount that answers only after a signal, and says when a look at it is under way.
    struct DeadMount {
        rest: MemFs,
        begun: mpsc::Sender<()>,
        answers: Mutex<mpsc::Receiver<()>>,
    }

    impl Fs for DeadMount {
        fn stat(&self, path: &Path) -> io::Result<FileStat> {
            self.rest.stat(path)
        }

        fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
            self.rest.open(path)
        }

        fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
            if dir.starts_with("/dead") {
                self.begun.send(()).map_err(io::Error::other)?;
                let answers = self.answers.lock().unwrap();
                answers.recv().map_err(io::Error::other)?;
            }
            self.rest.list(dir)
        }

        fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
            self.rest.walk(top, want)
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            self.rest.canonical(path)
        }
    }

    #[test]
    fn a_dead_mount_does_not_delay_looks_at_other_folders() {
        let rest = MemFs::new();
        for n in 0..20 {
            rest.write(format!("/alive/{n}/.claude/compacted.s.marker"), b"{}");
        }
        rest.write("/dead/.claude/compacted.s.marker", b"{}");
        let (answer, answers) = mpsc::channel();
        let (begun, begins) = mpsc::channel();
        let fs = Arc::new(DeadMount { rest, begun, answers: Mutex::new(answers) });
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let looks =
            FolderLooks::new(fs, move |look| sender.lock().is_ok_and(|sender| sender.send(look).is_ok()));
        let patience = Duration::from_secs(60);
        looks.ask("/dead/.claude".into());
        for n in 0..20 {
            looks.ask(format!("/alive/{n}/.claude").into());
        }
        for _ in 0..20 {
            let look = receiver.recv_timeout(patience).unwrap();
            assert!(look.folder.starts_with("/alive"));
            assert_eq!(look.files.len(), 1);
        }
        assert_eq!(looks.outstanding(), 1);
        // Until a thread has taken the request, another one for the same folder adds no look.
        begins.recv_timeout(patience).unwrap();
        // A request during a look: a second look follows the first.
        looks.ask("/dead/.claude".into());
        answer.send(()).unwrap();
        answer.send(()).unwrap();
        for _ in 0..2 {
            assert_eq!(receiver.recv_timeout(patience).unwrap().folder, Path::new("/dead/.claude"));
        }
    }
}
