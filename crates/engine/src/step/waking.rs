//! Makes the rows of sessions at rest.

use std::collections::BTreeSet;

use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;

use super::fetch::fetch_all;
use super::rooms::Rooms;
use super::rows::rebuild_rows;
use super::settle::settle;
use crate::model::resting::is_over;
use crate::persist::pending::NextRows;
use crate::step::input::Output;

/// All sessions were restored. Those that the default roster shows get rows at once, the others rest.
pub(super) fn put_at_rest(rooms: &mut Rooms) {
    let Rooms { env, sessions, rows, pending, .. } = rooms;
    let oldest = env.recent_since();
    // If no caller will ask for all rows, there is no later time to make missing ones, so make them now.
    let for_good = rows.resting().rows_never_made();
    let lacks_row = |fold: &LazyFold| pending.lacks_row(&fold.lineage().session);
    let rests = |fold: &&LazyFold| is_over(fold, oldest) && !(for_good && lacks_row(fold));
    let old: Vec<&LazyFold> = sessions.folds().into_iter().filter(rests).collect();
    rows.resting_mut().set_resting(&old);
    rows.touch(sessions.ids().cloned());
}

/// Makes the rows of sessions at rest, so that the view of all sessions is complete. Also ties the sessions that the
/// first scan has read so far.
pub(super) fn wake_all(rooms: &mut Rooms) -> Vec<Output> {
    let mut out = Vec::new();
    // The caller's question or command may be about a chain.
    if rooms.rows.resting_mut().take_for_good() | rooms.startup.take_chains_pending() {
        fetch_all(rooms);
        rooms.chains.mark_all();
        settle(rooms, false, &mut out);
    }
    rooms.rows.resting_mut().begin_waking(&rooms.sessions);
    wake(rooms, usize::MAX, &mut out);
    // Sessions with an unusable stored state ask for a read of their transcripts at once.
    settle(rooms, false, &mut out);
    out
}

/// Makes at most so many rows: first of sessions whose rows wait for their chains, then of sessions at rest.
pub(super) fn wake(rooms: &mut Rooms, most: usize, out: &mut Vec<Output>) {
    let (late, woken) = rooms.rows.take_waking(most);
    make_rows(rooms, late, out);
    if !woken.is_empty() {
        // The rows above have changed, so they are stored. An earlier run has stored these ones.
        rooms.pending.expect_rows(NextRows::Stored);
        make_rows(rooms, woken, out);
    }
}

/// Makes these rows and no others.
fn make_rows(rooms: &mut Rooms, sessions: BTreeSet<SessionId>, out: &mut Vec<Output>) {
    let others = rooms.rows.replace_due(sessions);
    if rebuild_rows(rooms, out) {
        rooms.rows.revise();
    }
    rooms.rows.replace_due(others);
}
