//! The checked-in timelines, one for each recording and set of witnesses.

use crate::play::{Witnesses, all};
use crate::timeline::timeline;

#[test]
fn every_recording_replays_into_its_timeline_with_the_registry() {
    compare("registry", Witnesses::REGISTRY);
}

#[test]
fn every_recording_replays_into_its_timeline_from_files_alone() {
    compare("files", Witnesses::FILES);
}

#[test]
fn every_recording_replays_into_its_timeline_with_all_witnesses() {
    compare("all", Witnesses::ALL);
}

#[test]
fn every_recording_replays_into_its_timeline_with_hooks_but_without_the_registry() {
    compare("hooks", Witnesses::HOOKS);
}

fn compare(witnesses: &str, heard: Witnesses) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for named in all() {
        settings.set_snapshot_suffix(format!("{}.{witnesses}", named.name));
        settings.bind(|| insta::assert_snapshot!("timeline", timeline(&named, heard)));
    }
}
