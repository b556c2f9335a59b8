//! What has to be looked at again, and when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use watchbill_core::deadlines::Deadlines;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

/// What has to be looked at again at some time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Due {
    Session(SessionId),
    RegistryFile(PathBuf),
    Folder(PathBuf),
    Attention,
    /// Everything was muted for a while, which is over.
    Unmute,
}

/// All deadlines.
#[derive(Default)]
pub(crate) struct Schedule {
    deadlines: Deadlines<Due>,
    /// Half-written files that are to be read again, and when.
    retries: BTreeMap<PathBuf, Timestamp>,
}

impl Schedule {
    /// The next time at which something is due.
    pub fn next(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// Sets or takes away the deadline of one thing.
    pub fn set(&mut self, due: Due, at: Option<Timestamp>) {
        self.deadlines.set(due, at);
    }

    /// Takes what is due by now.
    pub fn take_due(&mut self, now: Timestamp) -> Vec<Due> {
        self.deadlines.pop_due(now)
    }

    /// A half-written file is to be read again then, or needs no more reading.
    pub fn retry(&mut self, path: &Path, due: Due, at: Option<Timestamp>) {
        match at {
            Some(at) => self.retries.insert(path.to_path_buf(), at),
            None => self.retries.remove(path),
        };
        self.deadlines.set(due, at);
    }

    /// When a half-written file is to be read again.
    pub fn next_retry(&self) -> Option<Timestamp> {
        self.retries.values().min().copied()
    }

    /// Takes all half-written files.
    pub fn take_retries(&mut self) -> impl Iterator<Item = PathBuf> + use<> {
        std::mem::take(&mut self.retries).into_keys()
    }
}
