//! Takes in distant sessions when a fact ties them to held ones.

use std::collections::BTreeSet;
use std::path::PathBuf;

use watchbill_core::session::lazy::LazyFold;

use super::ingest::take_loaded;
use super::rooms::Rooms;
use crate::model::chain_facts::ChainFacts;
use crate::transcripts::load;

/// Takes in the distant sessions that present facts may tie to held ones. The result is then as if the engine held all.
pub(super) fn fetch_tied(rooms: &mut Rooms) {
    let Rooms { env, witnesses, own, sessions, rows, distant, user_edits, .. } = rooms;
    if distant.is_empty() {
        return;
    }
    let new: Vec<&LazyFold> = match distant.meets_held() {
        true => sessions.folds(),
        false => rows.due().iter().filter_map(|id| sessions.fold(id)).collect(),
    };
    new.into_iter().for_each(|fold| distant.add(fold));
    let beside = ChainFacts::of(witnesses, own, user_edits, env.until(), &mut distant.cwds());
    // The due rows include sessions that the registry, a hook or a status file names.
    let seeds = sessions.ids().filter(|id| rows.may_be_made(id)).chain(rows.due());
    let paths = distant.take_tied(&beside.with(&[], &BTreeSet::new()), seeds);
    fetch(rooms, paths);
}

/// Takes in all distant sessions.
pub(super) fn fetch_all(rooms: &mut Rooms) {
    let paths = rooms.distant.take_all();
    fetch(rooms, paths);
}

fn fetch(rooms: &mut Rooms, paths: Vec<PathBuf>) {
    let terms = rooms.env.terms(rooms.pending.is_on());
    let mut scratch = Vec::new();
    for path in paths {
        let Some((_, place)) = rooms.env.place_of(&path) else { continue };
        // The second read reports these problems again.
        rooms.problems.met_mut().forget(&path.to_string_lossy());
        let loaded = load(rooms.env.fs(), path, place, terms.clone(), &mut scratch, &|| true);
        take_loaded(rooms, loaded);
    }
}
