//! Which rows are shown.

use crate::roster::row::Row;
use crate::time::{Millis, Timestamp};

/// The filter that the user chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Whether to show everything: superseded, ended, long-idle and put away sessions too.
    pub all: bool,
    /// How recent the activity of a session without a process must be.
    pub since: Millis,
}

impl Default for Filter {
    fn default() -> Self {
        Self { all: false, since: Millis::from_secs(24 * 60 * 60) }
    }
}

impl Filter {
    /// Whether the row is shown: by default the head of a chain that is live or was active lately.
    pub fn shows(&self, row: &Row, now: Timestamp) -> bool {
        self.all
            || row.superseded.is_none()
                && !row.put_away
                && (row.live || now.since(row.last_activity_at) <= self.since)
    }

    /// When a row that is shown now will be hidden, if nothing happens.
    pub fn hidden_at(&self, row: &Row, now: Timestamp) -> Option<Timestamp> {
        let passes = !self.all && !row.live && self.shows(row, now);
        passes.then(|| row.last_activity_at + self.since + Millis(1))
    }
}
