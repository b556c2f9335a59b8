//! Sessions at rest get their rows.

use std::collections::BTreeSet;

use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;

use super::fetch::fetch_all;
use super::rooms::Rooms;
use super::rows::rebuild_rows;
use super::settle::settle;
use crate::input::Output;
use crate::model::resting::is_over;
use crate::persist::pending::NextRows;

/// All sessions were restored. Those that the default roster shows get rows at once.
pub(super) fn lay_to_rest(rooms: &mut Rooms) {
    let Rooms { env, sessions, rows, pending, .. } = rooms;
    let oldest = env.recent_since();
    // A program that keeps what is known and shows it to nobody will have no time later.
    let for_good = rows.resting().for_good();
    let lacks_row = |fold: &RestingFold| pending.lacks_row(&fold.lineage().session);
    let rests = |fold: &&RestingFold| is_over(fold, oldest) && !(for_good && lacks_row(fold));
    let old: Vec<&RestingFold> = sessions.folds().into_iter().filter(rests).collect();
    rows.resting_mut().lay_to_rest(&old);
    rows.touch(sessions.ids().cloned());
}

/// Puts the rows of sessions at rest together, so that the view of all has all of them, and ties what the first
/// scan has read so far.
pub(super) fn wake_all(rooms: &mut Rooms) -> Vec<Output> {
    let mut out = Vec::new();
    // What is asked or said may be about a chain.
    if rooms.rows.resting_mut().take_for_good() | rooms.startup.take_chains_pending() {
        fetch_all(rooms);
        rooms.chains.mark_all();
        settle(rooms, false, &mut out);
    }
    rooms.rows.resting_mut().begin_waking(&rooms.sessions);
    wake(rooms, usize::MAX, &mut out);
    // Of what turned out to be unreadable the transcript is asked for at once.
    settle(rooms, false, &mut out);
    out
}

/// Puts the rows of so many sessions at rest together, or of such whose rows wait for their chains to be shown.
pub(super) fn wake(rooms: &mut Rooms, most: usize, out: &mut Vec<Output>) {
    let (late, woken) = rooms.rows.take_waking(most);
    make_rows(rooms, late, out);
    if !woken.is_empty() {
        // What has changed by itself is kept; what only wakes up was kept by an earlier run.
        rooms.pending.expect_rows(NextRows::Stored);
        make_rows(rooms, woken, out);
    }
}

/// Puts these rows together and no others.
fn make_rows(rooms: &mut Rooms, sessions: BTreeSet<SessionId>, out: &mut Vec<Output>) {
    let others = rooms.rows.replace_due(sessions);
    if rebuild_rows(rooms, out) {
        rooms.rows.revise();
    }
    rooms.rows.replace_due(others);
}
