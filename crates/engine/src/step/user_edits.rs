//! The user edits, and their ends.

use watchbill_core::chain::chains::Chain;
use watchbill_core::chain::link::{Link, LinkConfidence};
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::user::{Deferral, EditChange, UserEdits};

use super::rooms::Rooms;

/// Replaces all user edits with the stored ones.
pub(super) fn restore(rooms: &mut Rooms, stored: UserEdits) {
    let Rooms { chains, rows, user_edits, .. } = rooms;
    if *user_edits == stored {
        return;
    }
    if user_edits.names() != stored.names() || user_edits.links() != stored.links() {
        chains.mark_all();
    }
    rows.mark_all(user_edits.deferrals().chain(stored.deferrals()).map(|(session, _)| session.clone()));
    rows.mark_all(user_edits.differently_titled(&stored).cloned());
    *user_edits = stored;
}

/// Applies one user edit, and queues it for the store.
pub(super) fn take_change(rooms: &mut Rooms, change: EditChange) {
    match &change {
        EditChange::SetDeferral(session, _) => rooms.rows.mark(session.clone()),
        EditChange::SetChainName(..) | EditChange::AddLink(_) | EditChange::RemoveLink(_) => {
            rooms.chains.mark_all()
        }
    }
    rooms.pending.user_edit(&change);
    rooms.user_edits.apply(change);
}

/// Moves a snooze to the session where the work goes on, so that `/clear` does not end it. The move is permanent, so it
/// waits for the end of the first scan: a session that seems to be over may have gone on since.
pub(super) fn carry_snoozes(rooms: &mut Rooms) {
    if rooms.startup.is_reading() {
        return;
    }
    let (now, chains) = (rooms.env.now(), rooms.chains.chains());
    let moved = rooms.user_edits.deferrals().filter_map(|(from, aside)| {
        let until = aside.snoozed_until.filter(|until| *until > now)?;
        let to = proven_successor(chains.of(from)?, from)?;
        Some((from.clone(), to.clone(), until))
    });
    for (from, to, until) in moved.collect::<Vec<_>>() {
        let before = |id| rooms.user_edits.deferral_of(id).copied().unwrap_or_default();
        let (left, taken) = (before(&from), before(&to));
        let until = taken.snoozed_until.max(Some(until));
        take_change(rooms, EditChange::SetDeferral(from, Deferral { snoozed_until: None, ..left }));
        take_change(rooms, EditChange::SetDeferral(to, Deferral { snoozed_until: until, ..taken }));
    }
}

/// Ends a snooze or a put-away when the session has news after it.
pub(super) fn end_outdated_edits(rooms: &mut Rooms, row: &Row) {
    let is_news = rooms.startup.is_over();
    let Some(aside) = rooms.user_edits.deferral_of(&row.session_id).filter(|_| is_news) else { return };
    let back = aside.away.is_some() && !row.put_away;
    let stale = row.snooze_ended_at.is_some_and(|at| row.state_since > at);
    if back || stale {
        let left = Deferral {
            away: aside.away.filter(|_| !back),
            snoozed_until: aside.snoozed_until.filter(|_| !stale),
        };
        let change = EditChange::SetDeferral(row.session_id.clone(), left);
        rooms.pending.user_edit(&change);
        rooms.user_edits.apply(change);
    }
}

/// The session where the work of a superseded one provably goes on. A guess may be revised, and would then have hidden
/// unrelated work.
fn proven_successor<'c>(chain: &'c Chain, from: &SessionId) -> Option<&'c SessionId> {
    let next = |session: &SessionId| {
        let by = &chain.superseded.get(session)?.by;
        let proven = |link: &&Link| link.confidence == LinkConfidence::Proven;
        let link = chain.links.iter().filter(proven).find(|link| link.from == *session && link.to == *by);
        link.map(|_| by)
    };
    std::iter::successors(next(from), |session| next(session)).last()
}
