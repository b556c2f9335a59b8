//! User commands while the store cannot be written, and from other programs through the socket.

use std::path::PathBuf;

use watchbill_core::ids::SessionId;
use watchbill_core::user::SessionCommand;
use watchbill_engine::socket::access::{AccessError, CommandId};
use watchbill_engine::socket::client::Client;
use watchbill_protocol::error::ErrorCode;
use watchbill_settings::Settings;
use watchbill_store::{Access as StoreAccess, OpenMode, Store};

use crate::records::SessionWriter;
use crate::subscriber::{Folder, Subscriber, now, row};

/// A session, the data folder, and an engine that writes there.
pub fn engine_with_store() -> (Folder, SessionWriter, PathBuf, Subscriber) {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let data = folder.root.parent().unwrap().join("data");
    let subscriber = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    (folder, author, data, subscriber)
}

fn session(author: &SessionWriter) -> SessionId {
    SessionId::new(&author.session)
}

fn name(author: &SessionWriter, name: &str) -> SessionCommand {
    SessionCommand::Name { session: session(author), name: Some(name.to_owned()) }
}

fn names(data: &std::path::Path) -> Vec<String> {
    Store::open(data, OpenMode::Read)
        .unwrap()
        .chain_names()
        .unwrap()
        .into_iter()
        .map(|(_, name)| name)
        .collect()
}

fn named(copy: &watchbill_protocol::roster::RosterSnapshot, author: &SessionWriter) -> Option<String> {
    row(copy, author).unwrap().work_chain_name.clone()
}

/// As on a full disk: reading works, and no step can be stored. For SQLite a link to the database is the same
/// database; for the lock that keeps a second writer away it is another folder.
#[cfg(unix)]
#[test]
fn a_command_succeeds_only_when_it_is_stored() {
    let (_folder, author, data, mut subscriber) = engine_with_store();
    let beside = data.with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    std::os::unix::fs::symlink(data.join("watchbill.db"), beside.join("watchbill.db")).unwrap();
    let mut other = Store::open(&beside, OpenMode::WriteOrRead).unwrap();
    let lock = other.step().unwrap();

    let error = subscriber.handle.carry_out_command(name(&author, "by the window")).unwrap_err();
    assert_eq!(error.code, ErrorCode::Unreadable);
    assert!(error.message.starts_with("done, but not stored yet"), "{}", error.message);
    let mut client = Client::connect(&data).unwrap();
    let id = CommandId::new();
    let by_another = name(&author, "by another program");
    let Err(AccessError::Refused(error)) = client.command(&id, &by_another) else {
        panic!("nothing is done that is not stored")
    };
    assert_eq!(error.code, ErrorCode::Unreadable);
    subscriber
        .until("it to be in force", |copy| named(copy, &author).as_deref() == Some("by another program"));
    assert_eq!(names(&data), Vec::<String>::new());

    drop(lock);
    drop(other);
    // The engine reports the command as not stored until it tries the store again.
    crate::until("it to be stored", || match client.command(&id, &by_another) {
        Ok(done) => done == author.session,
        Err(AccessError::Refused(error)) if error.code == ErrorCode::Unreadable => false,
        Err(error) => panic!("{error}"),
    });
    assert_eq!(names(&data), ["by another program"]);
}

#[cfg(unix)]
#[test]
fn a_command_that_is_stored_late_is_published_to_other_programs_then() {
    let (folder, author, data, subscriber) = engine_with_store();
    let mut reader = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    let beside = data.with_file_name("beside");
    std::fs::create_dir(&beside).unwrap();
    std::os::unix::fs::symlink(data.join("watchbill.db"), beside.join("watchbill.db")).unwrap();
    let mut other = Store::open(&beside, OpenMode::WriteOrRead).unwrap();
    let lock = other.step().unwrap();
    subscriber.handle.carry_out_command(name(&author, "the leak")).unwrap_err();
    drop(lock);
    drop(other);
    reader.until("the name", |copy| named(copy, &author).as_deref() == Some("the leak"));
}

#[test]
fn an_engine_sends_commands_to_the_holder_and_takes_over_from_it() {
    let (folder, author, data, mut holder) = engine_with_store();
    let mut reader = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    reader.handle.carry_out_command(name(&author, "first")).unwrap();
    assert_eq!(names(&data), ["first"], "stored by the holder when this returns");
    holder.until("the first name", |copy| named(copy, &author).as_deref() == Some("first"));
    reader.until("the first name", |copy| named(copy, &author).as_deref() == Some("first"));
    holder.handle.carry_out_command(name(&author, "second")).unwrap();
    reader.until("the second name", |copy| named(copy, &author).as_deref() == Some("second"));
    let error =
        reader.handle.carry_out_command(SessionCommand::Undo { session: session(&author) }).unwrap_err();
    assert_eq!(error.code, ErrorCode::Invalid, "the holder's refusal: {error}");

    holder.handle.stop();
    reader.handle.carry_out_command(name(&author, "third")).unwrap();
    assert_eq!(names(&data), ["third"]);
    crate::until("the new holder to listen", || Client::connect(&data).is_some());
}

