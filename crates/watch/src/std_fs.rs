//! The real file system.

use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use watchbill_core::time::Timestamp;

use crate::fs::{FileKind, FileStat, Fs, Name, NotRegular, ReadAt, Walk, WalkChoice, kind_of, stat_of_path};
use crate::walk::walk;

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdFs;

impl StdFs {
    /// Opens a regular file, without waiting for another program and without taking over a terminal.
    pub(crate) fn open_file(path: &Path) -> io::Result<std::fs::File> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // A pipe would block until a program writes to it, and a terminal would become this program's.
            let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
            options.custom_flags(flags.bits() as i32);
        }
        let file = options.open(path).map_err(|error| match error.raw_os_error() {
            // A socket.
            #[cfg(unix)]
            Some(code) if code == rustix::io::Errno::NXIO.raw_os_error() => NotRegular.into(),
            _ => error,
        })?;
        if !file.metadata()?.is_file() {
            return Err(NotRegular.into());
        }
        Ok(file)
    }
}

impl Fs for StdFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        stat_of_path(path)
    }

    #[cfg(unix)]
    fn changed_at(&self, path: &Path) -> io::Result<Timestamp> {
        use std::os::unix::fs::MetadataExt;
        let meta = std::fs::metadata(path)?;
        Ok(Timestamp::from_millis(meta.ctime() * 1_000 + meta.ctime_nsec() / 1_000_000))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        Ok(Box::new(Self::open_file(path)?))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    std::fs::metadata(entry.path()).map_or(FileKind::Other, |meta| kind_of(meta.file_type()))
                }
                Ok(kind) => kind_of(kind),
                Err(_) => FileKind::Other,
            };
            names.push(Name { name: entry.file_name(), kind });
        }
        names.sort();
        Ok(names)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        walk(top, want)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        watchbill_platform::files::real_path(path)
    }
}
