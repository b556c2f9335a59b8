//! The end of a step: works off everything due.

use watchbill_core::ids::SessionId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::session::state::StateKind;

use super::attention::{mute, tell_attention};
use super::chains::tie;
use super::fetch::fetch_tied;
use super::reconcile::look_at_file;
use super::rooms::Rooms;
use super::rows::rebuild_rows;
use super::working_folders::{add_folders, look_at_folder};
use crate::model::schedule::Due;
use crate::step::input::Output;

/// Works off the deadlines that have passed.
pub(super) fn work_off_deadlines(rooms: &mut Rooms, out: &mut Vec<Output>) {
    for due in rooms.schedule.take_due(rooms.env.now()) {
        match due {
            Due::Session(id) => rooms.rows.mark(id),
            Due::RegistryFile(path) => look_at_file(rooms, &path, out),
            Due::Attention => {}
            Due::Unmute => mute(rooms, None),
            Due::Limits => rooms.status_lines.set_due(),
            Due::Folder(folder) => look_at_folder(rooms, &folder, out),
        }
    }
}

/// Works off everything due: chains first, then rows, then problems. `chains_may_wait`: only the first scan made
/// sessions due, and no caller needs their chains yet.
pub(super) fn settle(rooms: &mut Rooms, chains_may_wait: bool, out: &mut Vec<Output>) {
    add_folders(rooms, out);
    // After the folders, because markers tie sessions too.
    fetch_tied(rooms);
    tie(rooms, chains_may_wait);
    let next_end = rooms.status_lines.publish(rooms.env.now());
    if let Some(next_end) = next_end {
        rooms.schedule.set(Due::Limits, next_end);
        rooms.alerting.observe_limits(rooms.status_lines.published(), rooms.env.now());
        // They say when the limit ends that stopped them.
        let shown = rooms.rows.published(true).iter();
        let of_limit =
            |id: &SessionId| rooms.own.of(id).is_some_and(|own| own.fold.stopped_by_limit().is_some());
        let stopped =
            shown.filter(|shown| shown.row.state_kind == Some(StateKind::Limit) || of_limit(&shown.id));
        let stopped: Vec<SessionId> = stopped.map(|shown| shown.id.clone()).collect();
        rooms.rows.mark_all(stopped);
    }
    let mut changed = rebuild_rows(rooms, out) | rooms.alerting.take_muting_changed() | next_end.is_some();
    let begun_anew = rooms.pending.take_begun_anew();
    if !begun_anew.is_empty() {
        out.push(Output::Again(begun_anew));
    }
    if rooms.problems.is_dirty() {
        changed |= rebuild_problems(rooms);
    }
    if changed {
        rooms.rows.revise();
    }
    tell_attention(rooms, out);
}

fn rebuild_problems(rooms: &mut Rooms) -> bool {
    let Rooms { env, witnesses, sessions, distant, problems, .. } = rooms;
    problems.set_places(ProblemKind::TwoProcesses, &witnesses.run_twice());
    let folds = sessions.ids().filter_map(|id| sessions.fold(id));
    let cwds = folds.flat_map(|fold| &fold.lineage().cwds).chain(distant.cwds());
    problems.rebuild(witnesses.problems(cwds), &env.settings().problems)
}
