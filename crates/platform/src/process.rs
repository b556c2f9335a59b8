//! Processes, as the system shows them.

use std::time::Duration;

pub use crate::facts::{Environment, ExitFd, LockHolder, Process};
pub use crate::system::{
    all, children, command_line, control_group, controls_terminal, environment, exit_fd, has_open,
    holds_lock, is_own, lock_holder, look, program_file,
};

/// Time since the start of a process; `None` if the system does not tell. `now` is [`crate::clock::since_boot`].
pub fn age(process: &Process, now: u64) -> Option<Duration> {
    Some(Duration::from_nanos(now).saturating_sub(crate::system::started(process)?))
}

/// A process and those above it, nearest first. The first process of the system is left out. The line ends early where a process
/// cannot be seen.
pub fn line(pid: u32) -> impl Iterator<Item = Process> {
    let look = crate::system::lookup();
    let seen = move |pid: u32| (pid > 1).then(|| look(pid)).flatten();
    std::iter::successors(seen(pid), move |below| seen(below.parent))
}

/// The process that started this one; `None` if the system does not tell.
pub fn own_parent() -> Option<u32> {
    #[cfg(unix)]
    let parent = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let parent = look(std::process::id()).map(|own| own.parent);
    parent
}

/// Whether any process has this id; `None` if the system does not tell.
#[cfg(unix)]
pub fn exists(pid: u32) -> Option<bool> {
    use rustix::io::Errno;
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return Some(false);
    };
    // A signal that is not sent.
    match rustix::process::test_kill_process(pid) {
        // A missing right to signal the process means that it exists.
        Ok(()) | Err(Errno::PERM) => Some(true),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

/// Whether any process has this id; `None` if the system does not tell.
#[cfg(not(unix))]
pub fn exists(pid: u32) -> Option<bool> {
    let is_there = |pid| crate::system::start(pid).is_some();
    // Where this process is not found, the system tells of none.
    is_there(pid).then_some(true).or_else(|| is_there(std::process::id()).then_some(false))
}
