//! The checked-in timelines, one for each recording and set of witnesses.

use crate::play::{all, play};

#[test]
fn every_recording_replays_into_its_timeline_with_the_registry() {
    for (name, recording) in all() {
        insta::with_settings!({ snapshot_suffix => format!("{name}.registry"), prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("timeline", play(&recording, true));
        });
    }
}

#[test]
fn every_recording_replays_into_its_timeline_from_files_alone() {
    for (name, recording) in all() {
        insta::with_settings!({ snapshot_suffix => format!("{name}.files"), prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!("timeline", play(&recording, false));
        });
    }
}
