//! The names in one folder of a disk, each with what it is and, for whoever asks, its `stat`.
//!
//! Linux is asked without the C library between, which has a buffer made and thrown away for every folder, every name
//! copied once more, and the open folder asked what it is: an eighth of a walk.

use std::io;
use std::path::{Path, PathBuf};

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

/// Hands every name in `folder` to `take`; an error is one of the folder's.
#[cfg(target_os = "linux")]
pub(crate) fn names_in(folder: &Path, take: &mut TakesName<'_>) -> io::Result<()> {
    use std::ffi::{CStr, OsStr};
    use std::mem::MaybeUninit;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, openat, statat};

    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = openat(CWD, folder, flags, Mode::empty())?;
    let kind_of = |kind| match kind {
        FileType::Symlink => NameKind::Link,
        FileType::RegularFile => NameKind::Plain(FileKind::File),
        FileType::Directory => NameKind::Plain(FileKind::Dir),
        _ => NameKind::Plain(FileKind::Other),
    };
    let ask = |name: &CStr| Ok(statat(&open, name, AtFlags::SYMLINK_NOFOLLOW)?);
    // Some hundred names at once, and far more than one needs: 255 bytes on Linux's own file systems, 765 on those of Windows.
    let mut room = [MaybeUninit::uninit(); 16 << 10];
    let mut names = RawDir::new(&open, &mut room);
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
        let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.to_bytes().len());
        path.push(folder);
        path.push(OsStr::from_bytes(name.to_bytes()));
        take(path, kind, &|| ask(name).map(|stat| crate::fs::stat_of_raw(&stat)));
    }
    Ok(())
}

/// Elsewhere the standard library is asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn names_in(folder: &Path, take: &mut TakesName<'_>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type().map(NameKind::of);
        take(entry.path(), kind, &|| entry.metadata().map(|meta| crate::fs::stat_of(&meta)));
    }
    Ok(())
}
