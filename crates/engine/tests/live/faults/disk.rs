//! A full disk, files that may not grow, a read-only folder.

use std::io::Write;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::process;
use crate::running_engine_rig::RunningEngine;

/// Fills the rest of the disk.
fn fill(ballast: &Path) {
    let mut file = std::fs::File::create(ballast).unwrap();
    for piece in [&[0u8; 4096][..], &[0; 1]] {
        while file.write_all(piece).is_ok() {}
    }
}

#[test]
fn a_full_disk_is_reported_and_everything_is_stored_when_there_is_room_again() {
    let test = "faults::disk::a_full_disk_is_reported_and_everything_is_stored_when_there_is_room_again";
    let Some(folder) = process::on_a_small_disk(test) else { return };
    let mut house = RunningEngine::at(&folder.join("data"));
    house.run_a_turn(1);
    house.until_stored(1, 2);
    let ballast = folder.join("ballast");
    fill(&ballast);
    // The write-ahead log has some free room of its own.
    for _ in 0..8 {
        house.append_prompt(2, &"words that fill a disk ".repeat(2_900));
    }
    insta::assert_snapshot!("full_disk", house.until_store_problem());
    assert!(!house.send_hook_event(&"a long prompt ".repeat(10_000)), "there is no room for it");
    house.until_problem_contains("hook events cannot be stored here");
    // A subscriber sees current events, and the search finds earlier texts.
    house.run_a_turn(1);
    house.run_a_turn(3);
    assert_eq!(house.found("prompt done"), Ok(0));
    assert_eq!(house.found("prompt").map(|found| found > 0), Ok(true));
    assert_eq!(house.stored(1)[..2], ["prompt 1", "done"]);
    insta::assert_snapshot!("full_disk_doctor", house.doctor());

    std::fs::remove_file(&ballast).unwrap();
    house.until_no_store_problem();
    house.until_stored(1, 4);
    house.until_stored(2, 8);
    house.until_stored(3, 2);
    assert_eq!(house.doctor(), "well");
    assert!(house.send_hook_event("a prompt"));
    house.restart_after(|_| {});
    assert_eq!(house.store_problems(), [""; 0]);
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn a_file_size_limit_is_reported_and_everything_is_stored_when_it_is_lifted() {
    let test = "faults::disk::a_file_size_limit_is_reported_and_everything_is_stored_when_it_is_lifted";
    let Some(folder) = process::without_the_signal_of_limits(test) else { return };
    let mut house = RunningEngine::at(&folder.join("data"));
    house.run_a_turn(1);
    house.until_stored(1, 2);
    let before = getrlimit(Resource::Fsize);
    // This process writes the transcripts too; they stay below the limit.
    setrlimit(Resource::Fsize, Rlimit { current: Some(16 << 10), ..before }).unwrap();
    house.run_a_turn(2);
    insta::assert_snapshot!("files_may_not_grow", house.until_store_problem());
    house.run_a_turn(1);
    assert_eq!(house.stored(1)[..2], ["prompt 1", "done"]);

    setrlimit(Resource::Fsize, before).unwrap();
    house.until_no_store_problem();
    house.until_stored(1, 4);
    house.until_stored(2, 2);
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn a_read_only_folder_is_reported_and_written_when_it_is_writable_again() {
    let test = "faults::disk::a_read_only_folder_is_reported_and_written_when_it_is_writable_again";
    let Some(folder) = process::with_mounts(test) else { return };
    let mut house = RunningEngine::at(&folder.join("data"));
    house.run_a_turn(1);
    house.until_stored(1, 2);
    house.stop();

    let mut house =
        RunningEngine::after(&folder.join("data"), |_| process::mount("remount,bind,ro", &folder));
    insta::assert_snapshot!("read_only", house.until_store_problem());
    insta::assert_snapshot!("read_only_doctor", house.doctor());
    house.run_a_turn(2);
    house.run_a_turn(3);
    assert_eq!(house.stored(1), ["prompt 1", "done"], "what was stored can be read");
    assert_eq!(house.stored(2), [""; 0]);

    process::mount("remount,bind,rw", &folder);
    house.until_no_store_problem();
    house.until_stored(2, 2);
    house.run_a_turn(2);
    house.until_stored(2, 4);
    assert_eq!(house.doctor(), "well");
}
