//! How roots are watched, and the health of each root.

use std::path::PathBuf;
use std::time::Duration;

use watchbill_core::problem::Problem;

/// Poll interval for folders whose file system reports no events.
pub const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// How to learn about changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchMethod {
    /// By the system's events, and by polling where the file system gives none.
    #[default]
    Auto,
    /// By the system's events, for every folder.
    Native,
    /// By polling at this interval.
    Poll(Duration),
}

/// How one root is watched now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootMode {
    /// By the system's events.
    Native,
    /// By polling at this interval.
    Poll(Duration),
}

/// The health of one root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootHealth {
    /// The root as the caller named it.
    pub root: PathBuf,
    /// Its canonical path, which all hints use; `None` while it does not exist.
    pub canonical: Option<PathBuf>,
    /// Whether it exists.
    pub exists: bool,
    /// How it is watched.
    pub mode: RootMode,
    /// The problem with watching it.
    pub problem: Option<Problem>,
}
