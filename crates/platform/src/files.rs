//! Files and folders that only this user can read, and files that are what they seem.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The whole path with all links followed, as users write it: without the prefix `\\\\?\\` that Windows puts before it.
///
/// # Errors
/// When there is no such file, or a folder above it cannot be read.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// What tells an open file from every other one: the numbers of its device and of the file there.
///
/// # Errors
/// When the system cannot tell.
#[cfg(unix)]
pub fn identity(file: &std::fs::File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().map(|meta| (meta.dev(), meta.ino()))
}

/// The same. A time of creation would not do: Windows gives it to the next file of the same name.
#[cfg(windows)]
pub fn identity(file: &std::fs::File) -> io::Result<(u64, u64)> {
    let found = winapi_util::file::information(file)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

/// Renames a file, over another one if there is one. Windows refuses that while a third program has one of them open, as scanners
/// for viruses do for a moment; so it is tried for a second there.
///
/// # Errors
/// As [`std::fs::rename`].
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    /// `ERROR_ACCESS_DENIED` and `ERROR_SHARING_VIOLATION`.
    const IN_USE: [Option<i32>; 2] = [Some(5), Some(32)];
    for _ in 0..5 {
        match std::fs::rename(from, to) {
            Err(error) if cfg!(windows) && IN_USE.contains(&error.raw_os_error()) => {
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            done => return done,
        }
    }
    std::fs::rename(from, to)
}

/// Makes a folder that only its owner can read.
///
/// # Errors
/// When the folder cannot be made, is no folder, or belongs to another user, who could read its files.
pub fn private_dir(path: &Path) -> io::Result<()> {
    match look(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make(path)?;
            look(path)
        }
        other => other,
    }
}

/// The same for the data folder itself. The person may have put a link in its place; folders below it are no links.
///
/// # Errors
/// See [`private_dir`].
pub fn private_data_dir(path: &Path) -> io::Result<()> {
    private_dir(&real_path(path).unwrap_or_else(|_| path.to_owned()))
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[cfg(unix)]
fn look(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    // Symbolic links are not followed: in a shared folder, one could lead anywhere.
    let found = std::fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Err(io::Error::other("it is not a folder"));
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn look(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_dir() { Ok(()) } else { Err(io::Error::other("it is not a folder")) }
}

/// Whether a folder and its parent belong to this user, and no other user can write there. Any user can make the
/// spare spool in `/tmp` first, so files in a folder that fails this test may come from any user.
pub fn is_private(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let me = rustix::process::geteuid().as_raw();
        let ours =
            |found: std::fs::Metadata| found.is_dir() && found.uid() == me && found.mode() & 0o022 == 0;
        std::iter::once(path).chain(path.parent()).all(|path| std::fs::symlink_metadata(path).is_ok_and(ours))
    }
    #[cfg(not(unix))]
    {
        path.is_dir()
    }
}

/// Opens a file for writing that only its owner can read.
///
/// # Errors
/// As [`std::fs::OpenOptions::open`].
pub fn open_private(options: &mut std::fs::OpenOptions, path: &Path) -> io::Result<std::fs::File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

/// Opens a file that must be an ordinary file. Opening a pipe could block until its other end is opened, and opening
/// a device may do anything.
///
/// # Errors
/// As [`std::fs::OpenOptions::open`], and when it is no ordinary file.
pub fn open_ordinary(options: &mut std::fs::OpenOptions, path: &Path) -> io::Result<std::fs::File> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(not_ordinary());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // The file may become a pipe between the check and the call.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = open_private(options, path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_ordinary()) }
}

/// Reads an ordinary file. It never waits for a pipe or a device.
///
/// # Errors
/// When it cannot be read, or is no ordinary file.
pub fn read_ordinary(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_ordinary(std::fs::OpenOptions::new().read(true), path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn not_ordinary() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no ordinary file")
}

/// Checks that a file may have this length. The system kills a process by a signal when it writes beyond its limit
/// (`ulimit -f`).
///
/// # Errors
/// When the length is over the limit.
pub fn check_size_limit(length: u64) -> io::Result<()> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        if limit.is_some_and(|limit| length > limit) {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "this process may not write files of that size (see `ulimit -f`)",
            ));
        }
    }
    let _ = length;
    Ok(())
}
