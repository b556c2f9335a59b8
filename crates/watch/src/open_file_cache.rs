//! The real file system, with growing files kept open.
//!
//! The agent writes line by line, and two threads read each line. Opening the file for each of them costs more than
//! reading it. The system also reports each opening to all watchers of the folder, and so wakes the watcher's thread
//! for nothing. notify 8 always asks for these events (9.0.0-rc has `EventKindMask`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use watchbill_core::time::Timestamp;

use crate::fs::{
    FileId, FileKind, FileStat, Fs, Name, ReadAt, StdFs, Walk, WalkChoice, is_gone, stat_of_file,
};

/// A file that was not read for this long is closed at the next call. An open file keeps its disk from being
/// unmounted.
const CLOSE_AFTER: Duration = Duration::from_secs(30);

/// The real file system, which keeps files open that are opened repeatedly.
#[derive(Debug, Default)]
pub struct KeptOpen {
    /// The last read file at the end.
    files: Mutex<Vec<OpenFile>>,
}

#[derive(Debug)]
struct OpenFile {
    path: PathBuf,
    /// While the file is open, no other file of this machine has this id.
    id: FileId,
    file: Arc<std::fs::File>,
    read_at: Instant,
}

impl OpenFile {
    /// Compares bytes: callers always use one spelling for a file.
    fn is_at(&self, path: &Path) -> bool {
        self.path.as_os_str() == path.as_os_str()
    }
}

impl KeptOpen {
    /// Most files kept open. More files than this seldom grow at once, and it is far below the limit of a process.
    pub const MAX_OPEN: usize = 16;

    fn files(&self) -> MutexGuard<'_, Vec<OpenFile>> {
        // A panic cannot leave the list half changed.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open file, if `path` still leads to it.
    fn known(&self, path: &Path, named: &FileStat) -> Option<Arc<std::fs::File>> {
        let file = {
            let mut files = self.files();
            let at = files.iter().position(|kept| kept.id == named.id && kept.is_at(path))?;
            files[at..].rotate_left(1);
            let kept = files.last_mut()?;
            kept.read_at = Instant::now();
            Arc::clone(&kept.file)
        };
        // A file removed on another machine is gone there although it is open here, and its inode number may be
        // reused.
        stat_of_file(&file).is_ok_and(|stat| is_as_named(&stat, named)).then_some(file)
    }

    fn keep(&self, kept: OpenFile) {
        let mut files = self.files();
        // Another file had the name before, or another thread has opened it at the same time.
        files.retain(|other| !other.is_at(&kept.path));
        if files.len() >= Self::MAX_OPEN {
            files.remove(0);
        }
        files.push(kept);
    }

    /// Closes files that are not read any more, and the file at the path `gone`.
    fn close_quiet(&self, gone: Option<&Path>) {
        let now = Instant::now();
        let is_over = |kept: &OpenFile| now.saturating_duration_since(kept.read_at) > CLOSE_AFTER;
        self.files().retain(|kept| !is_over(kept) && gone.is_none_or(|gone| !kept.is_at(gone)));
    }
}

/// Whether an open file can be the one that the path's `stat` shows: it has at least that many bytes.
fn is_as_named(open: &FileStat, named: &FileStat) -> bool {
    open.id == named.id && open.len >= named.len
}

impl Fs for KeptOpen {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let stat = StdFs.stat(path);
        let is_gone = stat.as_ref().is_err_and(is_gone);
        self.close_quiet(is_gone.then_some(path));
        stat
    }

    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        StdFs.changed_at(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        StdFs.open(path)
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        if cfg!(windows) {
            // On Windows a name is free for another file only after the last handle is closed.
            return self.open(path);
        }
        if let Some(file) = self.known(path, named) {
            return Ok(Box::new(file));
        }
        let file = Arc::new(StdFs::open_file(path)?);
        // The name may lead to another file by now.
        let id = stat_of_file(&file)?.id;
        self.keep(OpenFile { path: path.to_owned(), id, file: Arc::clone(&file), read_at: Instant::now() });
        Ok(Box::new(file))
    }

    fn close_unread(&self) {
        self.close_quiet(None);
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        StdFs.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        StdFs.walk(top, want)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        StdFs.canonical(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaced_elsewhere_with_the_same_inode_is_opened_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (path, before) = (dir.path().join("s.jsonl"), dir.path().join("before"));
        std::fs::write(&path, b"what is there now").expect("written");
        std::fs::write(&before, b"what was there").expect("written");
        let fs = KeptOpen::default();
        let named = fs.stat(&path).expect("there");
        let file = Arc::new(StdFs::open_file(&before).expect("there"));
        fs.keep(OpenFile { path: path.clone(), id: named.id, file, read_at: Instant::now() });
        for _ in 0..2 {
            let file = fs.open_again(&path, &named).expect("there");
            assert_eq!(file.stat().expect("open"), named);
        }
        assert_eq!(fs.files().len(), 1);
    }
}
