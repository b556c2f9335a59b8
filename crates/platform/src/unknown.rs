//! What systems other than Linux do not tell, or what is untried there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::facts::{Environment, ExitFd, LockHolder, Process};

/// Unknown.
pub(crate) fn started(_process: &Process) -> Option<Duration> {
    None
}

/// No process is known.
pub fn all() -> impl Iterator<Item = u32> {
    std::iter::empty()
}

/// Unknown.
pub fn is_own(_pid: u32) -> bool {
    false
}

/// Unknown.
pub fn children(_pid: u32) -> Option<Vec<u32>> {
    None
}

/// Unknown.
pub fn program_file(_pid: u32) -> Option<PathBuf> {
    None
}

/// Unknown.
pub fn environment(_pid: u32) -> Option<Environment> {
    None
}

/// Control groups are of Linux alone.
pub fn control_group(_pid: u32) -> Option<Arc<str>> {
    None
}

/// Unknown.
pub fn has_open(_pid: u32, _file: &Path) -> bool {
    false
}

/// Unknown.
pub fn controls_terminal(_pid: u32, _terminal: &str) -> bool {
    false
}

/// Untried: the listener at the socket counts as the holder of its lock.
pub fn holds_lock(_pid: u32, _file: &Path) -> bool {
    true
}

/// Unknown.
pub fn lock_holder(_dev: u64, _ino: u64) -> LockHolder {
    LockHolder::Unknown
}

/// Unknown: the caller looks at the process from time to time.
pub fn exit_fd(_pid: u32) -> Option<ExitFd> {
    None
}

/// Boots have no id.
pub fn boot() -> Option<Arc<str>> {
    None
}
