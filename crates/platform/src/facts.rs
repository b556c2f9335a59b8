//! What a system tells of a process.

use std::ffi::{OsStr, OsString};

/// Becomes readable when a process ends.
#[cfg(unix)]
pub type ExitFd = std::os::fd::OwnedFd;
/// Becomes readable when a process ends. This system has none.
#[cfg(not(unix))]
pub type ExitFd = std::convert::Infallible;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Process {
    /// Its id. The system gives it to another process later.
    pub pid: u32,
    /// The id of its parent; 0 for a process without a parent.
    pub parent: u32,
    /// The program's short name.
    pub name: String,
    /// Its start time in the system's own format, which tells it from another process with the same id. Linux counts ticks since
    /// boot.
    pub start: String,
    /// It has ended, and its parent has not taken note of that.
    pub has_ended: bool,
    /// The terminal device that controls it, such as `/dev/pts/4`.
    pub tty: Option<String>,
    /// Whether its process group reads the keys of that terminal; `None` if the system does not tell. A process that was
    /// suspended does not: the shell reads them.
    pub reads_keys: Option<bool>,
}

/// Who holds the lock (`flock`) on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHolder {
    /// The system does not tell.
    Unknown,
    /// No process that can be seen from here.
    Free,
    /// The process with this id.
    Process(u32),
}

impl Process {
    /// Its start as a number, which tells it from another process with the same id; `None` on systems that write it in words.
    pub fn start_number(&self) -> Option<u64> {
        self.start.parse().ok()
    }
}

/// The variables of a process. They hold secrets: take what is needed, and drop it.
pub struct Environment(pub(crate) Vec<(OsString, OsString)>);

impl Environment {
    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<OsString> {
        self.0.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
    }

    /// The names of all variables.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.0.iter().map(|(name, _)| name.as_os_str())
    }
}
