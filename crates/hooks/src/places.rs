//! Where hook events wait and pass: the folders and files below the data folder, and the spare ones.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use watchbill_core::ids::stable_hash;

/// The files of the hooks below one data folder. Everything in it belongs to one person: folders are 0700, files 0600.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    root: PathBuf,
    spares: Vec<PathBuf>,
}

impl Places {
    /// The places below a data folder, with the spare spools of this person for when that folder cannot be written.
    pub fn new(data_dir: &Path) -> Self {
        Self { root: data_dir.join("hooks"), spares: spares(data_dir) }
    }

    /// The same without spare spools elsewhere.
    pub fn without_spares(data_dir: &Path) -> Self {
        Self { root: data_dir.join("hooks"), spares: Vec::new() }
    }

    /// The folder that holds all the others.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// One socket and one lock file for each program that listens.
    pub fn ears(&self) -> PathBuf {
        self.root.join("ears")
    }

    /// One file for each event that nobody has put into the journal yet.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// The spool, then the spare ones: on another file system, for a full disk or a folder that may not be written.
    pub fn spools(&self) -> impl Iterator<Item = PathBuf> + '_ {
        std::iter::once(self.spool()).chain(self.spares.iter().cloned())
    }

    /// Every event that was heard, in the order of hearing.
    pub fn journal(&self) -> PathBuf {
        self.root.join("journal")
    }

    /// What was in the journal before it was begun anew.
    pub fn old_journal(&self) -> PathBuf {
        self.root.join("journal.1")
    }

    /// Whoever holds the lock of this file writes the journal.
    pub fn journal_lock(&self) -> PathBuf {
        self.root.join("journal.lock")
    }

    /// Which folders were made for the agent's settings, one a line, while hooks are installed in them.
    pub fn made_folders(&self) -> PathBuf {
        self.root.join("made-folders")
    }

    /// One byte for each event that found no place: the spool was full beyond measure.
    pub fn dropped(&self) -> PathBuf {
        self.root.join("dropped")
    }

    /// Stands while the spool holds more than anybody will ever come for.
    pub fn overfull(&self) -> PathBuf {
        self.root.join("overfull")
    }
}

/// The data folder that is meant when nobody names one: `WATCHBILL_DATA_DIR`, then the platform's.
pub fn default_data_dir(env: &dyn Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    env("WATCHBILL_DATA_DIR").filter(|value| !value.is_empty()).map(PathBuf::from).or_else(platform_data_dir)
}

/// The platform's data folder for Watchbill.
pub fn platform_data_dir() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "watchbill").map(|dirs| dirs.data_dir().to_path_buf())
}

/// Makes a folder that only its owner can look into.
///
/// # Errors
/// When it cannot be made, is no folder, or belongs to somebody else: then what is put there would be theirs to read.
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
    // Not followed: a link in a shared folder could lead anywhere.
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

/// Whether a folder and the one above it are this person's, and nobody else can write there. What lies in any other
/// one may be anybody's: the spare spool in `/tmp` can be made by whoever comes first.
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

/// Opens what has to be an ordinary file. A pipe in its place would keep whoever opens it waiting for its other end, and a
/// device may do anything.
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
        // It may become a pipe at this moment.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = open_private(options, path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_ordinary()) }
}

/// Reads an ordinary file, and waits for no pipe or device.
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

/// Whether a file may be this long. The system ends a process that writes beyond its limit by a signal (`ulimit -f`).
///
/// # Errors
/// When it may not.
pub(crate) fn may_be_long(length: u64) -> io::Result<()> {
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

/// Folders of this person outside the data folder's file system: the runtime folder, then the temporary one.
///
/// They are not taken from the environment: an agent gives its hooks variables of its own, and whoever listens
/// has to look in the same places.
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
