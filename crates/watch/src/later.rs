//! What is looked at once more, some time after an event.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::hints::Hint;

/// SQLite writes a change into the log, waits for the disk, and then makes the change visible, by memory that it shares.
/// A look before that sees nothing of it, and no event follows (sqlite.org/walformat.html, the shm file).
const WRITTEN_FILE: Duration = Duration::from_secs(1);

/// Windows drops all events of a full buffer, and `notify` 8.2 passes on nothing then. So everything is looked at a while after
/// an event; without events nothing is.
const EVERYTHING: Duration = Duration::from_secs(60);

/// The hints to give once more, and when they are due.
#[derive(Debug, Default)]
pub(crate) struct LaterHints(BTreeMap<Hint, Instant>);

impl LaterHints {
    /// Adds the hint of an event. One that waits already is due no later for it.
    pub(crate) fn add(&mut self, hint: Hint, now: Instant) {
        let wait = if hint == Hint::Everything { EVERYTHING } else { WRITTEN_FILE };
        self.0.entry(hint).or_insert(now + wait);
    }

    /// When to take the next ones.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.0.values().min().copied()
    }

    /// Takes the hints that are due.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<Hint> {
        self.0.extract_if(.., |_, due| *due <= now).map(|(hint, _)| hint).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_is_due_once_and_as_long_after_its_first_event_as_it_says() {
        let (mut later, now) = (LaterHints::default(), Instant::now());
        let file = |name: &str| Hint::File(name.into());
        later.add(file("a"), now);
        later.add(Hint::Everything, now);
        later.add(file("b"), now + WRITTEN_FILE / 2);
        later.add(file("a"), now + WRITTEN_FILE / 2);
        assert_eq!(later.take(now + WRITTEN_FILE / 2), []);
        assert_eq!(later.due(), Some(now + WRITTEN_FILE));
        assert_eq!(later.take(now + WRITTEN_FILE), [file("a")]);
        assert_eq!(later.take(now + 2 * WRITTEN_FILE), [file("b")]);
        assert_eq!(later.due(), Some(now + EVERYTHING));
        assert_eq!(later.take(now + EVERYTHING), [Hint::Everything]);
        assert_eq!(later.due(), None);
    }
}
