//! How roots are watched, and how it stands with each.

use std::path::PathBuf;
use std::time::Duration;

use watchbill_core::problem::Problem;

/// How often a folder is looked at whose file system reports no events.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How to learn of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchMode {
    /// By the system's events, and by looking where the file system gives none.
    #[default]
    Auto,
    /// By the system's events, wherever the folder is.
    Native,
    /// By looking this often.
    Poll(Duration),
}

/// How one root is watched now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMode {
    /// By the system's events.
    Native,
    /// By looking this often.
    Poll(Duration),
}

/// How it stands with one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootHealth {
    /// The root as it was named.
    pub root: PathBuf,
    /// Its one true spelling, which all hints use; `None` while it does not exist.
    pub canonical: Option<PathBuf>,
    /// Whether it exists.
    pub exists: bool,
    /// How it is watched.
    pub mode: RootMode,
    /// What is wrong with watching it.
    pub problem: Option<Problem>,
}
