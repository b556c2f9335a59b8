//! The one order of the roster: group, then newest activity, then session id.
//!
//! It is a function of what a row shows, so that a reader of the JSON can put rows in the same order
//! from `group`, `lastActivityAt` and `sessionId` alone.

use std::cmp::Reverse;

use crate::ids::SessionId;
use crate::roster::group::{Group, group_of};
use crate::roster::row::Row;
use crate::time::Timestamp;

/// Where a row stands; total, because session ids differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// Who needs the person comes first.
    pub group: Group,
    /// Newest first.
    pub activity: Reverse<Timestamp>,
    /// Decides between equals.
    pub session: SessionId,
}

impl OrderKey {
    /// The place of a row.
    pub fn of(row: &Row) -> Self {
        Self {
            group: group_of(row),
            activity: Reverse(row.last_activity_at),
            session: row.session_id.clone(),
        }
    }
}
