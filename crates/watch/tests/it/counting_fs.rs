//! A file system that counts opened files and read bytes. A test can act when a file is opened or a walk is over.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, WalkChoice};

type OnOpen = dyn Fn(&Path, Box<dyn ReadAt>) -> Box<dyn ReadAt> + Send + Sync;
type OnWalk = dyn Fn(&Walk) + Send + Sync;

/// Wraps another file system.
pub struct CountingFs {
    inner: Arc<dyn Fs>,
    pub notes: Arc<Notes>,
    on_open: Box<OnOpen>,
    on_walk: Box<OnWalk>,
}

#[derive(Default)]
pub struct Notes {
    opened: Mutex<Vec<PathBuf>>,
    bytes: AtomicU64,
}

impl Notes {
    /// Bytes read of all files.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    /// Every opened file, in order.
    pub fn opened(&self) -> Vec<PathBuf> {
        self.opened.lock().expect("no test panics with it").clone()
    }
}

impl CountingFs {
    pub fn new(inner: Arc<dyn Fs>) -> Self {
        Self { inner, notes: Arc::default(), on_open: Box::new(|_, file| file), on_walk: Box::new(|_| {}) }
    }

    /// `on_open` returns the file that is read instead of the opened one.
    pub fn on_open(
        self,
        on_open: impl Fn(&Path, Box<dyn ReadAt>) -> Box<dyn ReadAt> + Send + Sync + 'static,
    ) -> Self {
        Self { on_open: Box::new(on_open), ..self }
    }

    /// `on_walk` runs on the walking thread, before the caller gets the result.
    pub fn on_walk(self, on_walk: impl Fn(&Walk) + Send + Sync + 'static) -> Self {
        Self { on_walk: Box::new(on_walk), ..self }
    }
}

struct CountingFile(Box<dyn ReadAt>, Arc<Notes>);

impl ReadAt for CountingFile {
    fn stat(&self) -> io::Result<FileStat> {
        self.0.stat()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let got = self.0.read_at(buf, offset)?;
        self.1.bytes.fetch_add(got as u64, Ordering::SeqCst);
        Ok(got)
    }
}

impl Fs for CountingFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.inner.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.notes.opened.lock().expect("no test panics with it").push(path.to_owned());
        let file = (self.on_open)(path, self.inner.open(path)?);
        Ok(Box::new(CountingFile(file, Arc::clone(&self.notes))))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.inner.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let walk = self.inner.walk(top, want);
        (self.on_walk)(&walk);
        walk
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.canonical(path)
    }
}
