//! Applies the inputs about own sessions: states, requests, and rows.

use watchbill_core::ids::SessionId;
use watchbill_core::requests::open::RequestEffect;

use super::processes::follow_registry;
use super::requests::carry_out;
use super::rooms::Rooms;
use crate::step::input::Output;
use crate::witnesses::own::{OwnChange, OwnInput, SwitchedSessions};

/// Takes news in. Requests go where those of hook processes go.
pub(super) fn apply_own_inputs(rooms: &mut Rooms, news: Vec<OwnInput>, out: &mut Vec<Output>) {
    if !rooms.env.is_live() {
        return;
    }
    let now = rooms.env.now();
    let before = rooms.own.switched();
    let OwnChange { sessions, asked, closed, expired } = rooms.own.take(news, now);
    mark_chains(rooms, &before, &sessions);
    let mut effects: Vec<RequestEffect> = asked.into_iter().flat_map(|ask| rooms.requests.ask(ask)).collect();
    effects.extend(closed.iter().flat_map(|id| rooms.requests.closed(id)));
    effects.extend(expired.iter().flat_map(|id| rooms.requests.closed_by_end(id)));
    carry_out(rooms, effects, out);
    rooms.rows.mark_all(sessions);
    follow_registry(rooms);
}

/// Makes the chains due that depend on the news: changes of the agent, and activity in sessions where it was changed.
fn mark_chains(rooms: &mut Rooms, before: &SwitchedSessions, sessions: &[SessionId]) {
    let Rooms { own, sessions: folds, chains, .. } = rooms;
    let after = own.switched();
    if *before != after {
        let all = before.switches.iter().chain(&after.switches);
        all.flat_map(|(to, switch)| [&switch.from, to]).for_each(|id| chains.mark(id.clone()));
        return;
    }
    let is_in = |id: &&SessionId| after.switches.iter().any(|(to, switch)| *id == to || **id == switch.from);
    for id in sessions.iter().filter(is_in) {
        if chains.depends_on_activity(folds, id, None) {
            chains.mark(id.clone());
        }
    }
}
