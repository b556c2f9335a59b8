//! The few file system calls that the programs need, as a trait. The real file system is in `std_fs`.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::Timestamp;

pub use crate::std_fs::StdFs;

/// The identity of a file, under any name: device and inode.
///
/// The system reuses inode numbers. So equal ids prove little, and different ids prove much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId {
    /// The device that holds it.
    pub dev: u64,
    /// The inode number there.
    pub ino: u64,
}

/// The kind of a path's target, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// A regular file: the only kind that is opened.
    File,
    /// A folder.
    Dir,
    /// A pipe, socket or device.
    Other,
}

/// The `stat` of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStat {
    /// The file's identity.
    pub id: FileId,
    /// Its length in bytes.
    pub len: u64,
    /// Time of the last write.
    pub mtime: Timestamp,
    /// The file's kind.
    pub kind: FileKind,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The name, without its folder.
    pub name: OsString,
    /// The kind of its target; `Other` if the system does not tell.
    pub kind: FileKind,
}

/// The decision of a walk about one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkChoice {
    /// Skip it.
    Skip,
    /// Enter a folder; call `stat` for anything else.
    Visit,
}

impl From<bool> for WalkChoice {
    fn from(wanted: bool) -> Self {
        if wanted { Self::Visit } else { Self::Skip }
    }
}

/// The result of a walk.
#[derive(Debug, Default)]
pub struct Walk {
    /// All wanted paths except folders, with their `stat`.
    pub files: Vec<(PathBuf, FileStat)>,
    /// Paths that could not be read.
    pub problems: Vec<Problem>,
}

/// An open file, read by position so that no shared cursor exists.
pub trait ReadAt: Send {
    /// The `stat` of the open file, which may have lost its name by now.
    fn stat(&self) -> io::Result<FileStat>;
    /// Reads into `buf` from `offset`; 0 at the end.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Whether the file can be read, for a caller that is about to give up its stored data. The default reads the
    /// first byte. A file whose later parts are known to fail at times reads to its end.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn check_readable(&self) -> io::Result<()> {
        self.read_at(&mut [0], 0).map(drop)
    }
}

/// A file system, with the calls that the programs need. None of them writes.
pub trait Fs: Send + Sync {
    /// `stat` of a path, links followed.
    fn stat(&self, path: &Path) -> io::Result<FileStat>;

    /// When the system last noted a change of a file, of its content or its times. No program can set that. Where the system
    /// does not note it, the time of the last write.
    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        self.stat(path).map(|stat| stat.mtime)
    }

    /// Opens a regular file. Anything else is refused with [`NotRegular`], and never blocks.
    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>>;

    /// Opens a file that was read before, and whose `stat` has just returned `named`. The file grows, so it may be
    /// kept open.
    fn open_again(&self, path: &Path, named: &FileStat) -> io::Result<Box<dyn ReadAt>> {
        let _ = named;
        self.open(path)
    }

    /// Closes files that were kept open and are not read any more.
    fn close_unread(&self) {}

    /// The names in one folder, sorted.
    fn list(&self, dir: &Path) -> io::Result<Vec<Name>>;

    /// Everything below `top`, links followed, loops cut. The walk calls `want` for each path before it reads it:
    /// whether to enter a folder, also `top`, and whether to `stat` anything else. A `top` that is a file is a walk
    /// of one.
    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk;

    /// The canonical spelling of an existing path.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// The complete content of a small regular file; an error of kind [`io::ErrorKind::FileTooLarge`] above `limit`.
    fn read_small(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        // `stat` comes first, so that a pipe is not even opened: its writer would notice.
        if self.stat(path)?.kind != FileKind::File {
            return Err(NotRegular.into());
        }
        let file = self.open(path)?;
        let mut bytes = Vec::new();
        loop {
            let at = bytes.len();
            // One byte above the limit shows whether the file is longer than the limit.
            let room = (limit + 1).saturating_sub(at as u64).min(8 * 1024) as usize;
            if room == 0 {
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the file is longer than expected"));
            }
            bytes.resize(at + room, 0);
            let got = read_retrying(file.as_ref(), &mut bytes[at..], at as u64);
            bytes.truncate(at + *got.as_ref().unwrap_or(&0));
            if got? == 0 {
                return Ok(bytes);
            }
        }
    }
}

/// `read_at`, repeated after an interruption by a signal.
pub(crate) fn read_retrying(file: &dyn ReadAt, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buf, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Why [`Fs::open`] refused a path: it is a folder, pipe, socket or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotRegular;

impl NotRegular {
    /// Whether this is the cause of an error.
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Self>())
    }
}

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegular {}

