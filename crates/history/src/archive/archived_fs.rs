//! A file system that shows archived transcripts at the paths of deleted ones.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use watchbill_core::time::Timestamp;
use watchbill_store::archive::{ARCHIVE, Archive, frames::Frames};
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::{OpenMode, Store, StoreError};
use watchbill_watch::fs::{FileId, FileKind, FileStat, Fs, Name, ReadAt, Walk, WalkChoice, is_gone};

use super::archive_candidates::META;

/// Wraps `fs` so that archived transcripts appear at the paths of deleted ones, also those that are archived later.
/// Returns `fs` unchanged without a data folder.
pub fn over(fs: Arc<dyn Fs>, data_dir: Option<&Path>) -> Arc<dyn Fs> {
    match data_dir {
        Some(data_dir) => Arc::new(ArchivedFs::over(fs, data_dir)),
        None => fs,
    }
}

/// A file system in which an archived transcript exists, even if its own file is gone.
pub struct ArchivedFs {
    real: Arc<dyn Fs>,
    archive: Archive,
    data_dir: PathBuf,
    /// The archive's folder, which may not exist yet.
    folder: PathBuf,
    /// Opened when it is first needed, and again after an error.
    store: Mutex<Option<Store>>,
}

impl ArchivedFs {
    /// Wraps another file system.
    pub fn over(real: Arc<dyn Fs>, data_dir: &Path) -> Self {
        let archive = Archive::new(data_dir);
        let folder = data_dir.join(ARCHIVE);
        Self { real, archive, data_dir: data_dir.to_path_buf(), folder, store: Mutex::new(None) }
    }

    /// Queries the store. An unknown path, or a store that cannot answer, counts as not archived. Most users archive
    /// nothing: for them, every missing file costs one more look at a folder.
    fn ask<T: Default>(&self, ask: impl FnOnce(&Store) -> Result<T, StoreError>) -> T {
        if !self.folder.is_dir() {
            return T::default();
        }
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if !store.as_ref().is_some_and(Store::is_in_place) {
            *store = Store::open(&self.data_dir, OpenMode::Read).ok();
        }
        let Some(open) = &*store else { return T::default() };
        ask(open).unwrap_or_else(|error| {
            tracing::debug!(%error, "the store cannot answer a query about the archive");
            *store = None;
            T::default()
        })
    }

    /// The meta file beside the transcript of an archived subagent. The archive keeps it with the transcript.
    fn meta_file(&self, path: &Path) -> Option<Vec<u8>> {
        let transcript = format!("{}.jsonl", path.to_str()?.strip_suffix(META)?);
        let row = self.ask(|store| store.archived(&transcript))?;
        Some(self.archive.open(&row).ok()?.label()?.meta.clone()?.into_bytes())
    }

    fn archived(&self, path: &Path) -> Option<ArchiveRow> {
        // Only transcripts are archived. Callers also ask for other files that are often missing, mostly `.git`.
        let path = path.to_str().filter(|path| path.ends_with(".jsonl"))?;
        self.ask(|store| store.archived(path))
    }
}

/// The `stat` that the transcript itself had, so that the file seems unchanged.
fn stat_of(row: &ArchiveRow) -> FileStat {
    let id = FileId { dev: row.dev, ino: row.inode };
    FileStat { id, len: row.bytes, mtime: row.mtime, kind: FileKind::File }
}

impl Fs for ArchivedFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        match self.real.stat(path) {
            Err(error) if is_gone(&error) => self.archived(path).map(|row| stat_of(&row)).ok_or(error),
            other => other,
        }
    }

    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        self.real.changed_at(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        match self.real.open(path) {
            Err(error) if is_gone(&error) => {
                let row = self.archived(path).ok_or(error)?;
                let frames = self.archive.open(&row).map_err(io::Error::other)?;
                Ok(Box::new(ArchivedFile { frames, stat: stat_of(&row) }))
            }
            other => other,
        }
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        match self.real.open_again(path, named) {
            Err(error) if is_gone(&error) => self.open(path),
            other => other,
        }
    }

    fn close_unread(&self) {
        self.real.close_unread();
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.real.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let mut walk = self.real.walk(top, want);
        let known: HashSet<&Path> = walk.files.iter().map(|(path, _)| &**path).collect();
        let mut gone = Vec::new();
        for row in self.ask(Store::all_archived) {
            let path = PathBuf::from(&row.path);
            let new = path.starts_with(top) && !known.contains(&*path);
            if new && want(&path, FileKind::File) != WalkChoice::Skip {
                gone.push((path, stat_of(&row)));
            }
        }
        walk.files.extend(gone);
        walk
    }

    /// Meta files of archived transcripts appear in this call alone: no caller lists them or uses their `stat`, and
    /// they never change.
    fn read_small(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        match self.real.read_small(path, limit) {
            Err(error) if is_gone(&error) => self.meta_file(path).ok_or(error),
            other => other,
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.real.canonical(path) {
            Err(error) if is_gone(&error) && self.archived(path).is_some() => Ok(path.to_path_buf()),
            other => other,
        }
    }
}

/// An archived transcript, opened at its file's path.
struct ArchivedFile {
    frames: Frames,
    stat: FileStat,
}

impl ReadAt for ArchivedFile {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(self.stat)
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        self.frames.read_at(buf, offset)
    }

    fn check_readable(&self) -> io::Result<()> {
        io::copy(&mut self.frames.reader(), &mut io::sink()).map(drop)
    }
}

#[cfg(test)]
mod tests;
