//! The database or one of its files is removed while an engine runs. A later command that reports success is stored,
//! and earlier commands and forgotten ids are not lost.

use std::path::{Path, PathBuf};

use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_core::user::SessionCommand;
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::socket::access::CommandId;
use watchbill_engine::socket::client::Client;
use watchbill_store::{Access, OpenMode, Store};

use crate::records::session;
use crate::running_engine_rig::RunningEngine;
use crate::subscriber::now;

fn name(n: usize, name: &str) -> SessionCommand {
    SessionCommand::Name { session: SessionId::new(&session(n)), name: Some(name.to_owned()) }
}

/// Removes the files of the data folder whose names begin so, and returns their paths.
fn remove(data: &Path, begin: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let of_it =
        |path: &PathBuf| path.is_file() && path.file_name().unwrap().to_string_lossy().starts_with(begin);
    let gone: Vec<PathBuf> = all.filter(of_it).collect();
    gone.iter().for_each(|path| std::fs::remove_file(path).unwrap());
    gone
}

fn names(data: &Path) -> Vec<String> {
    let store = Store::open(data, OpenMode::Read).unwrap();
    let mut names: Vec<String> = store.chain_names().unwrap().into_iter().map(|(_, name)| name).collect();
    names.sort();
    names
}

/// After these files are removed, a user command is stored; earlier commands and the transcripts are stored again.
fn check_command_is_stored_without(begin: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.run_a_turn(2);
    house.until_stored(1, 2);
    house.until_stored(2, 2);
    house.carry_out_command(name(1, "before")).unwrap();
    assert!(!remove(&data, begin).is_empty());
    house.carry_out_command(name(2, "after")).unwrap();
    let until = now() + Millis::from_secs(3_600);
    house
        .carry_out_command(SessionCommand::Snooze {
            session: SessionId::new(&session(2)),
            until: Some(until),
        })
        .unwrap();
    assert_eq!(names(&data), ["after", "before"], "{begin}: done means stored");
    let other = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    assert_ne!(other.access(), Access::Writer, "{begin}: there is one writer");
    drop(other);
    assert_eq!(Store::open(&data, OpenMode::Read).unwrap().all_set_aside().unwrap().len(), 1);
    // Later and earlier records of agents are stored as well.
    house.run_a_turn(1);
    house.run_a_turn(3);
    house.until_stored(1, 4);
    house.until_stored(2, 2);
    house.until_stored(3, 2);
    house.until_no_store_problem();
    assert_eq!(house.doctor(), "well", "{begin}");
    assert_eq!(house.found("prompt"), Ok(4), "{begin}: who looks for words looks into the new one");
    house.restart_after(|data| assert_eq!(names(data), ["after", "before"], "{begin}"));
    assert_eq!(house.store_problems(), [""; 0]);
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn user_commands_after_the_database_was_removed_are_stored_in_a_new_one() {
    check_command_is_stored_without("watchbill.db");
}

#[test]
fn user_commands_after_the_log_was_removed_are_stored() {
    check_command_is_stored_without("watchbill.db-wal");
}

#[test]
fn user_commands_after_the_lock_was_removed_are_stored() {
    check_command_is_stored_without("writer.lock");
}

#[test]
fn a_session_stays_forgotten_when_the_database_and_its_list_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.run_a_turn(2);
    house.until_stored(1, 2);
    house.until_stored(2, 2);
    let what = ForgetWhat::Sessions(vec![session(1)]);
    forget(&house.settings, &what, false, now(), &mut |_| ()).unwrap();
    house.until("it to be gone", |house| house.stored(1).is_empty());
    let gone = remove(&data, "watchbill.db");
    assert!(gone.iter().any(|path| path.ends_with("watchbill.db.forgotten")), "{gone:?}");
    house.run_a_turn(1);
    house.run_a_turn(2);
    house.until_stored(2, 4);
    house.until_no_store_problem();
    assert!(house.is_current() && house.stored(1).is_empty());
    let forgotten = || Store::open(&data, OpenMode::Read).unwrap().forgotten().unwrap();
    assert_eq!(forgotten(), [SessionId::new(&session(1))]);
    assert!(data.join("watchbill.db.forgotten").exists());
    house.restart_after(|_| assert_eq!(forgotten(), [SessionId::new(&session(1))]));
    assert!(house.stored(1).is_empty());
}

#[test]
fn a_removed_data_folder_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.until_stored(1, 2);
    std::fs::remove_dir_all(&data).unwrap();
    house.carry_out_command(name(1, "after")).unwrap();
    assert_eq!(names(&data), ["after"]);
    house.until_stored(1, 2);
    assert!(house.send_hook_event("a prompt"), "what hooks tell is heard again");
    house.until("it to listen again", |_| Client::connect(&data).is_some());
    let mut client = Client::connect(&data).unwrap();
    client.command(&CommandId::new(), &name(1, "by another program")).unwrap();
    assert_eq!(names(&data), ["by another program"]);
    house.stop_and_compare_with_fresh_index();
}

#[test]
fn the_doctor_reports_a_removed_database_while_nothing_happens() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut house = RunningEngine::at(&data);
    house.run_a_turn(1);
    house.until_stored(1, 2);
    // When the history has stored its cursors, nothing more is written.
    house.until("everything to be stored", |house| house.is_current());
    remove(&data, "watchbill.db");
    let said = house.doctor();
    assert!(said.starts_with("/home/dev/data/watchbill.db was removed while process "), "{said}");
    // Any event that wakes the engine makes the database anew, even with nothing to store.
    Client::connect(&data).unwrap().roster(false).unwrap();
    house.until_stored(1, 2);
    assert_eq!(house.doctor(), "well");
}

#[test]
fn nothing_is_stored_while_the_list_of_forgotten_ids_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let list = data.join("watchbill.db.forgotten");
    let mut house = RunningEngine::after(&data, |_| {
        // A folder cannot be read as a file, even by root.
        std::fs::create_dir_all(&list).unwrap();
    });
    let said = house.until_store_problem();
    assert!(said.contains("/home/dev/data/watchbill.db.forgotten cannot be read"), "{said}");
    assert!(house.doctor().contains("watchbill.db.forgotten cannot be read"), "{}", house.doctor());
    house.run_a_turn(1);
    house.run_a_turn(2);
    let refused = house.carry_out_command(name(2, "a name")).unwrap_err();
    assert!(refused.message.contains("watchbill.db.forgotten cannot be read"), "{}", refused.message);
    assert_eq!((house.stored(1), house.stored(2)), (vec![], vec![]));
    std::fs::remove_dir(&list).unwrap();
    std::fs::write(&list, format!("5 {}\n", session(1))).unwrap();
    house.until_no_store_problem();
    house.carry_out_command(name(2, "a name")).unwrap();
    assert_eq!(names(&data), ["a name"]);
    house.until_stored(2, 2);
    house.run_a_turn(1);
    house.run_a_turn(2);
    house.until_stored(2, 4);
    house.until("everything to be stored", |house| house.is_current());
    assert!(house.stored(1).is_empty());
    house.restart_after(|_| ());
    assert!(house.stored(1).is_empty() && house.store_problems().is_empty());
}
