//! Another program locks the database for a long time.

use std::io::{BufRead, BufReader, Read};

use watchbill_core::ids::SessionId;
use watchbill_store::{Access, OpenMode, Store};

use super::process;
use crate::running_engine_rig::RunningEngine;

/// Not a test: the code of the other program. It uses a data folder of its own whose database is a link to ours, so
/// it does not see our lock file.
#[test]
fn child_holds_the_database() {
    let Some(folder) = process::child_folder() else { return };
    let mut store = Store::open(&folder, OpenMode::WriteOrRead).unwrap();
    assert_eq!(store.access(), Access::Writer);
    let mut step = store.step().unwrap();
    step.session_key(&SessionId::new("never committed")).unwrap();
    println!("\nheld");
    // Until the test closes the pipe.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

#[test]
fn a_locked_database_is_reported_and_everything_is_stored_when_it_is_unlocked() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    let mut house = RunningEngine::at(&folder.path().join("data"));
    house.run_a_turn(1);
    house.until_stored(1, 2);
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(house.data().join("watchbill.db"), other.join("watchbill.db")).unwrap();
    let mut holder = process::spawn_child("faults::locked::child_holds_the_database", &other);
    let mut said = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap() == "held"));

    let obstacle = || watchbill_store::write_obstacle(&house.data()).map(|error| error.to_string());
    if cfg!(target_os = "linux") {
        let holder = format!("is locked by process {};", holder.id());
        assert!(
            obstacle().is_some_and(|said| said.contains(&holder)),
            "who only looks is told: {:?}",
            obstacle()
        );
    }
    house.run_a_turn(2);
    insta::assert_snapshot!("locked", house.until_store_problem());
    house.run_a_turn(1);
    house.run_a_turn(3);
    assert_eq!(house.found("prompt"), Ok(1), "reading goes on");
    assert!(!house.is_current(), "what was said meanwhile cannot be found");
    assert_eq!(house.stored(1), ["prompt 1", "done"]);

    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    house.until_no_store_problem();
    house.until_stored(1, 4);
    house.until_stored(2, 2);
    house.until_stored(3, 2);
    house.until("that all is stored is said", RunningEngine::is_current);
    assert!(watchbill_store::write_obstacle(&house.data()).is_none(), "who only looks is told no more");
    house.restart_after(|_| {});
    house.stop_and_compare_with_fresh_index();
}
