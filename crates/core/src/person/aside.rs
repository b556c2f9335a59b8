//! A session that the person has set aside: for a while, or until something new happens in it.

use crate::attention::need;
use crate::roster::row::{Row, Source};
use crate::session::state::State;
use crate::time::Timestamp;

/// How a session is set aside. Neither way hides anything new: a snooze ends at its time, and what was put away
/// comes back by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Aside {
    /// It needs nobody until then. A time that has passed is kept: from it on the session needs the person anew.
    pub snoozed_until: Option<Timestamp>,
    /// It is put away, as it was when the person looked.
    pub away: Option<Seen>,
}

/// What the person saw of a session when they put it away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Time of its newest record.
    pub active_at: Timestamp,
    /// Since when its state held.
    pub since: Timestamp,
}

impl Aside {
    /// Not set aside in any way.
    pub const fn is_nothing(&self) -> bool {
        self.snoozed_until.is_none() && self.away.is_none()
    }

    /// Writes into the row how it is set aside at this time; says when that ends by itself.
    pub fn mark(&self, row: &mut Row, now: Timestamp) -> Option<Timestamp> {
        row.put_away = self.away.is_some_and(|seen| seen.is_all(row));
        let (still, over) = match self.snoozed_until {
            Some(until) if now < until => (Some(until), None),
            until => (None, until),
        };
        (row.snoozed_until, row.roused_at) = (still, over);
        still
    }
}

impl Seen {
    /// What a row shows now.
    pub const fn of(row: &Row) -> Self {
        Self { active_at: row.last_activity_at, since: row.state_since }
    }

    /// Nothing has happened in the session that the person has not seen.
    ///
    /// A session that grows quiet or whose process ends has done nothing new, and neither has one of which only
    /// silence says that its turn is over. Whatever needs the person is new, however it became known.
    fn is_all(&self, row: &Row) -> bool {
        if row.last_activity_at > self.active_at {
            return false;
        }
        let quiet = matches!(row.state, State::Idle | State::Ended);
        let silence = row.state_reason.source == Source::Timeout && need(row.state, row.state_kind).is_none();
        row.state_since <= self.since || quiet || silence
    }
}