#[test]
fn a_command_sent_twice_runs_once_also_under_the_next_holder() {
    let (folder, author, data, mut holder) = engine_with_store();
    let later = folder.author(2);
    folder.append(&later, &later.prompt(2, now()));
    holder.until("the second session", |copy| row(copy, &later).is_some());
    let join = SessionCommand::Join { session: session(&later), with: session(&author) };
    holder.handle.carry_out_command(join).unwrap();
    holder.handle.carry_out_command(SessionCommand::Split { session: session(&later) }).unwrap();
    let undo = SessionCommand::Undo { session: session(&later) };
    let id = CommandId::new();
    let links =
        |data: &std::path::Path| Client::connect(data).unwrap().chain(&later.session).unwrap().links.len();
    for _ in 0..3 {
        assert_eq!(Client::connect(&data).unwrap().command(&id, &undo).unwrap(), later.session);
        assert_eq!(links(&data), 1, "the split is taken back, the join is not");
    }
    let Err(AccessError::Refused(error)) =
        Client::connect(&data).unwrap().command(&id, &SessionCommand::Accept { session: session(&later) })
    else {
        panic!("the id is another command's")
    };
    assert_eq!(error.code, ErrorCode::Invalid);
    holder.handle.stop();
    let next = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    crate::until("the next holder to listen", || Client::connect(&data).is_some());
    assert_eq!(Client::connect(&data).unwrap().command(&id, &undo).unwrap(), later.session);
    assert_eq!(links(&data), 1);
    drop(next);
}

/// Another program writes the store and answers no requests, as `index` does.
#[test]
fn an_engine_that_takes_over_for_a_command_runs_it_once() {
    let (folder, author, data, mut holder) = engine_with_store();
    let later = folder.author(2);
    folder.append(&later, &later.prompt(2, now()));
    holder.until("the second session", |copy| row(copy, &later).is_some());
    holder
        .handle
        .carry_out_command(SessionCommand::Join { session: session(&later), with: session(&author) })
        .unwrap();
    holder.handle.carry_out_command(SessionCommand::Split { session: session(&later) }).unwrap();
    let undo = SessionCommand::Undo { session: session(&later) };
    let id = CommandId::new();
    assert_eq!(Client::connect(&data).unwrap().command(&id, &undo).unwrap(), later.session);
    drop(holder);
    let mut lock = None;
    crate::until("the holder to let go", || {
        lock = Store::open(&data, OpenMode::WriteOrRead)
            .ok()
            .filter(|store| store.access() == StoreAccess::Writer);
        lock.is_some()
    });
    let mut reader = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    reader.until("the second session", |copy| row(copy, &later).is_some());
    drop(lock);
    assert_eq!(reader.handle.command(&id, &undo).unwrap(), later.session);
    let chain = reader.handle.chain(&later.session).unwrap();
    assert_eq!(chain.links.len(), 1, "the split is taken back, the join is not");
}

/// A session is named, joined to an earlier one, and then forgotten: no engine shows the name afterwards.
#[test]
fn the_name_of_a_forgotten_session_is_no_longer_shown() {
    for forgotten in [0, 1] {
        let (folder, first, data, mut subscriber) = engine_with_store();
        let second = folder.author(2);
        folder.append(&second, &second.prompt(2, now() + watchbill_core::time::Millis(5)));
        subscriber.until("both", |copy| row(copy, &first).is_some() && row(copy, &second).is_some());
        let authors = [&first, &second];
        let gone = authors[forgotten];
        subscriber.handle.carry_out_command(name(gone, "a secret name")).unwrap();
        let [session, with] = authors.map(|author| SessionId::new(&author.session));
        subscriber.handle.carry_out_command(SessionCommand::Join { session, with }).unwrap();
        let named = |copy: &watchbill_protocol::roster::RosterSnapshot, author: &SessionWriter| {
            row(copy, author).and_then(|row| row.work_chain_name.clone())
        };
        subscriber.until("both to have the name", |copy| {
            authors.iter().all(|author| named(copy, author).as_deref() == Some("a secret name"))
        });
        let settings = Settings { data_dir: Some(data.clone()), ..folder.settings() };
        let what = watchbill_engine::alone::forget::ForgetWhat::Sessions(vec![gone.session.clone()]);
        watchbill_engine::alone::forget::forget(&settings, &what, false, now(), &mut |_| ()).unwrap();
        subscriber.until("no row to have the name", |copy| {
            authors.iter().all(|author| row(copy, author).is_some() && named(copy, author).is_none())
        });
        assert_eq!(names(&data), Vec::<String>::new(), "{forgotten}");
        let other = Subscriber::on(settings);
        assert!(authors.iter().all(|author| named(&other.copy, author).is_none()), "{forgotten}");
    }
}
