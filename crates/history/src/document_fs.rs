//! A file system that shows sessions which are documents as transcripts: `NAME.json` at `NAME.jsonl`, unless there is such a file.
//!
//! An agent writes a document anew with every message. So each state of one is a file of its own, and is read from its beginning.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::document::{lines, shown_at};
use watchbill_core::ids::stable_hash;
use watchbill_core::time::Timestamp;
use watchbill_watch::fs::{FileId, FileKind, FileStat, Fs, Name, ReadAt, Walk, WalkChoice, is_gone};

/// The longest document that is read, in bytes. It is in memory while it is read.
const LIMIT: u64 = 64 << 20;

/// A file system in which a document has a transcript.
pub struct DocumentFs {
    real: Arc<dyn Fs>,
}

impl DocumentFs {
    /// Wraps another file system.
    pub fn over(real: Arc<dyn Fs>) -> Self {
        Self { real }
    }

    /// Asks for the file at a path, or else for the document that is shown there.
    fn ask<T>(
        &self,
        path: &Path,
        file: impl FnOnce(&Path) -> io::Result<T>,
        document: impl FnOnce(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        match file(path) {
            Err(error) if is_gone(&error) => match document_of(path) {
                Some(path) => document(&path),
                None => Err(error),
            },
            other => other,
        }
    }

    fn read(&self, document: &Path) -> io::Result<Box<dyn ReadAt>> {
        let stat = self.real.stat(document)?;
        let bytes = self.real.read_small(document, LIMIT)?;
        let is_it = bytes.len() as u64 == stat.len;
        let lines = Some(bytes).filter(|_| is_it).and_then(lines);
        let lines = lines.ok_or_else(|| io::Error::other("its document is not whole"))?;
        Ok(Box::new(Opened { lines, stat: stat_of(stat) }))
    }
}

/// The document that is shown at a path, if no file is there.
fn document_of(path: &Path) -> Option<PathBuf> {
    let document = path.with_extension("json");
    (shown_at(&document)? == path).then_some(document)
}

/// The stat of the transcript. Another state of the document is another file.
fn stat_of(document: FileStat) -> FileStat {
    let FileStat { id, len, mtime, kind } = document;
    let state = [id.ino, len, mtime.as_millis() as u64].map(u64::to_le_bytes).concat();
    FileStat { id: FileId { dev: id.dev, ino: stable_hash(&state) }, len: len + 1, mtime, kind }
}

/// The lines of a document at one moment.
struct Opened {
    lines: Vec<u8>,
    stat: FileStat,
}

impl ReadAt for Opened {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(self.stat)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest =
            usize::try_from(offset).ok().and_then(|offset| self.lines.get(offset..)).unwrap_or_default();
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}

impl Fs for DocumentFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.ask(path, |path| self.real.stat(path), |document| self.real.stat(document).map(stat_of))
    }

    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        self.ask(path, |path| self.real.changed_at(path), |document| self.real.changed_at(document))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.ask(path, |path| self.real.open(path), |document| self.read(document))
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        self.ask(path, |path| self.real.open_again(path, named), |document| self.read(document))
    }

    fn close_unread(&self) {
        self.real.close_unread();
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.real.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let mut walk = self.real.walk(top, &mut |path, kind| match shown_at(path) {
            Some(shown) if kind == FileKind::File => want(&shown, kind),
            _ => want(path, kind),
        });
        walk.files = std::mem::take(&mut walk.files)
            .into_iter()
            .filter_map(|(path, stat)| {
                let Some(shown) = shown_at(&path).filter(|_| stat.kind == FileKind::File) else {
                    return Some((path, stat));
                };
                // The agent may have written it anew as a file of lines.
                self.real.stat(&shown).is_err().then(|| (shown, stat_of(stat)))
            })
            .collect();
        walk
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let shown = |document: &Path| Ok(self.real.canonical(document)?.with_extension("jsonl"));
        self.ask(path, |path| self.real.canonical(path), shown)
    }

    fn read_small(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.real.read_small(path, limit)
    }
}
