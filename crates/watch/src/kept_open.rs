//! The real file system, with the files kept open that grow at the moment.
//!
//! An agent writes line by line, and each line is read by two threads. To open the file for each of them costs more than to
//! read it; and the system tells whoever watches a folder that a file in it was opened, so that each opening wakes the
//! watcher's thread, for nothing. notify 8 asks for these events and lets nobody choose (9.0.0-rc has `EventKindMask`).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::fs::{FileId, FileKind, FileStat, Fs, Name, ReadAt, StdFs, Walk, Want, is_gone, stat_of};

/// What nobody has read for so long is closed as soon as anybody looks at anything: a file that is open keeps its disk from
/// being unmounted.
const QUIET: Duration = Duration::from_secs(30);

/// The real file system; what is opened again and again stays open.
#[derive(Debug, Default)]
pub struct KeptOpen {
    /// The one that was read last at the end.
    files: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    path: PathBuf,
    /// As long as it is open, no other file of this machine has this number.
    id: FileId,
    file: Arc<std::fs::File>,
    read_at: Instant,
}

impl Kept {
    /// By its bytes: each file is asked for by one spelling.
    fn is_at(&self, path: &Path) -> bool {
        self.path.as_os_str() == path.as_os_str()
    }
}

impl KeptOpen {
    /// So many files are kept open at most: as many as seldom grow at once, and far from what a process may have open.
    pub const MOST: usize = 16;

    fn files(&self) -> MutexGuard<'_, Vec<Kept>> {
        // A list of open files is whole after any panic.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open file, if it is the one that the name leads to.
    fn known(&self, path: &Path, named: &FileStat) -> Option<Arc<std::fs::File>> {
        let file = {
            let mut files = self.files();
            let at = files.iter().position(|kept| kept.id == named.id && kept.is_at(path))?;
            files[at..].rotate_left(1);
            let kept = files.last_mut()?;
            kept.read_at = Instant::now();
            Arc::clone(&kept.file)
        };
        // What was removed on another machine is gone there though it is open here, and its number may be given again.
        file.metadata().is_ok_and(|meta| is_as_named(&stat_of(&meta), named)).then_some(file)
    }

    fn keep(&self, kept: Kept) {
        let mut files = self.files();
        // Another file had the name, or another thread has opened it at the same time.
        files.retain(|other| !other.is_at(&kept.path));
        if files.len() >= Self::MOST {
            files.remove(0);
        }
        files.push(kept);
    }

    /// Closes what nobody reads any more, and what has lost this name.
    fn close_unless_read(&self, gone: Option<&Path>) {
        let now = Instant::now();
        let is_over = |kept: &Kept| now.saturating_duration_since(kept.read_at) > QUIET;
        self.files().retain(|kept| !is_over(kept) && gone.is_none_or(|gone| !kept.is_at(gone)));
    }
}

/// Whether an open file can be the one of which its name has just said that: it has all of those bytes.
fn is_as_named(open: &FileStat, named: &FileStat) -> bool {
    open.id == named.id && open.len >= named.len
}

impl Fs for KeptOpen {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let stat = StdFs.stat(path);
        let is_gone = stat.as_ref().is_err_and(is_gone);
        self.close_unless_read(is_gone.then_some(path));
        stat
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        StdFs.open(path)
    }

    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        if cfg!(windows) {
            // There a name is not free for another file before the last who has it open has closed it.
            return self.open(path);
        }
        if let Some(file) = self.known(path, named) {
            return Ok(Box::new(file));
        }
        let file = Arc::new(StdFs::open_file(path)?);
        // The name may lead to another file by now.
        let id = stat_of(&file.metadata()?).id;
        self.keep(Kept { path: path.to_owned(), id, file: Arc::clone(&file), read_at: Instant::now() });
        Ok(Box::new(file))
    }

    fn close_unread(&self) {
        self.close_unless_read(None);
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        StdFs.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
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
    fn a_file_that_was_replaced_elsewhere_under_the_same_number_is_opened_anew() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (path, before) = (dir.path().join("s.jsonl"), dir.path().join("before"));
        std::fs::write(&path, b"what is there now").expect("written");
        std::fs::write(&before, b"what was there").expect("written");
        let fs = KeptOpen::default();
        let named = fs.stat(&path).expect("there");
        let file = Arc::new(StdFs::open_file(&before).expect("there"));
        fs.keep(Kept { path: path.clone(), id: named.id, file, read_at: Instant::now() });
        for _ in 0..2 {
            let file = fs.open_again(&path, &named).expect("there");
            assert_eq!(file.stat().expect("open"), named);
        }
        assert_eq!(fs.files().len(), 1);
    }
}
