//! Makes due rows: verdicts first, then the two views.

use std::collections::BTreeSet;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use super::ingest::restore_fold;
use super::processes::look_at_children;
use super::requests;
use super::rooms::Rooms;
use super::token_sharing::subtract_shared_tokens;
use super::user_edits::end_outdated_edits;
use super::verdicts::{new_row, verdict_of};
use crate::model::row::row_due_at;
use crate::model::rows::RowChanges;
use crate::model::schedule::Due;
use crate::model::sessions::Advanced;
use crate::step::input::Output;

/// Makes the due rows. Says whether a published view changed.
pub(super) fn rebuild_rows(rooms: &mut Rooms, out: &mut Vec<Output>) -> bool {
    let mut due = rooms.rows.take_due(rooms.pending.is_store_only());
    if due.is_empty() {
        return false;
    }
    // A subagent that is a session of its own shows in the row of the session that started it. So it is looked at first.
    let parts: BTreeSet<SessionId> =
        due.iter().filter(|id| rooms.sessions.whole_of(id).is_some()).cloned().collect();
    due.extend(parts.iter().filter_map(|id| rooms.sessions.whole_of(id)).collect::<Vec<_>>());
    let mut made = RowChanges::default();
    for id in parts.iter().chain(due.difference(&parts)) {
        let next = rebuild_row(rooms, id, &mut made, out);
        rooms.schedule.set(Due::Session(id.clone()), next);
    }
    rooms.pending.rows_made(&due);
    rooms.rows.apply(made)
}

/// Makes one row. Gives the time to make it again if nothing happens.
fn rebuild_row(
    rooms: &mut Rooms,
    id: &SessionId,
    made: &mut RowChanges,
    out: &mut Vec<Output>,
) -> Option<Timestamp> {
    let rested = rooms.rows.resting_mut().end(id);
    advance(rooms, id);
    subtract_shared_tokens(rooms, id);
    let now = rooms.env.now();
    let silence = rooms.env.settings().timeouts.idle;
    let agents_next = rooms.sessions.advance_agents(id, now, silence);
    let child_next = look_at_children(rooms, id, out);
    rooms.work.rows += 1;
    let Some((mut row, next)) = new_row(rooms, id) else {
        rooms.alerting.remove(id, now);
        requests::session_gone(rooms, id, out);
        made.hide(id);
        if rooms.rows.forget_state(id) {
            rooms.pending.gone(id);
        }
        // A session that only a registry file knows gets its row when it is old enough.
        let named = rooms.witnesses.registry().all().filter(|witness| witness.entry.session == *id);
        let named = named.map(row_due_at);
        let part = rooms.sessions.fold(id).filter(|_| rooms.sessions.whole_of(id).is_some());
        let verdict_next = part.and_then(|_| verdict_of(rooms, id)?.next);
        let part_next = [part.and_then(|fold| fold.deadline()), child_next, verdict_next];
        return named.chain(part_next.into_iter().flatten()).filter(|at| *at > now).min();
    };
    end_outdated_edits(rooms, &row);
    let request_next = requests::compare(rooms, &mut row, out);
    let Rooms { sessions, rows, pending, alerting, startup, .. } = rooms;
    // The engine does not know the earlier state of a session at rest, so its state is no news.
    let is_news = startup.is_over() && !rested && !pending.is_store_only();
    if rows.note_state(id, (row.state, row.state_kind)) && is_news {
        pending.transition(&row);
    }
    let fold_next = sessions.fold(id).and_then(|fold| fold.deadline());
    let hides = rows.hides_at(&row, now);
    let counts = if rows.shows(&row, now) {
        alerting.observe_row(&mut row, now)
    } else {
        alerting.remove(id, now);
        None
    };
    if pending.lacks_row(id) || rows.made(id).is_none_or(|known| *known != row) {
        pending.row(&row);
    }
    if !rows.sort(&row, now, made, pending.is_store_only()) {
        sessions.rest(id);
    }
    let next = [next, fold_next, agents_next, child_next, request_next, hides, counts];
    next.into_iter().flatten().filter(|at| *at > now).min()
}

/// Fires the deadlines of the fold, and notes the repository.
fn advance(rooms: &mut Rooms, id: &SessionId) {
    match rooms.sessions.advance(id, rooms.env.fires_until()) {
        Advanced::Unreadable(path) => restore_fold(rooms, &path),
        Advanced::To(Some(cwd)) => {
            // The look at the folder found the repository. It comes before the rows.
            let repository = rooms.witnesses.repository(&cwd);
            if let Some(session) = rooms.sessions.get_mut(id) {
                session.repository = repository;
            }
        }
        Advanced::To(None) | Advanced::None => {}
    }
}
