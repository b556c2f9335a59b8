//! The names in one folder of a disk, each with what it is and, for whoever asks, its `stat`.
//!
//! Linux is asked without the C library between, which has a buffer made and thrown away for every folder, every name
//! copied once more, and the open folder asked what it is: an eighth of a walk.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::fs::{FileKind, FileStat, kind_of};

/// What a name is by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameKind {
    /// A symbolic link, wherever it leads.
    Link,
    /// Anything else.
    Plain(FileKind),
}

impl NameKind {
    /// Of what a `stat` that follows no link says.
    pub(crate) fn of(kind: std::fs::FileType) -> Self {
        if kind.is_symlink() { Self::Link } else { Self::Plain(kind_of(kind)) }
    }
}

/// Takes the whole path of a name, what it is, and a way to its own `stat`, which follows no link.
pub(crate) type TakesName<'t> =
    dyn FnMut(PathBuf, io::Result<NameKind>, &dyn Fn() -> io::Result<FileStat>) + 't;

/// A folder that is open: what lies in it is found without the way to it being gone again, which the system would do for
/// each of thousands.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct OpenFolder(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl OpenFolder {
    /// Opens the folder at `path`. A name in an `above` that is open is opened from there.
    pub fn open(path: &Path, above: Option<&Above>) -> io::Result<Self> {
        Self::open_at(path, above, rustix::fs::OFlags::empty())
    }

    /// The same, of a folder that no link stands for. Any error but that nothing is there needs a closer look.
    pub fn open_itself(path: &Path, above: Option<&Above>) -> io::Result<Self> {
        Self::open_at(path, above, rustix::fs::OFlags::NOFOLLOW)
    }

    fn open_at(path: &Path, above: Option<&Above>, more: rustix::fs::OFlags) -> io::Result<Self> {
        use rustix::fs::{CWD, Mode, OFlags, openat};
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | more;
        let opened = match above.and_then(|above| Some((above, above.rest_of(path)?))) {
            Some((above, rest)) => openat(&above.folder.0, rest, flags, Mode::empty()),
            None => openat(CWD, path, flags, Mode::empty()),
        };
        Ok(Self(opened?))
    }

    /// Hands every name in the folder, which lies at `path`, to `take`; an error is one of the folder's.
    ///
    /// Some hundred names are asked for at once, and far more than one needs: 255 bytes on Linux's own file systems, 765
    /// on those of Windows.
    pub fn names(&self, path: &Path, take: &mut TakesName<'_>) -> io::Result<()> {
        use std::ffi::{CStr, OsStr};
        use std::mem::MaybeUninit;
        use std::os::unix::ffi::OsStrExt;

        use rustix::fs::{AtFlags, FileType, RawDir, statat};

        let kind_of = |kind| match kind {
            FileType::Symlink => NameKind::Link,
            FileType::RegularFile => NameKind::Plain(FileKind::File),
            FileType::Directory => NameKind::Plain(FileKind::Dir),
            _ => NameKind::Plain(FileKind::Other),
        };
        let ask = |name: &CStr| Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?);
        let mut room = [MaybeUninit::uninit(); 16 << 10];
        let mut names = RawDir::new(&self.0, &mut room);
        while let Some(entry) = names.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let kind = match entry.file_type() {
                // Old and foreign file systems do not say.
                FileType::Unknown => ask(name).map(|stat| kind_of(FileType::from_raw_mode(stat.st_mode))),
                kind => Ok(kind_of(kind)),
            };
            let mut whole = PathBuf::with_capacity(path.as_os_str().len() + 1 + name.to_bytes().len());
            whole.push(path);
            whole.push(OsStr::from_bytes(name.to_bytes()));
            take(whole, kind, &|| ask(name).map(|stat| crate::fs::stat_of_raw(&stat)));
        }
        Ok(())
    }
}

/// Elsewhere the standard library is asked, by the whole path.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
pub(crate) struct OpenFolder;

#[cfg(not(target_os = "linux"))]
impl OpenFolder {
    pub fn open(_: &Path, _: Option<&Above>) -> io::Result<Self> {
        Ok(Self)
    }

    pub fn open_itself(path: &Path, _: Option<&Above>) -> io::Result<Self> {
        let meta = std::fs::symlink_metadata(path)?;
        if meta.is_dir() { Ok(Self) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub fn names(&self, path: &Path, take: &mut TakesName<'_>) -> io::Result<()> {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let kind = entry.file_type().map(NameKind::of);
            take(entry.path(), kind, &|| entry.metadata().map(|meta| crate::fs::stat_of(&meta)));
        }
        Ok(())
    }
}

/// Folders that lie deeper below the top of a walk are not kept open: of each folder on the way one may be, and a process
/// has mostly a thousand handles for everything that it does.
const DEEPEST: usize = 32;

/// An open folder above others, which keep it open until they are looked at.
#[derive(Debug, Clone)]
pub(crate) struct Above {
    folder: Rc<OpenFolder>,
    /// Bytes of its path.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "whole paths are opened there"))]
    len: usize,
    /// How many names it is below the top of the walk.
    depth: usize,
}

impl Above {
    /// The open folder that lies at `path`, at or below `top`.
    pub fn new(folder: OpenFolder, top: &Path, path: &Path) -> Self {
        let (path, top) = (path.as_os_str().as_encoded_bytes(), top.as_os_str().len());
        let below = path.get(top..).unwrap_or_default();
        let depth = below.iter().filter(|&&byte| byte == std::path::MAIN_SEPARATOR as u8).count();
        Self { folder: Rc::new(folder), len: path.len(), depth }
    }

    pub fn folder(&self) -> &OpenFolder {
        &self.folder
    }

    /// For a folder in it that waits; `None` where that is to be opened by its whole path.
    pub fn kept(&self) -> Option<Self> {
        (self.depth < DEEPEST).then(|| self.clone())
    }

    /// What of a path that begins with the folder's leads on from there.
    #[cfg(target_os = "linux")]
    fn rest_of<'p>(&self, path: &'p Path) -> Option<&'p std::ffi::OsStr> {
        use std::os::unix::ffi::OsStrExt;
        let rest = path.as_os_str().as_bytes().get(self.len..)?;
        Some(std::ffi::OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest)))
    }
}
