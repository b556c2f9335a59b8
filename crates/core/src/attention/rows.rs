//! Which rows need the user, judged without a history.

use super::need::{COUNT_DWELL, Counts, Need, need};
use crate::roster::row::Row;
use crate::time::Timestamp;

/// What a row needs the user for: nothing while the row is snoozed or put away, or if the user cannot answer there.
pub const fn needs_person(row: &Row) -> Option<Need> {
    let is_hidden = row.snoozed_until.is_some() || row.put_away || row.is_unattended();
    if is_hidden { None } else { need(row.state, row.state_kind) }
}

/// The counts of a roster, without a history. A need that is younger than the dwell does not count yet.
pub fn counts_of<'a>(rows: impl IntoIterator<Item = &'a Row>, now: Timestamp) -> Counts {
    let mut counts = Counts::default();
    for row in rows {
        if let Some(need) = needs_person(row)
            && row.needed_since() + COUNT_DWELL <= now
        {
            counts.add(need);
        }
    }
    counts
}
