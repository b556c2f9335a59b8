//! Deadlines: the things to check again, and the time of each check.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use watchbill_core::deadlines::Deadlines;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

/// Something to check again at its time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Due {
    Session(SessionId),
    RegistryFile(PathBuf),
    Folder(PathBuf),
    Attention,
    /// A timed mute ends.
    Unmute,
    /// The span of a plan's limit ends.
    Limits,
}

/// All deadlines.
#[derive(Default)]
pub(crate) struct Schedule {
    deadlines: Deadlines<Due>,
    /// Half-written files, with the time of the next read.
    retries: BTreeMap<PathBuf, Timestamp>,
}

impl Schedule {
    /// The next deadline.
    pub fn next(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// Sets or removes one deadline.
    pub fn set(&mut self, due: Due, at: Option<Timestamp>) {
        self.deadlines.set(due, at);
    }

    /// Takes the deadlines that have passed.
    pub fn take_due(&mut self, now: Timestamp) -> Vec<Due> {
        self.deadlines.pop_due(now)
    }

    /// Sets the time to read a half-written file again; `None` ends the retries.
    pub fn retry(&mut self, path: &Path, due: Due, at: Option<Timestamp>) {
        match at {
            Some(at) => self.retries.insert(path.to_path_buf(), at),
            None => self.retries.remove(path),
        };
        self.deadlines.set(due, at);
    }

    /// The next retry of a half-written file.
    pub fn next_retry(&self) -> Option<Timestamp> {
        self.retries.values().min().copied()
    }

    /// Takes all half-written files.
    pub fn take_retries(&mut self) -> impl Iterator<Item = PathBuf> + use<> {
        std::mem::take(&mut self.retries).into_keys()
    }
}
