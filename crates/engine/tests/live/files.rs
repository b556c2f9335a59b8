//! Paths on a real disk that are no transcripts, or lead elsewhere.

#![cfg(unix)]

use std::os::unix::fs::symlink;

use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::real_sources;
use watchbill_engine::model::publish::snapshot;
use watchbill_protocol::roster::RosterSnapshot;

use crate::records::session;
use crate::subscriber::{Folder, Subscriber, now, row};

fn cold(folder: &Folder) -> RosterSnapshot {
    snapshot(&look(folder.settings(), real_sources(), Outlook::LIVE, &SystemClock).current(true))
}

fn named(copy: &RosterSnapshot, folder: &Folder) -> Vec<(String, String)> {
    let relative = |path: &str| path.replace(&format!("{}/", folder.root.display()), "");
    copy.problems.iter().map(|problem| (relative(&problem.path), problem.kind.clone())).collect()
}

#[test]
fn pipes_folders_and_loops_are_reported_and_skipped() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let projects = folder.root.join("projects");
    let make = |name: &str| projects.join("p").join(format!("{name}.jsonl"));
    let pipes = [make("pipe"), folder.root.join("sessions/77.json")];
    assert!(std::process::Command::new("mkfifo").args(pipes).status().unwrap().success());
    std::fs::create_dir(make("folder")).unwrap();
    symlink(make("itself"), make("itself")).unwrap();
    symlink(&projects, projects.join("loop")).unwrap();
    symlink("/nowhere/at/all", make("dangling")).unwrap();
    let expected: Vec<(String, String)> = [
        ("projects/loop", "symlink_loop"),
        ("projects/p/folder.jsonl", "not_a_file"),
        ("projects/p/itself.jsonl", "symlink_loop"),
        ("projects/p/pipe.jsonl", "not_a_file"),
        ("sessions/77.json", "not_a_file"),
    ]
    .map(|(path, kind)| (path.to_owned(), kind.to_owned()))
    .to_vec();
    assert_eq!(named(&cold(&folder), &folder), expected);
    let mut subscriber = Subscriber::on(folder.settings());
    subscriber.until("the same to be said", |copy| named(copy, &folder) == expected);
    let other = folder.author(2);
    folder.append(&other, &other.prompt(1, now()));
    subscriber.until_state(&other, "working");
    assert_eq!(row(&subscriber.copy, &author).unwrap().state, "working");
    for name in ["folder", "pipe", "itself"] {
        let path = make(name);
        if path.is_dir() { std::fs::remove_dir(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
    std::fs::remove_file(projects.join("loop")).unwrap();
    std::fs::remove_file(folder.root.join("sessions/77.json")).unwrap();
    subscriber.until("everything to be well again", |copy| copy.problems.is_empty());
}

#[test]
fn a_linked_project_is_one_project() {
    let folder = Folder::new();
    let elsewhere = folder.root.parent().unwrap().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let author = folder.author(1);
    let file = elsewhere.join(format!("{}.jsonl", session(1)));
    crate::subscriber::append(&file, &author.answer(1, now()));
    for name in ["first", "second"] {
        symlink(&elsewhere, folder.root.join("projects").join(name)).unwrap();
    }
    let seen = cold(&folder);
    assert_eq!((seen.sessions.len(), &seen.problems), (1, &Vec::new()));
    assert_eq!(seen.sessions[0].project_id.as_deref(), Some("first"));
    assert_eq!(seen.sessions[0].tokens.unwrap().input, 10);
    let subscriber = Subscriber::on(folder.settings());
    assert_eq!(subscriber.copy.sessions, seen.sessions);
    subscriber.handle.look_again();
    assert_eq!(subscriber.handle.roster(true).unwrap().sessions, seen.sessions);
    // The system may report either name. It is the same change.
    let mut subscriber = subscriber;
    crate::subscriber::append(&file, &author.answer(2, now()));
    let tokens =
        |copy: &RosterSnapshot, n| row(copy, &author).is_some_and(|row| row.tokens.unwrap().input == n);
    subscriber.until("the second answer", |copy| tokens(copy, 20));
    assert_eq!(row(&subscriber.copy, &author).unwrap().project_id.as_deref(), Some("first"));
    std::fs::remove_file(folder.root.join("projects/first")).unwrap();
    subscriber.until("the other name", |copy| {
        row(copy, &author).is_some_and(|row| row.project_id.as_deref() == Some("second"))
    });
    assert!(tokens(&subscriber.copy, 20));
}

#[test]
fn a_project_replaced_by_a_file_is_removed() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let mut subscriber = Subscriber::on(folder.settings());
    subscriber.until_state(&author, "working");
    let project = folder.root.join("projects/p");
    std::fs::rename(&project, folder.root.join("away")).unwrap();
    std::fs::write(&project, "a note").unwrap();
    subscriber.until("the session to go", |copy| row(copy, &author).is_none());
    assert_eq!(named(&subscriber.copy, &folder), []);
}

#[test]
fn folder_names_that_are_no_utf8_are_read() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let project = folder.root.join("projects").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&project).unwrap();
    let author = folder.author(1);
    let mut subscriber = Subscriber::on(folder.settings());
    crate::subscriber::append(&project.join(format!("{}.jsonl", session(1))), &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
    assert_eq!(row(&subscriber.copy, &author).unwrap().project_id.as_deref(), Some("caf\u{fffd}"));
}

#[test]
fn a_transcript_that_is_replaced_by_a_rename_is_another_one() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &(author.answer(1, now()) + &author.answer(2, now())));
    let mut subscriber = Subscriber::on(folder.settings());
    assert_eq!(row(&subscriber.copy, &author).unwrap().tokens.unwrap().input, 20);
    let aside = folder.root.join("projects/p/aside.tmp");
    std::fs::write(&aside, author.answer(3, now())).unwrap();
    std::fs::rename(&aside, folder.transcript("p", &author.session)).unwrap();
    subscriber.until("the new one alone", |copy| {
        row(copy, &author).is_some_and(|row| row.tokens.is_some_and(|tokens| tokens.input == 10))
    });
}
