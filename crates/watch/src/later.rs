//! Files that are looked at once more, a moment after they were written.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// SQLite writes a change into the log, waits for the disk, and then makes the change visible, by memory that it shares.
/// A look before that sees nothing of it, and no event follows (sqlite.org/walformat.html, the shm file).
const LATER: Duration = Duration::from_secs(1);

/// The files, and when they are due.
#[derive(Debug, Default)]
pub(crate) struct LaterFiles {
    files: BTreeSet<PathBuf>,
    due: Option<Instant>,
}

impl LaterFiles {
    /// Adds a file that was just written. Files that are waiting are due no later for it.
    pub(crate) fn add(&mut self, file: PathBuf, now: Instant) {
        self.due.get_or_insert(now + LATER);
        self.files.insert(file);
    }

    /// When to take the files.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Takes the files, if they are due.
    pub(crate) fn take(&mut self, now: Instant) -> BTreeSet<PathBuf> {
        if self.due.is_none_or(|due| due > now) {
            return BTreeSet::new();
        }
        self.due = None;
        std::mem::take(&mut self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_due_a_second_after_its_first_change_and_once() {
        let (mut later, now) = (LaterFiles::default(), Instant::now());
        later.add("a".into(), now);
        later.add("b".into(), now + LATER / 2);
        later.add("a".into(), now + LATER / 2);
        assert_eq!(later.take(now + LATER / 2), BTreeSet::new());
        assert_eq!(later.due(), Some(now + LATER));
        assert_eq!(later.take(now + LATER), BTreeSet::from(["a".into(), "b".into()]));
        assert_eq!((later.due(), later.take(now + 2 * LATER)), (None, BTreeSet::new()));
    }
}
