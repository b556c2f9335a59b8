//! A file system that notes every file that is opened and every byte that is read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, Want};

/// Another file system, watched.
pub struct CountingFs {
    inner: Arc<dyn Fs>,
    pub notes: Arc<Notes>,
}

#[derive(Default)]
pub struct Notes {
    pub opened: Mutex<Vec<PathBuf>>,
    pub bytes: Arc<AtomicU64>,
}

impl Notes {
    /// Bytes that were read, of whatever files.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::SeqCst)
    }

    pub fn opened(&self) -> Vec<PathBuf> {
        self.opened.lock().unwrap().clone()
    }
}

impl CountingFs {
    pub fn new(inner: impl Fs + 'static) -> Self {
        Self { inner: Arc::new(inner), notes: Arc::default() }
    }
}

struct CountingFile(Box<dyn ReadAt>, Arc<AtomicU64>);

impl ReadAt for CountingFile {
    fn stat(&self) -> io::Result<FileStat> {
        self.0.stat()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let got = self.0.read_at(buf, offset)?;
        self.1.fetch_add(got as u64, Ordering::SeqCst);
        Ok(got)
    }
}

impl Fs for CountingFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.inner.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.notes.opened.lock().unwrap().push(path.to_owned());
        Ok(Box::new(CountingFile(self.inner.open(path)?, Arc::clone(&self.notes.bytes))))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.inner.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
        self.inner.walk(top, want)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner.canonical(path)
    }
}
