//! Collects the data about one session from all rooms, and makes its verdict and row.

use std::collections::BTreeSet;

use watchbill_core::evidence::witness::Verdict;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::session::lazy::LazyFold;
use watchbill_core::session::state::StateKind;
use watchbill_core::time::Timestamp;

use super::rooms::Rooms;
use crate::model::parts::{Part, Parts};
use crate::model::row::row;
use crate::model::verdict::{RowInputs, joined_verdict, open_calls, verdict};

/// All data for a row.
pub(super) fn inputs<'a>(rooms: &'a Rooms, id: &'a SessionId) -> RowInputs<'a> {
    RowInputs { parts: parts(rooms, id), ..inputs_alone(rooms, id) }
}

/// The subagents of a session that are sessions of their own. One that was silent for long, and that no process runs, is not
/// judged: its fold may still be at rest.
fn parts(rooms: &Rooms, id: &SessionId) -> Parts {
    let (now, idle) = (rooms.env.now(), rooms.env.settings().timeouts.idle);
    let mut parts = Parts::default();
    let mut ids = vec![id];
    // A broken file may name its own subagent as its parent.
    let mut seen = BTreeSet::from([id]);
    while let Some(id) = ids.pop() {
        for id in rooms.sessions.get(id).into_iter().flat_map(|session| session.parts.values()) {
            if !seen.insert(id) {
                continue;
            }
            ids.push(id);
            rooms.sessions.get(id).into_iter().for_each(|session| parts.add_deeper(session));
            let active = rooms.sessions.fold(id).and_then(LazyFold::last_activity_at);
            parts.last_activity_at = parts.last_activity_at.max(active);
            if active.is_some_and(|at| now < at + idle) || rooms.witnesses.lives(id, rooms.env.is_live()) {
                let inputs = inputs_alone(rooms, id);
                let calls = || open_calls(&inputs, &inputs.instances());
                parts.extend(verdict(&inputs).map(|verdict| Part { calls: calls(), verdict }));
            }
        }
    }
    parts
}

/// All data for the verdict on a session alone.
fn inputs_alone<'a>(rooms: &'a Rooms, id: &'a SessionId) -> RowInputs<'a> {
    let Rooms { env, witnesses, status_lines, own, sessions, chains, user_edits, .. } = rooms;
    RowInputs {
        id,
        session: sessions.get(id),
        fold: sessions.main_file(id).and_then(|(path, file)| Some((path, &**file.main()?))),
        registry: witnesses.registry(),
        hooks: witnesses.hooks().of(id),
        said: status_lines.of(id),
        own: own.of(id).filter(|_| env.is_live()),
        is_shown_by_host: env.is_live() && is_shown_by_host(rooms, id),
        status_file: witnesses.status_file(id, env.until()),
        child: witnesses.child_of(id),
        parts: Parts::default(),
        chains: chains.chains(),
        set_aside: user_edits.deferral_of(id),
        given_name: witnesses.names().of(id).filter(|_| env.until().is_none()),
        proposed_title: user_edits.proposed_title_of(id),
        live: env.is_live(),
        timeouts: env.settings().timeouts,
        now: env.now(),
    }
}

/// Whether the row of an own session stands for this one. What a host began and was forgotten is not shown either.
fn is_shown_by_host(rooms: &Rooms, id: &SessionId) -> bool {
    if rooms.own.of(id).is_some() {
        return false;
    }
    let fold = rooms.sessions.fold(id);
    let active = fold.and_then(|fold| fold.facts().last_activity_at);
    let is_of_host = || fold.is_some_and(|fold| fold.lineage().by_host);
    rooms.own.stands_for(id, active).unwrap_or_else(is_of_host)
}

/// The row of a session, and the time to check it again. Its `needs` and `unseen` are not set.
pub(super) fn new_row(rooms: &Rooms, id: &SessionId) -> Option<(Row, Option<Timestamp>)> {
    let (mut row, due) = row(&inputs(rooms, id))?;
    let shown = (row.state_kind == Some(StateKind::Limit)).then_some(row.state_since);
    // A session of one's own can go on then, also after it has become idle.
    let stopped = shown.or_else(|| rooms.own.of(id)?.fold.stopped_by_limit());
    if let Some(stopped) = stopped
        && let Some(root) = rooms.sessions.get(id).and_then(|session| session.root.as_ref())
    {
        let folder = root.to_string_lossy();
        row.limit_resets_at = rooms.status_lines.used_up_until(row.agent, &folder, stopped);
    }
    Some((row, due))
}

/// The row of a session, shown or not.
pub(super) fn row_of(rooms: &Rooms, id: &SessionId) -> Option<Row> {
    let (row, _) = new_row(rooms, id)?;
    let needs = rooms.alerting.counted_need(id, rooms.env.now());
    Some(Row { needs, unseen: rooms.alerting.is_unseen(id), request: rooms.requests.asked(id), ..row })
}

/// The verdict on a session, with all witnesses.
pub(super) fn verdict_of(rooms: &Rooms, id: &SessionId) -> Option<Verdict> {
    joined_verdict(&inputs(rooms, id)).map(|joined| joined.verdict)
}