impl From<NotRegular> for io::Error {
    fn from(reason: NotRegular) -> Self {
        Self::new(io::ErrorKind::InvalidInput, reason)
    }
}

/// Whether an error means that there is no such file. A folder of the path that has become a file means it too.
pub fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// An error of the operating system as a problem to count and show. A file that vanished between two looks is no
/// problem: `None`.
pub fn problem_of(path: &Path, error: &io::Error) -> Option<Problem> {
    let (kind, detail) = match error.kind() {
        _ if is_gone(error) => return None,
        io::ErrorKind::PermissionDenied => (
            ProblemKind::PermissionDenied,
            "No permission to read this. Give your user the right to read it (for a folder: chmod u+rx, for a \
             file: chmod u+r). Watchbill then picks it up by itself."
                .to_owned(),
        ),
        _ if NotRegular::is_cause_of(error) => {
            (ProblemKind::NotAFile, "This should be a regular file and is not. Move it out of this folder.".to_owned())
        }
        _ if is_loop(error) => (
            ProblemKind::SymlinkLoop,
            "This symbolic link leads back to itself, so it was not followed. Remove the link.".to_owned(),
        ),
        _ => (
            ProblemKind::Io,
            format!("The system could not read this: {error}. It is tried again with the next change."),
        ),
    };
    Some(problem(path, kind, detail))
}

/// A problem that occurred once.
pub(crate) fn problem(path: &Path, kind: ProblemKind, detail: impl Into<std::sync::Arc<str>>) -> Problem {
    Problem { path: path.to_string_lossy().into(), kind, count: 1, detail: detail.into() }
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_error: &io::Error) -> bool {
    false
}

impl ReadAt for std::fs::File {
    fn stat(&self) -> io::Result<FileStat> {
        stat_of_file(self)
    }

    #[cfg(unix)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buf, offset)
    }
}

impl<F: ReadAt + Sync> ReadAt for std::sync::Arc<F> {
    fn stat(&self) -> io::Result<FileStat> {
        (**self).stat()
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buf, offset)
    }
}

pub(crate) fn kind_of(kind: std::fs::FileType) -> FileKind {
    if kind.is_file() {
        FileKind::File
    } else if kind.is_dir() {
        FileKind::Dir
    } else {
        FileKind::Other
    }
}

/// The `stat` of a path, links followed.
#[cfg(unix)]
pub(crate) fn stat_of_path(path: &Path) -> io::Result<FileStat> {
    std::fs::metadata(path).map(|meta| stat_of(&meta, id_of(&meta)))
}

/// The `stat` of an open file.
#[cfg(unix)]
pub(crate) fn stat_of_file(file: &std::fs::File) -> io::Result<FileStat> {
    file.metadata().map(|meta| stat_of(&meta, id_of(&meta)))
}

#[cfg(unix)]
fn id_of(meta: &std::fs::Metadata) -> FileId {
    use std::os::unix::fs::MetadataExt;
    FileId { dev: meta.dev(), ino: meta.ino() }
}

/// The `stat` of a path, links followed. Only an open file has its numbers, and its true length while another program
/// writes it.
#[cfg(windows)]
pub(crate) fn stat_of_path(path: &Path) -> io::Result<FileStat> {
    use std::os::windows::fs::OpenOptionsExt;
    /// `FILE_FLAG_BACKUP_SEMANTICS`: folders can be opened too.
    const FOLDERS_TOO: u32 = 0x0200_0000;
    let opened = std::fs::OpenOptions::new().access_mode(0).custom_flags(FOLDERS_TOO).open(path)?;
    stat_of_file(&opened)
}

/// The `stat` of an open file.
#[cfg(windows)]
pub(crate) fn stat_of_file(file: &std::fs::File) -> io::Result<FileStat> {
    let (dev, ino) = watchbill_platform::files::identity(file)?;
    Ok(stat_of(&file.metadata()?, FileId { dev, ino }))
}

fn stat_of(meta: &std::fs::Metadata, id: FileId) -> FileStat {
    let mtime = meta.modified().map_or(Timestamp::default(), timestamp_of);
    FileStat { id, len: meta.len(), mtime, kind: kind_of(meta.file_type()) }
}

fn timestamp_of(time: SystemTime) -> Timestamp {
    let millis = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    };
    Timestamp::from_millis(millis)
}
