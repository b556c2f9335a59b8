//! Receivers: they deliver each event once, in order, through restarts and failures.

use std::sync::mpsc;
use std::time::Duration;

use watchbill_hooks::places::HookPaths;
use watchbill_hooks::{HookMessage, Options, Receiver};

use crate::agent::{Listener, TIMEOUT, hook, payload, run, spooled, until};

fn payloads(heard: &[HookMessage]) -> Vec<String> {
    heard.iter().map(|event| String::from_utf8_lossy(&event.payload).into_owned()).collect()
}

fn expected(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|n| String::from_utf8(payload("s", n)).unwrap()).collect()
}

#[test]
fn an_event_is_delivered_unchanged_and_the_spool_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), &payload("s", 1));
    let heard = listener.next();
    assert_eq!(&*heard.payload, payload("s", 1));
    assert!(!heard.replayed && !heard.cut);
    assert_eq!(heard.origin.ancestors.first(), Some(&std::process::id()));
    until("nothing is spooled", || spooled(dir.path()).is_empty());
}

#[test]
fn earlier_events_come_first_marked_as_replayed_and_again_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..5 {
        run(hook(dir.path()), &payload("s", number));
    }
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), &payload("s", 5));
    let heard: Vec<_> = (0..6).map(|_| listener.next()).collect();
    assert_eq!(payloads(&heard), expected(0..6));
    assert!(heard[..5].iter().all(|event| event.replayed) && !heard[5].replayed);
    assert!(listener.rest().is_empty());

    let again = Listener::open(dir.path());
    let heard: Vec<_> = (0..6).map(|_| again.next()).collect();
    assert_eq!(payloads(&heard), expected(0..6));
    assert!(heard.iter().all(|event| event.replayed));
    drop(again);

    // A program that knows its own position asks for no replay.
    let none = Listener::open_with(dir.path(), Options { recent: Duration::ZERO });
    run(hook(dir.path()), &payload("s", 6));
    assert_eq!(payloads(&[none.next()]), expected(6..7));
    assert!(none.rest().is_empty());
}

#[test]
fn two_receivers_get_all_events_and_the_second_takes_over_the_journal() {
    let dir = tempfile::tempdir().unwrap();
    let first = Listener::open(dir.path());
    let second = Listener::open(dir.path());
    for number in 0..10 {
        run(hook(dir.path()), &payload("s", number));
    }
    let of_first: Vec<_> = (0..10).map(|_| first.next()).collect();
    let of_second: Vec<_> = (0..10).map(|_| second.next()).collect();
    assert_eq!(payloads(&of_first), expected(0..10));
    assert_eq!(payloads(&of_second), expected(0..10));
    assert!(first.rest().is_empty());
    for number in 10..20 {
        run(hook(dir.path()), &payload("s", number));
    }
    let of_second: Vec<_> = (10..20).map(|_| second.next()).collect();
    assert_eq!(payloads(&of_second), expected(10..20));
    assert!(second.rest().is_empty());
    assert!(spooled(dir.path()).is_empty());
    let third = Listener::open(dir.path());
    let of_third: Vec<_> = (0..20).map(|_| third.next()).collect();
    assert_eq!(payloads(&of_third), expected(0..20));
}

#[test]
fn a_slow_consumer_loses_no_event_and_delays_no_sender() {
    let dir = tempfile::tempdir().unwrap();
    let (let_go, held) = mpsc::channel::<()>();
    let (sender, heard) = mpsc::channel();
    let receiver =
        Receiver::open_at(HookPaths::new(dir.path()), Options::default(), move |event: HookMessage| {
            let _ = held.recv();
            let _ = sender.send(event);
        })
        .unwrap();
    for number in 0..30 {
        run(hook(dir.path()), &payload("s", number));
    }
    assert!(!spooled(dir.path()).is_empty());
    drop(let_go);
    let heard: Vec<_> = (0..30).map(|_| heard.recv_timeout(TIMEOUT).unwrap()).collect();
    assert_eq!(payloads(&heard), expected(0..30));
    // Events that were spooled and received are removed from the spool after a quiet time.
    until("nothing is spooled", || spooled(dir.path()).is_empty());
    drop(receiver);
}

#[test]
fn a_file_that_is_no_event_is_renamed_and_counted_and_stops_no_other() {
    let dir = tempfile::tempdir().unwrap();
    run(hook(dir.path()), &payload("s", 0));
    let whole = std::fs::read(&spooled(dir.path())[0]).unwrap();
    let spool = HookPaths::new(dir.path()).spool();
    let damaged: [&[u8]; 5] =
        [b"", &whole[..whole.len() - 1], &whole[..40], &[0; 4096], b"{\"watchbill_hook\":9,\"bytes\":0}\n\n"];
    for (number, bytes) in damaged.iter().enumerate() {
        std::fs::write(spool.join(format!("{number:020}-{number:032x}.event")), bytes).unwrap();
    }
    std::fs::write(spool.join("a file of another program"), "x").unwrap();
    let listener = Listener::open(dir.path());
    assert_eq!(payloads(&[listener.next()]), expected(0..1));
    until("they are counted", || listener.receiver.counts().damaged == 5);
    assert!(listener.rest().is_empty());
    assert_eq!(watchbill_hooks::spool::count(&spool, 100).damaged, 5);
    assert!(spooled(dir.path()).is_empty());
    assert!(spool.join("a file of another program").exists());
}

#[test]
fn a_journal_with_an_incomplete_end_keeps_its_whole_events() {
    let dir = tempfile::tempdir().unwrap();
    let listener = Listener::open(dir.path());
    for number in 0..3 {
        run(hook(dir.path()), &payload("s", number));
        listener.next();
    }
    drop(listener);
    let journal = HookPaths::new(dir.path()).journal();
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 30]).unwrap();
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), &payload("s", 3));
    let heard: Vec<_> = (0..3).map(|_| listener.next()).collect();
    let all = expected(0..4);
    assert_eq!(payloads(&heard), [&all[0], &all[1], &all[3]].map(Clone::clone));
    assert!(listener.rest().is_empty());
}

#[test]
fn a_receiver_works_in_a_data_folder_with_a_long_path() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a".repeat(120)).join("b".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    let listener = Listener::open(&deep);
    run(hook(&deep), &payload("s", 1));
    assert!(!listener.next().replayed);
}

#[test]
fn folders_that_others_can_read_become_private() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let places = HookPaths::new(dir.path());
    std::fs::create_dir_all(places.spool()).unwrap();
    std::fs::create_dir_all(places.sockets_dir()).unwrap();
    for folder in [places.root().to_path_buf(), places.spool(), places.sockets_dir()] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), b"{}");
    listener.next();
    drop(listener);
    run(hook(dir.path()), b"{}");
    for folder in [places.root().to_path_buf(), places.spool(), places.sockets_dir()] {
        assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700, "{folder:?}");
    }
}
