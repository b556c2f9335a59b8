//! The engine's time, and the correction of a wrong clock.

use std::sync::Arc;

use watchbill_core::problem::ProblemKind;
use watchbill_core::time::Timestamp;

use super::rooms::Rooms;
use crate::model::schedule::Due;
use crate::world::environment::ClockStep;

/// The place name of problems with the clock.
const CLOCK: &str = "clock";

/// Sets the time.
pub(super) fn tell_time(rooms: &mut Rooms, now: Timestamp) {
    match rooms.env.set_now(now) {
        ClockStep::On => {}
        ClockStep::Back => turn_back(rooms, now),
        ClockStep::CaughtUp => rooms.problems.clear(CLOCK, ProblemKind::ClockWentBack),
    }
}

/// The clock was wrong and was set right. With the wrong time, the engine would show every session as idle until the
/// clock catches up, and hide the old ones.
fn turn_back(rooms: &mut Rooms, now: Timestamp) {
    let Rooms { witnesses, status_lines, sessions, rows, problems, schedule, requests, .. } = rooms;
    problems.met_mut().count(&Arc::from(CLOCK), ProblemKind::ClockWentBack);
    problems.touch();
    for file in sessions.files_mut().values_mut() {
        file.turn_back(now);
    }
    witnesses.turn_back(now);
    status_lines.turn_back(now);
    requests.turn_back(now);
    rows.mark_all(sessions.ids().chain(witnesses.named()).cloned());
    for path in schedule.take_retries() {
        let due = match witnesses.is_folder(&path) {
            true => Due::Folder(path.clone()),
            false => Due::RegistryFile(path.clone()),
        };
        schedule.retry(&path, due, Some(now));
    }
}
