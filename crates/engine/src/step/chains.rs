//! Updates chains after new facts about sessions: all chains, or only those that the facts may concern.
//!
//! To tie thousands of sessions takes longer than a working session should wait, and mostly only one has news. A part
//! gives the same result as the whole, because facts about one group do not concern another (see
//! [`Ties`](watchbill_core::chain::ties::SessionGroups)).

use std::collections::BTreeSet;

use watchbill_core::chain::chains::Chains;
use watchbill_core::chain::lineage::{Lineage, Marker};
use watchbill_core::chain::resolve::resolve_for;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::user::UserEdits;

use super::rooms::Rooms;
use super::user_edits::carry_snoozes;
use crate::model::chain_facts::ChainFacts;
use crate::model::chain_state::{LinkChange, origins_in};

/// Ties all sessions if that is due, or else the due ones with those that they may concern. `may_wait`: only the first
/// scan made sessions due, and no caller needs their chains yet.
pub(super) fn tie(rooms: &mut Rooms, may_wait: bool) {
    if !rooms.chains.all_due() && rooms.chains.any_due() && !tie_due(rooms) {
        let Rooms { sessions, chains, startup, .. } = rooms;
        if may_wait && chains.are_few_new(sessions) {
            chains.note_ties(sessions);
            startup.put_off_chains();
        } else {
            chains.mark_all();
        }
    }
    if rooms.chains.all_due() || rooms.rows.wakes_without_chain() {
        tie_all(rooms);
    }
}

/// Ties all sessions.
pub(super) fn tie_all(rooms: &mut Rooms) {
    rooms.startup.take_chains_pending();
    rooms.work.chains += 1;
    rooms.chains.begin_all(&rooms.sessions);
    let (chains, markers) = match all_rest_for_good(rooms) {
        // No row is due, so no caller needs chains.
        true => (Chains::default(), None),
        false => {
            let (chains, markers) = resolved(rooms, &rooms.user_edits, &|id| rooms.rows.may_be_made(id));
            (chains, Some(markers))
        }
    };
    let chains = note_neighbours(rooms, chains);
    let origins = origins_in(&chains);
    let concerned = rooms.sessions.ids().chain(rooms.witnesses.named()).chain(rooms.own.sessions());
    let is_other = |id: &&SessionId| {
        follows_its_chain(rooms, &chains, id) && rooms.chains.is_other(&chains, &origins, id)
    };
    let others: Vec<SessionId> = concerned.filter(is_other).cloned().collect();
    let reading = rooms.startup.is_reading() && !rooms.pending.is_store_only();
    others.iter().for_each(|id| rooms.rows.chain_differs(id, reading));
    rooms.chains.set_all(chains, origins, markers);
    rooms.pending.links();
    carry_snoozes(rooms);
}

/// Ties only the due sessions and those that they may concern. `false` if these are too many, or a fact concerns all.
fn tie_due(rooms: &mut Rooms) -> bool {
    let Rooms { env, witnesses, own, sessions, chains, rows, user_edits, work, .. } = rooms;
    if rows.resting().rows_never_made() {
        return false;
    }
    let Some(most) = chains.part_limit(sessions) else { return false };
    chains.note_all_ties(sessions);
    let beside = ChainFacts::of(witnesses, own, user_edits, env.until(), &mut chains.cwds());
    let group = chains.take_part(&beside.with(&[], &BTreeSet::new()), most);
    let Some(group) = group.filter(|_| beside.markers() == chains.markers()) else { return false };
    let unwritten = beside.unwritten(own, sessions);
    let written = group.iter().filter_map(|id| Some(sessions.fold(id)?.lineage()));
    let unwritten = unwritten.iter().filter(|lineage| group.contains(&lineage.session));
    let lineages: Vec<&Lineage> = written.chain(unwritten).collect();
    let lives = |id: &&SessionId| witnesses.lives(id, env.is_live()) || beside.hosted().contains(*id);
    let live = group.iter().filter(lives).cloned().collect();
    let part = resolve_for(&beside.with(&lineages, &live), &|_| true);
    work.chains += 1;
    let part = note_neighbours(rooms, part);
    take_part(rooms, &group, part);
    true
}

/// Keeps what these chains found out about compactions, because a later program may not see it any more.
fn note_neighbours(rooms: &mut Rooms, mut chains: Chains) -> Chains {
    if rooms.witnesses.note_neighbours(std::mem::take(&mut chains.neighbours), rooms.env.now()) {
        rooms.pending.markers();
    }
    chains
}

/// Replaces the chains of the group with these.
fn take_part(rooms: &mut Rooms, group: &[SessionId], part: Chains) {
    let origins = origins_in(&part);
    let is_other =
        |id: &&SessionId| follows_its_chain(rooms, &part, id) && rooms.chains.is_other(&part, &origins, id);
    let others: Vec<SessionId> = group.iter().filter(is_other).cloned().collect();
    let LinkChange { new, old } = rooms.chains.set_part(group, part, origins, &rooms.sessions);
    rooms.pending.other_links(new, old);
    rooms.rows.mark_all(others);
    carry_snoozes(rooms);
}

/// Whether no session may have a row.
fn all_rest_for_good(rooms: &Rooms) -> bool {
    let Rooms { env, witnesses, sessions, rows, .. } = rooms;
    let resting = rows.resting();
    let all = resting.rows_never_made() && rows.due().is_empty() && sessions.len() == resting.len();
    all && witnesses.live_sessions(env.is_live()).iter().all(|id| resting.contains(id))
}

/// Whether a change of its chain makes the session's row due. For a session at rest with a stored row: only if its
/// chain has a session that is awake or new. A session at rest without a stored row gets one when it wakes.
fn follows_its_chain(rooms: &Rooms, chains: &Chains, id: &SessionId) -> bool {
    let rests = |id: &SessionId| rooms.rows.resting().contains(id);
    let is_new = |id: &SessionId| rooms.pending.lacks_row(id);
    if !rests(id) {
        return true;
    }
    let sessions = || chains.of(id).map(|chain| &chain.sessions[..]).unwrap_or_default();
    let is_known = rooms.pending.is_on() && rooms.sessions.contains(id) && !is_new(id);
    is_known && sessions().len() > 1 && sessions().iter().any(|id| !rests(id) || is_new(id))
}

/// The chains of the `wanted` sessions with these user edits, and the markers that counted.
pub(super) fn resolved(
    rooms: &Rooms,
    user_edits: &UserEdits,
    wanted: &dyn Fn(&SessionId) -> bool,
) -> (Chains, Vec<Marker>) {
    let Rooms { env, witnesses, own, sessions, .. } = rooms;
    let mut lineages: Vec<&Lineage> = sessions.folds().into_iter().map(LazyFold::lineage).collect();
    let cwds = &mut lineages.iter().flat_map(|lineage| &lineage.cwds);
    let beside = ChainFacts::of(witnesses, own, user_edits, env.until(), cwds);
    let unwritten = beside.unwritten(own, sessions);
    lineages.extend(&unwritten);
    let mut live = witnesses.live_sessions(env.is_live());
    live.extend(beside.hosted().iter().cloned());
    let chains = resolve_for(&beside.with(&lineages, &live), wanted);
    (chains, beside.into_markers())
}
