//! From a write to a message, and from a start to a stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use watchbill_engine::handle::start;
use watchbill_engine::model::publish::Subscription;
#[cfg(unix)]
use watchbill_settings::Settings;
use watchbill_watch::WatchMethod;

use crate::subscriber::{Folder, Subscriber, TIMEOUT, append, now, row};

#[test]
fn an_append_is_published() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let mut subscriber = Subscriber::on(folder.settings());
    assert_eq!(row(&subscriber.copy, &author).unwrap().state, "working");
    folder.append(&author, &author.answer(2, now()));
    subscriber.until("the answer", |copy| row(copy, &author).is_some_and(|row| row.summary.is_some()));
}

#[test]
fn a_new_project_with_a_file_is_seen_at_once() {
    let folder = Folder::new();
    let mut subscriber = Subscriber::on(folder.settings());
    for n in 0..10 {
        let author = folder.author(n);
        let path = folder.transcript(&format!("new-{n}"), &author.session);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        append(&path, &author.prompt(1, now()));
        subscriber.until_state(&author, "working");
    }
}

#[test]
fn nothing_is_lost_of_fifty_sessions_at_once() {
    let folder = Folder::new();
    let mut subscriber = Subscriber::on(folder.settings());
    std::thread::scope(|scope| {
        for thread in 0..5 {
            let folder = &folder;
            scope.spawn(move || {
                for round in 0..4 {
                    for n in (0..50).filter(|n| n % 5 == thread) {
                        let author = folder.author(n);
                        folder.append(&author, &author.answer((100 * n + round) as u64 + 1, now()));
                    }
                }
            });
        }
    });
    subscriber.until("four requests of each", |copy| {
        copy.sessions.len() == 50 && copy.sessions.iter().all(|row| row.tokens.is_some_and(|t| t.input == 40))
    });
    assert_eq!(subscriber.copy.problems, []);
}

#[test]
fn a_root_that_appears_later_is_found() {
    let folder = Folder::missing();
    let mut subscriber = Subscriber::on(folder.settings());
    assert_eq!(
        subscriber.copy.problems.iter().map(|problem| problem.kind.as_str()).collect::<Vec<_>>(),
        ["missing"]
    );
    let author = folder.author(1);
    std::fs::create_dir_all(folder.root.join("projects/p")).unwrap();
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
    subscriber.until("the trouble to be over", |copy| copy.problems.is_empty());
}

/// The folder above the root is a link without a target yet, so the root's canonical path is unknown.
#[cfg(unix)]
#[test]
fn a_root_behind_a_link_that_appears_later_is_found() {
    let folder = Folder::missing();
    let home = folder.root.parent().unwrap();
    let disk = home.with_file_name("disk");
    std::fs::create_dir(&disk).unwrap();
    let settings = Settings::for_roots(vec![folder.root.clone()]);
    let mut subscriber = Subscriber::on(settings);
    std::os::unix::fs::symlink(&disk, home).unwrap();
    let author = folder.author(1);
    std::fs::create_dir_all(folder.root.join("projects/p")).unwrap();
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
}

#[test]
fn polling_sees_the_same_changes() {
    let folder = Folder::new();
    let mut settings = folder.settings();
    settings.watch = WatchMethod::Poll(Duration::from_millis(50));
    let mut subscriber = Subscriber::on(settings);
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
    std::fs::remove_file(folder.transcript("p", &author.session)).unwrap();
    subscriber.until("the session to be gone", |copy| copy.sessions.is_empty());
}

#[test]
fn a_subscriber_that_returns_false_is_dropped() {
    let folder = Folder::new();
    let mut subscriber = Subscriber::on(folder.settings());
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let sink = Box::new(move |_| count.fetch_add(1, Ordering::SeqCst) == 0);
    subscriber.handle.subscribe(Subscription { all: true, ..Subscription::default() }, sink);
    for n in 1..4 {
        let author = folder.author(n);
        folder.append(&author, &author.prompt(1, now()));
        subscriber.until_state(&author, "working");
    }
    // It got the snapshot and one delta, returned `false`, and is dropped with all that it held.
    let end = Instant::now() + TIMEOUT;
    while Arc::strong_count(&told) > 1 {
        assert!(Instant::now() < end, "it is still held");
        subscriber.handle.roster(true).unwrap();
    }
    assert_eq!(told.load(Ordering::SeqCst), 2);
}

#[test]
fn two_engines_on_one_root_show_the_same() {
    let folder = Folder::new();
    let mut subscribers = [Subscriber::on(folder.settings()), Subscriber::on(folder.settings())];
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    for subscriber in &mut subscribers {
        subscriber.until_state(&author, "working");
    }
    let [one, other] = &mut subscribers;
    assert_eq!(one.copy.sessions, other.copy.sessions);
    one.handle.stop();
    folder.append(&author, &author.answer(2, now()));
    other.until("the answer", |copy| row(copy, &author).is_some_and(|row| row.summary.is_some()));
}

#[test]
fn a_stop_ends_the_engine_behind_any_queue() {
    let folder = Folder::new();
    for n in 0..30 {
        let author = folder.author(n);
        folder.append(&author, &author.prompt(1, now()));
    }
    for _ in 0..20 {
        let handle = start(folder.settings()).unwrap();
        for _ in 0..10 {
            handle.subscribe(Subscription::default(), Box::new(|_| true));
        }
        handle.look_again();
        handle.stop();
        assert!(handle.roster(true).is_err(), "the engine answers no more");
        assert!(handle.stopped()());
    }
}

#[test]
fn the_engine_ends_with_its_last_handle() {
    let folder = Folder::new();
    let handle = start(folder.settings()).unwrap();
    let clone = handle.clone();
    drop(handle);
    assert!(clone.roster(true).is_ok());
    let stopped = clone.stopped();
    drop(clone);
    let end = Instant::now() + TIMEOUT;
    while !stopped() {
        assert!(Instant::now() < end, "it still runs");
        std::thread::yield_now();
    }
}
