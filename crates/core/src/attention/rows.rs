//! Which rows need the user, judged without a history.

use super::need::{Need, need};
use crate::roster::row::Row;

/// What a row needs the user for: nothing while the row is snoozed or put away, or if the user cannot answer there.
pub const fn needs_person(row: &Row) -> Option<Need> {
    let is_hidden = row.snoozed_until.is_some() || row.put_away || row.is_unattended();
    if is_hidden { None } else { need(row.state, row.state_kind) }
}
