//! The one order of the roster: group, then the age in the state, then session id.
//!
//! It is a function of what a row shows, so that a reader of the JSON can put rows in the same order
//! from `group`, `stateSince` and `sessionId` alone.

use crate::ids::SessionId;
use crate::roster::group::{Group, group_of};
use crate::roster::row::Row;

/// Where a row stands; total, because session ids differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// Who needs the person comes first.
    pub group: Group,
    /// The age in the state, smaller for those that come first: older ones under "Needs you", newer ones elsewhere.
    pub age_rank: i64,
    /// Decides between equals.
    pub session: SessionId,
}

impl OrderKey {
    /// The place of a row.
    pub fn of(row: &Row) -> Self {
        let (group, age_rank) = Self::group_and_age(row);
        Self { group, age_rank, session: row.session_id.clone() }
    }

    /// The place of a row but for its id, which costs no copy.
    pub(super) const fn group_and_age(row: &Row) -> (Group, i64) {
        let group = group_of(row);
        (group, Self::age_rank(group, row))
    }

    /// Under "Needs you" the longest wait comes first, since it must not sink below newer ones. Every other group begins
    /// with the newest state.
    const fn age_rank(group: Group, row: &Row) -> i64 {
        let since = row.state_since.as_millis();
        match group {
            Group::NeedsYou => since,
            Group::Working | Group::YourTurn | Group::Idle => since.saturating_neg(),
        }
    }
}
