//! The processes around a client process: its children and its parent.
//!
//! A running tool is a child of its client. So a child that began after a call shows that the call was not held back
//! for an answer, if no better witness speaks.

use watchbill_core::time::Millis;
use watchbill_platform::{clock, process};

/// A running child process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Child {
    /// Its process id.
    pub pid: u32,
    /// Time since its start, on a clock that goes on during a suspend; exact to ten milliseconds.
    pub age: Millis,
}

/// The parent of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parent {
    /// The process with this id started it, or has adopted it.
    Runs(u32),
    /// Its parent is gone: it belongs to the system's first process now.
    Gone,
    /// The system does not tell.
    Unknown,
}

/// The running children of `pid`, newest first; `None` if the system does not tell. Do not call this periodically.
pub(crate) fn children(pid: u32) -> Option<Vec<Child>> {
    let now = clock::since_boot();
    let alive = |pid: u32| {
        let child = process::look(pid).filter(|child| !child.has_ended)?;
        let age = process::age(&child, now)?.as_millis().try_into().ok()?;
        Some(Child { pid, age: Millis(age) })
    };
    let mut children: Vec<Child> = process::children(pid)?.into_iter().filter_map(alive).collect();
    children.sort_by_key(|child| (child.age, child.pid));
    Some(children)
}

/// The parent of `pid`.
pub(crate) fn parent(pid: u32) -> Parent {
    match process::look(pid) {
        // In a container the first process may be the shell that started everything. It counts as gone all the same.
        Some(process) if process.parent <= 1 && pid != 1 => Parent::Gone,
        Some(process) => Parent::Runs(process.parent),
        None => Parent::Unknown,
    }
}
