//! The folders and files of hook events: below the data folder, and spare spools elsewhere.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use watchbill_core::ids::stable_hash;

/// The hooks' files below one data folder. All of them belong to one user: folders have mode 0700, files 0600.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPaths {
    root: PathBuf,
    spares: Vec<PathBuf>,
}

impl HookPaths {
    /// The paths below a data folder, and this user's spare spools for when that folder cannot be written.
    pub fn new(data_dir: &Path) -> Self {
        Self { root: data_dir.join("hooks"), spares: spares(data_dir) }
    }

    /// The same paths without spare spools.
    pub fn without_spares(data_dir: &Path) -> Self {
        Self { root: data_dir.join("hooks"), spares: Vec::new() }
    }

    /// The folder that holds all other paths, except the spare spools.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with one socket and one lock file for each receiver.
    pub fn sockets_dir(&self) -> PathBuf {
        self.root.join("ears")
    }

    /// The folder with one file for each event that no journal holds yet.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// The spool, then the spare spools on other file systems, for a full disk or a read-only folder.
    pub fn spools(&self) -> impl Iterator<Item = PathBuf> + '_ {
        std::iter::once(self.spool()).chain(self.spares.iter().cloned())
    }

    /// All received events, in the order of receiving.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// The journal before the current one.
    pub fn old_journal(&self) -> PathBuf {
        self.root.join("journal.1")
    }

    /// The holder of this file's lock writes the journal.
    pub fn journal_lock(&self) -> PathBuf {
        self.root.join("journal.lock")
    }

    /// The folders that the installer made for the agent's settings, one a line. The file exists while hooks are
    /// installed in them.
    pub fn made_folders(&self) -> PathBuf {
        self.root.join("made-folders")
    }

    /// One byte for each dropped event: the spool was full, or could not be written.
    pub fn dropped(&self) -> PathBuf {
        self.root.join("dropped")
    }

    /// Exists while the spool holds more events than its limit.
    pub fn overfull(&self) -> PathBuf {
        self.root.join("overfull")
    }
}

/// The data folder when the command line names none: `WATCHBILL_DATA_DIR`, then the platform's.
pub fn default_data_dir(env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    env("WATCHBILL_DATA_DIR").filter(|value| !value.is_empty()).map(PathBuf::from).or_else(platform_data_dir)
}

/// The platform's data folder for Watchbill.
pub fn platform_data_dir() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "watchbill").map(|dirs| dirs.data_dir().to_path_buf())
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
pub(crate) fn is_private(path: &Path) -> bool {
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
pub(crate) fn open_private(options: &mut std::fs::OpenOptions, path: &Path) -> io::Result<std::fs::File> {
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
pub(crate) fn open_ordinary(options: &mut std::fs::OpenOptions, path: &Path) -> io::Result<std::fs::File> {
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
pub(crate) fn check_size_limit(length: u64) -> io::Result<()> {
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

/// This user's folders on other file systems: the runtime folder, then the temporary folder.
///
/// They do not come from the environment: the agent gives its hooks other variables than the receiver has, and both
/// must use the same folders.
#[cfg(unix)]
fn spares(data_dir: &Path) -> Vec<PathBuf> {
    let uid = rustix::process::geteuid().as_raw();
    let name = format!("hooks-{:016x}", stable_hash(data_dir.as_os_str().as_encoded_bytes()));
    let runtime = Path::new("/run/user").join(uid.to_string()).join("watchbill");
    let temporary = Path::new("/tmp").join(format!("watchbill-{uid}"));
    [runtime, temporary].map(|folder| folder.join(&name)).to_vec()
}

#[cfg(not(unix))]
fn spares(data_dir: &Path) -> Vec<PathBuf> {
    let name = format!("watchbill-hooks-{:016x}", stable_hash(data_dir.as_os_str().as_encoded_bytes()));
    vec![std::env::temp_dir().join(name)]
}
