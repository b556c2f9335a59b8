//! What the person says while the store cannot be written, and what other programs leave for it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use watchbill_core::ids::SessionId;
use watchbill_core::person::Word;
use watchbill_engine::settings::Settings;
use watchbill_engine::wishes::Wishes;
use watchbill_protocol::error::ErrorCode;
use watchbill_store::{Mode, Store};

use crate::ear::{Ear, Folder, PATIENCE, now, row};
use crate::records::Author;

/// A session, the data folder, and an engine that writes there.
fn house() -> (Folder, Author, PathBuf, Ear) {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let data = folder.root.parent().unwrap().join("data");
    let ear = Ear::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    (folder, author, data, ear)
}

fn name(author: &Author, name: &str) -> Word {
    Word::Name { session: SessionId::new(&author.session), name: Some(name.to_owned()) }
}

fn names(data: &std::path::Path) -> Vec<String> {
    Store::open(data, Mode::Read).unwrap().chain_names().unwrap().into_iter().map(|(_, name)| name).collect()
}

/// As on a full disk: reading goes on, and no step can be stored. A link to the database is the same database for
/// SQLite, and another folder for the lock that keeps a second writer away.
#[cfg(unix)]
#[test]
fn done_means_stored() {
    let (_folder, author, data, mut ear) = house();
    let beside = data.with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    std::os::unix::fs::symlink(data.join("watchbill.db"), beside.join("watchbill.db")).unwrap();
    let mut other = Store::open(&beside, Mode::WriteOrRead).unwrap();
    let lock = other.step().unwrap();

    let error = ear.handle.say(name(&author, "by the window")).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unreadable);
    assert!(error.message.starts_with("that counts now, but is not stored yet"), "{}", error.message);
    let wishes = Wishes::open(&data).unwrap();
    let wish = wishes.leave(&name(&author, "by another program"), now()).unwrap();
    ear.until("the wish to be in force", |copy| {
        row(copy, &author).unwrap().work_chain_name.as_deref() == Some("by another program")
    });
    // The engine answers in the same turn in which it takes a wish, if at all: a question comes after it.
    ear.handle.roster(false).unwrap();
    assert_eq!(wishes.answered(&wish), None, "nothing is done that is not stored");
    assert!(wish.exists(), "a kill must not lose it");
    assert_eq!(names(&data), Vec::<String>::new());

    drop(lock);
    drop(other);
    let end = Instant::now() + PATIENCE;
    let answer = loop {
        if let Some(answer) = wishes.answered(&wish) {
            break answer;
        }
        assert!(Instant::now() < end, "waited in vain for an answer");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(answer, Ok(None));
    assert_eq!(names(&data), ["by another program"]);
    assert!(wishes.waiting().is_empty());
}

#[cfg(unix)]
#[test]
fn a_word_that_is_stored_late_is_told_to_the_other_programs_then() {
    let (folder, author, data, ear) = house();
    let mut reader = Ear::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    let beside = data.with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    std::os::unix::fs::symlink(data.join("watchbill.db"), beside.join("watchbill.db")).unwrap();
    let mut other = Store::open(&beside, Mode::WriteOrRead).unwrap();
    let lock = other.step().unwrap();
    ear.handle.say(name(&author, "the leak")).unwrap_err();
    drop(lock);
    drop(other);
    reader
        .until("the name", |copy| row(copy, &author).unwrap().work_chain_name.as_deref() == Some("the leak"));
}

#[test]
fn a_wish_without_sense_is_a_problem_and_stops_no_other() {
    let (_folder, author, data, mut ear) = house();
    let wishes = Wishes::open(&data).unwrap();
    std::fs::write(wishes.folder().join("1-1-0.wish"), b"{\"Name\":").unwrap();
    // What is no file is no wish, and is not waited for.
    std::fs::create_dir(wishes.folder().join("1-1-1.wish")).unwrap();
    wishes.leave(&name(&author, "the leak"), now()).unwrap();
    ear.until("the name", |copy| row(copy, &author).unwrap().work_chain_name.as_deref() == Some("the leak"));
    ear.until("the problem", |copy| copy.problems.iter().any(|problem| problem.kind == "malformed_wish"));
    let problem = ear.copy.problems.iter().find(|problem| problem.kind == "malformed_wish").unwrap();
    assert_eq!(problem.count, 1);
    assert_eq!(problem.path, wishes.folder().to_str().unwrap());
    assert!(wishes.waiting().is_empty());
}

/// Named, joined to what came before it, and then forgotten: the name is nowhere, whoever shows the sessions.
#[test]
fn the_name_of_a_forgotten_session_is_shown_no_more() {
    for forgotten in [0, 1] {
        let (folder, first, data, mut ear) = house();
        let second = folder.author(2);
        folder.append(&second, &second.prompt(2, now() + watchbill_core::time::Millis(5)));
        ear.until("both", |copy| row(copy, &first).is_some() && row(copy, &second).is_some());
        let authors = [&first, &second];
        let gone = authors[forgotten];
        ear.handle.say(name(gone, "a secret name")).unwrap();
        let [session, with] = authors.map(|author| SessionId::new(&author.session));
        ear.handle.say(Word::Join { session, with }).unwrap();
        let named = |copy: &watchbill_protocol::roster::RosterSnapshot, author: &Author| {
            row(copy, author).and_then(|row| row.work_chain_name.clone())
        };
        ear.until("both to have the name", |copy| {
            authors.iter().all(|author| named(copy, author).as_deref() == Some("a secret name"))
        });
        let settings = Settings { data_dir: Some(data.clone()), ..folder.settings() };
        let what = watchbill_engine::forget::ForgetWhat::Session(gone.session.clone());
        watchbill_engine::forget::forget(&settings, &what, false, now(), &mut |_| ()).unwrap();
        ear.until("nobody to have the name", |copy| {
            authors.iter().all(|author| row(copy, author).is_some() && named(copy, author).is_none())
        });
        assert_eq!(names(&data), Vec::<String>::new(), "{forgotten}");
        let other = Ear::on(settings);
        assert!(authors.iter().all(|author| named(&other.copy, author).is_none()), "{forgotten}");
    }
}
