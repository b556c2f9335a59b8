//! The results of the first scan.

use std::path::PathBuf;

use watchbill_core::problem::Problem;

use super::chains::tie_all;
use super::ingest::take_loaded;
use super::rooms::Rooms;
use super::user_edits::carry_snoozes;
use crate::model::distant::Distant;
use crate::step::input::Output;
use crate::transcripts::Loaded;

/// Takes in files that the first scan has read. Says whether chains may wait.
///
/// If the files concern very many sessions, tying takes longer with each batch. So it waits until half as many sessions
/// have come again, the scan ends, or another caller needs the chains.
pub(super) fn take_batch(rooms: &mut Rooms, batch: Vec<Loaded>, out: &mut Vec<Output>) -> bool {
    let needed = rooms.chains.all_due() || rooms.chains.any_due();
    // A file that grew during its read must not wait for its next record.
    let startup = &mut rooms.startup;
    let hinted = batch.iter().map(|loaded| &loaded.path).filter(|path| startup.was_put_off(path));
    let hinted: Vec<PathBuf> = hinted.cloned().collect();
    if !hinted.is_empty() {
        out.push(Output::Again(hinted));
    }
    take_all(rooms, batch);
    let Rooms { sessions, chains, startup, .. } = rooms;
    let may_wait = startup.is_reading() && !needed;
    if may_wait && chains.are_few_new(sessions) && chains.take_all_due() {
        startup.put_off_chains();
    }
    may_wait
}

/// Takes files in. The next step works off their effects.
pub(super) fn take_all(rooms: &mut Rooms, batch: impl IntoIterator<Item = Loaded>) {
    for loaded in batch {
        take_loaded(rooms, loaded);
    }
}

/// Takes the remaining facts of sessions that the engine does not hold. Only for a look at the default roster, before
/// the first step.
pub(super) fn take_distant(rooms: &mut Rooms, mut distant: Distant) {
    rooms.problems.absorb(distant.take_problems());
    rooms.problems.touch();
    rooms.work.add(distant.work());
    rooms.rows.resting_mut().add_cwds(distant.cwds());
    rooms.distant = distant;
}

/// Ends the first scan: sessions at rest begin to wake, and changes from now on are news.
pub(super) fn end(rooms: &mut Rooms, problems: Vec<Problem>, out: &mut Vec<Output>) {
    if rooms.startup.take_chains_pending() {
        tie_all(rooms);
    }
    rooms.rows.resting_mut().begin_waking(&rooms.sessions);
    rooms.problems.set_scan(problems);
    let put_off = rooms.startup.end_scan();
    if !rooms.chains.all_due() {
        carry_snoozes(rooms);
    }
    rooms.rows.revise();
    if !put_off.is_empty() {
        out.push(Output::Again(put_off.into_iter().collect()));
    }
}
