//! The folders and files of hook events: below the data folder, and spare spools elsewhere.

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
    directories::ProjectDirs::from("", "", "watchbill").map(|dirs| dirs.data_local_dir().to_path_buf())
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
