//! The data folder and its files. Only the user's account may read them.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use watchbill_platform::files::{open_private, rename};

use crate::StoreError;

/// Names in a data folder, besides all names that begin with the program's name.
const OURS: [&str; 5] = [crate::names::LOCK, crate::names::ARCHIVE, "hooks", "run", "muted-until"];

/// Creates the data folder as [`make`] does. An existing folder with other files in it, such as a home folder,
/// keeps its permissions. Our own files in it are private in any case.
pub(crate) fn make_data(folder: &Path) -> Result<(), StoreError> {
    let is_ours = |name: &str| name.starts_with("watchbill") || OURS.contains(&name);
    let others = fs::read_dir(folder)
        .map(|names| names.flatten().any(|entry| !entry.file_name().to_str().is_some_and(is_ours)));
    if others.is_ok_and(|others| others) { Ok(()) } else { make(folder) }
}

/// Creates the folder and its missing parents, for the user alone (0700).
pub(crate) fn make(folder: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|e| creation_error(folder, e))?;
    close(folder, 0o700);
    Ok(())
}

/// Why the folder cannot be created, from the system's error.
fn creation_error(folder: &Path, source: io::Error) -> StoreError {
    if let io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded = source.kind() {
        return StoreError::io(folder, source);
    }
    blocking_file(folder).unwrap_or_else(|| StoreError::NoFolder {
        path: folder.to_owned(),
        why: format!("nothing can be put into {} ({source})", nearest(folder).display()),
    })
}

/// The error if something other than a folder lies at the data folder's path or above it; `None` if nothing does.
/// Such a data folder neither exists nor can be created.
pub fn blocking_file(data_dir: &Path) -> Option<StoreError> {
    let there = nearest(data_dir);
    let is_other = !there.is_dir() && there.symlink_metadata().is_ok();
    is_other.then(|| StoreError::NoFolder {
        path: data_dir.to_owned(),
        why: format!("{} is no folder", there.display()),
    })
}

/// The path itself or the nearest existing path above it, of any kind.
fn nearest(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
    there.unwrap_or(&path).to_owned()
}

/// Opens the file, and creates it if it is missing, for the user alone (0600). Not for SQLite's files: use
/// [`make_file`].
pub(crate) fn touch(file: &Path) -> Result<fs::File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let opened = open_private(&mut options, file).map_err(|e| StoreError::io(file, e))?;
    close(file, 0o600);
    Ok(opened)
}

/// Opens a file beside the database for reading. A pipe in its place would block the reader.
///
/// # Errors
/// When it cannot be opened, or is no ordinary file.
pub(crate) fn open_to_read(file: &Path) -> io::Result<fs::File> {
    if fs::metadata(file)?.is_file() {
        return fs::File::open(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file"))
}

/// Reads a whole file.
///
/// # Errors
/// As for [`open_to_read`].
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_to_read(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file as text.
///
/// # Errors
/// As for [`open_to_read`], and when it is not UTF-8.
pub(crate) fn read_text(file: &Path) -> io::Result<String> {
    String::from_utf8(read(file)?).map_err(io::Error::other)
}

/// Creates the file for the user alone (0600), if it is missing. SQLite gives its companions (`-wal`, `-shm`,
/// `-journal`) the permissions of the database.
///
/// An existing file is not opened: closing any of its descriptors would drop this process's locks on it, and SQLite
/// has a lock on each database that it has open.
pub(crate) fn make_file(file: &Path) -> Result<(), StoreError> {
    if file.exists() {
        close(file, 0o600);
        return Ok(());
    }
    touch(file).map(drop)
}

/// Removes the permissions of other accounts, if possible. A folder of an older version, or one that the user made,
/// may be open to all. The history works even if this fails.
#[cfg(unix)]
fn close(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let open = |meta: fs::Metadata| meta.permissions().mode() & 0o077 != 0;
    if fs::metadata(path).is_ok_and(open)
        && let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(mode))
    {
        tracing::warn!(path = %path.display(), %error, "other accounts may read this");
    }
}

#[cfg(not(unix))]
fn close(_: &Path, _: u32) {}

/// Size of the file in bytes; zero if there is none.
pub(crate) fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |meta| meta.len())
}

/// Makes the name of a new file survive a crash. Not every file system can do that.
pub(crate) fn sync_names(folder: &Path) {
    if let Err(error) = fs::File::open(folder).and_then(|folder| folder.sync_all()) {
        tracing::debug!(%error, folder = %folder.display(), "a new name may not outlast a crash");
    }
}

/// With less free space than this, in bytes, a step may not fit.
#[cfg(unix)]
const ROOM: u64 = 64 << 10;

/// What would keep a process from writing the database in `data_dir` now; `None` if nothing would. It checks
/// without writing. For processes that only read and report why nothing new is stored.
pub(crate) fn path_obstacle(data_dir: &Path) -> Option<StoreError> {
    let database = data_dir.join(crate::names::DATABASE);
    if let Some(error) = blocking_file(data_dir) {
        return Some(error);
    }
    if size(&database) == 0 {
        return unmakeable(data_dir);
    }
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access, statvfs};
        let denied = [&database, data_dir].into_iter().find(|path| access(*path, Access::WRITE_OK).is_err());
        if let Some(path) = denied {
            return Some(StoreError::ReadOnly { path: path.to_owned() });
        }
        let room = statvfs(data_dir).ok().map(|found| found.f_bavail.saturating_mul(found.f_frsize));
        room.filter(|room| *room < ROOM).map(|_| StoreError::Full { path: database })
    }
    #[cfg(not(unix))]
    {
        let locked = fs::metadata(&database).is_ok_and(|found| found.permissions().readonly());
        locked.then_some(StoreError::ReadOnly { path: database })
    }
}

/// Why the database cannot be created here; `None` if the permissions allow it.
#[cfg(unix)]
fn unmakeable(data_dir: &Path) -> Option<StoreError> {
    use rustix::fs::{Access, access};
    let there = nearest(data_dir);
    access(&there, Access::WRITE_OK).err().map(|error| {
        let source = io::Error::from(error);
        if data_dir.is_dir() { StoreError::io(data_dir, source) } else { creation_error(data_dir, source) }
    })
}

#[cfg(not(unix))]
fn unmakeable(_: &Path) -> Option<StoreError> {
    None
}

/// Renames a file. A missing file is no error.
pub(crate) fn rename_if_there(from: &Path, to: &Path) -> Result<(), StoreError> {
    match rename(from, to) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io(from, e)),
        _ => Ok(()),
    }
}
