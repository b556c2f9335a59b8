//! The engine's time, and what has to be done when the clock was wrong.

use std::sync::Arc;

use watchbill_core::problem::ProblemKind;
use watchbill_core::time::Timestamp;

use super::rooms::Rooms;
use crate::environment::ClockStep;
use crate::model::schedule::Due;

/// The place that problems with the clock are noted at.
const CLOCK: &str = "clock";

/// It is `now`.
pub(super) fn tell_time(rooms: &mut Rooms, now: Timestamp) {
    match rooms.env.set_now(now) {
        ClockStep::On => {}
        ClockStep::Back => turn_back(rooms, now),
        ClockStep::CaughtUp => rooms.problems.clear(CLOCK, ProblemKind::ClockWentBack),
    }
}

/// The clock was wrong and has been set right. To hold on to the wrong time would show every session as
/// idle for as long as the clock was ahead, and hide the old ones.
fn turn_back(rooms: &mut Rooms, now: Timestamp) {
    let Rooms { witnesses, sessions, rows, problems, schedule, .. } = rooms;
    problems.met_mut().count(&Arc::from(CLOCK), ProblemKind::ClockWentBack);
    problems.touch();
    for file in sessions.files_mut().values_mut() {
        file.turn_back(now);
    }
    rows.mark_all(sessions.ids().chain(witnesses.named()).cloned());
    for path in schedule.take_retries() {
        let due = match witnesses.is_folder(&path) {
            true => Due::Folder(path.clone()),
            false => Due::RegistryFile(path.clone()),
        };
        schedule.retry(&path, due, Some(now));
    }
}
