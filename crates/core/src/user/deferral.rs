//! Sessions that the user snoozed, or put away until something new happens in them.

use crate::attention::need;
use crate::roster::row::{Row, Source};
use crate::session::state::State;
use crate::time::Timestamp;

/// The snooze and the put-away mark of a session. Neither hides anything new: a snooze ends at its time, and a
/// session that was put away comes back by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deferral {
    /// Until then the session does not count as needing the user. A time that has passed is kept: from it on the
    /// session needs the user anew.
    pub snoozed_until: Option<Timestamp>,
    /// The session at the moment when the user put it away; `None` if it is not put away.
    pub away: Option<SeenActivity>,
}

/// The part of a session that the user saw when putting it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenActivity {
    /// Time of its newest record.
    pub active_at: Timestamp,
    /// Since when its state held.
    pub since: Timestamp,
}

impl Deferral {
    /// Neither snoozed nor put away.
    pub const fn is_default_deferral(&self) -> bool {
        self.snoozed_until.is_none() && self.away.is_none()
    }

    /// Writes the snooze and the put-away mark of this time into the row. Returns when the snooze ends.
    pub fn apply_to_row(&self, row: &mut Row, now: Timestamp) -> Option<Timestamp> {
        row.put_away = self.away.is_some_and(|seen| seen.covers_row(row));
        let (still, over) = match self.snoozed_until {
            Some(until) if now < until => (Some(until), None),
            until => (None, until),
        };
        (row.snoozed_until, row.snooze_ended_at) = (still, over);
        still
    }
}

impl SeenActivity {
    /// Reads a row.
    pub const fn of(row: &Row) -> Self {
        Self { active_at: row.last_activity_at, since: row.state_since }
    }

    /// Whether nothing has happened in the session that the user has not seen.
    ///
    /// Becoming idle and ending are nothing new. A turn whose end is only inferred from silence is nothing new
    /// either. A need for the user is always new, from any source.
    fn covers_row(&self, row: &Row) -> bool {
        if row.last_activity_at > self.active_at {
            return false;
        }
        let quiet = matches!(row.state, State::Idle | State::Ended);
        let silence = row.state_reason.source == Source::Timeout && need(row.state, row.state_kind).is_none();
        row.state_since <= self.since || quiet || silence
    }
}
