//! Takes in new settings while the engine runs.

use watchbill_core::ids::SessionId;

use super::changes::{is_left_out, keep_anew};
use super::rooms::Rooms;
use watchbill_settings::Settings;

/// Applies new settings. Roots and the way of watching never change in one engine. Timeouts that have fired stay fired:
/// an idle session stays idle until its next record, as the stored history says.
pub(super) fn take_settings(rooms: &mut Rooms, settings: Settings) {
    let before = rooms.env.set_settings(settings);
    let Rooms { env, sessions, rows, alerting, .. } = rooms;
    let now = env.settings();
    if before.timeouts != now.timeouts {
        sessions.files_mut().values_mut().for_each(|file| file.set_timeouts(now.timeouts));
    }
    rows.set_recent(now.recent);
    if (before.timeouts, before.recent) != (now.timeouts, now.recent) {
        rows.mark_all(sessions.ids().cloned());
    }
    if before.alerts.attention != now.alerts.attention {
        alerting.set_settings(now.alerts.attention.clone());
    }
    if before.problems != now.problems {
        rooms.problems.touch();
    }
    let exclude = &now.history.exclude;
    if before.history.exclude != *exclude {
        let comes_back = |id: &&SessionId| {
            is_left_out(sessions, id, &before.history.exclude) && !is_left_out(sessions, id, exclude)
        };
        let again: Vec<SessionId> = sessions.ids().filter(comes_back).cloned().collect();
        keep_anew(rooms, &again);
        forget_targets(rooms);
    }
}

/// The exclusion rules differ from those at the time when open calls were read. Forgets the targets of these calls,
/// because the engine knows nothing else about them to decide by.
pub(super) fn forget_targets(rooms: &mut Rooms) {
    let Rooms { env, sessions, rows, .. } = rooms;
    let exclude = &env.settings().history.exclude;
    sessions.files_mut().values_mut().for_each(|file| file.set_exclude(exclude));
    rows.mark_all(sessions.ids().cloned());
}
