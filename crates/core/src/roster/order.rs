//! The one order of the roster: group, then the age in the state, then session id.
//!
//! The order depends only on what a row shows. So a reader of the JSON can sort rows by `group`, `stateSince` and
//! `sessionId` alone.

use crate::ids::SessionId;
use crate::roster::group::{Group, group_of};
use crate::roster::row::Row;

/// The sort key of a row. The order is total, because session ids differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// Sessions that need the user come first.
    pub group: Group,
    /// Rank by the age in the state; the smaller rank comes first. Older states come first under "Needs you", newer
    /// ones elsewhere.
    pub age_rank: i64,
    /// Decides between equals.
    pub session: SessionId,
}

impl OrderKey {
    /// The key of a row.
    pub fn of(row: &Row) -> Self {
        let (group, age_rank) = Self::group_and_age(row);
        Self { group, age_rank, session: row.session_id.clone() }
    }

    /// The key of a row without its id, so that the id is not copied.
    pub(super) const fn group_and_age(row: &Row) -> (Group, i64) {
        let group = group_of(row);
        (group, Self::age_rank(group, row))
    }

    /// Under "Needs you" the longest wait comes first, because it must not sink below newer ones. Every other group
    /// begins with the newest state.
    const fn age_rank(group: Group, row: &Row) -> i64 {
        let since = row.state_since.as_millis();
        match group {
            Group::NeedsYou => since,
            Group::Working | Group::YourTurn | Group::Idle => since.saturating_neg(),
        }
    }
}
