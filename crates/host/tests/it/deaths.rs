//! The host is killed at every step: nothing that was received is lost, no prompt goes twice, no process is left.

use watchbill_drive::folder::Folder;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::host::{HOST_VERSION, HostHello};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind};

use crate::stage::{Attached, Session, Stage, is_alive, wait_until};
use crate::stream::{kill, received, spec, starts};

/// The processes that run in the folder of the stage.
fn processes(stage: &Stage) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        cwd.is_ok_and(|cwd| cwd == stage.data()) && is_alive(*pid)
    })
    .collect()
}

/// Kills the host when `is` is the case, and goes on with a new one.
fn killed_at(text: &str, what: &str, is: impl Fn(&Attached, &str) -> bool) {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let mut told = session.attach();
    let host = session.host();
    let first = session.prompt(text, PromptWhen::Queue);
    let second = session.prompt("second", PromptWhen::Queue);
    told.until(what, |told| is(told, &first));
    kill(host);
    wait_until("the end of the host", || !is_alive(host));
    wait_until("the end of the agent", || processes(&stage).is_empty());
    while told.next() {}
    // What was told is in the log, in the same order.
    let log = session.log();
    assert_eq!(log[..told.events.len()], told.events[..], "killed at {what}");
    go_on(&stage, &spec.session, [&first, &second], what);
}

fn go_on(stage: &Stage, session: &str, [first, second]: [&str; 2], what: &str) {
    let session: Session = stage.resume(session);
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    let waits = told.place(second) == Some(PromptPlace::Queued);
    assert_eq!(waits, told.is_held(), "what waits is held: killed at {what}");
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    let last = session.prompt("last", PromptWhen::Queue);
    told.until_at(&last, PromptPlace::Done);
    let places = [first, second].map(|id| told.place(id));
    assert!(
        places.iter().all(|place| !matches!(place, Some(PromptPlace::Queued | PromptPlace::Sent))),
        "{places:?}"
    );
    let got = received(stage);
    for id in [first, second, &last] {
        let times = got.iter().filter(|received| *received == id).count();
        assert!(times <= 1, "a prompt went twice: killed at {what}");
    }
    session.send(&OwnCommand::Stop).unwrap();
    told.until("the end", |told| {
        told.ends() > 0 && matches!(told.events.last().unwrap().what, OwnWhat::SessionEnded { .. })
    });
    session.wait_for_end();
    assert_eq!(session.log(), told.events);
    wait_until("no process is left", || processes(stage).is_empty());
}

#[test]
fn killed_before_the_agent_is_there() {
    killed_at("one", "the queue", |told, id| told.place(id).is_some());
}

#[test]
fn killed_while_the_agent_starts() {
    killed_at("one", "the start", |told, _| {
        told.events.iter().any(|event| matches!(event.what, OwnWhat::Started { .. }))
    });
}

#[test]
fn killed_in_a_turn() {
    killed_at("slow", "the turn", |told, id| told.place(id) == Some(PromptPlace::Started));
}

#[test]
fn killed_while_text_streams() {
    killed_at("many 20000", "the text", |told, _| {
        told.events.iter().filter(|event| matches!(event.what, OwnWhat::Text { .. })).count() > 100
    });
}

#[test]
fn killed_between_turns() {
    killed_at("one", "the end of a turn", |told, id| told.place(id) == Some(PromptPlace::Done));
}

/// The agent dies at its first prompt. The next process of it goes on, and gets the prompt that waited.
fn died_at_the_first_prompt(word: &str, second_start: [&str; 2]) {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let mut told = session.attach();
    let first = session.prompt(word, PromptWhen::Queue);
    told.until_end();
    session.wait_for_end();
    let session = stage.resume(&spec.session);
    let second = session.prompt("second", PromptWhen::Queue);
    let mut told = session.attach();
    told.until_at(&second, PromptPlace::Done);
    assert_eq!(received(&stage), [&*first, &*second], "no prompt goes twice");
    let starts = starts(&stage);
    assert_eq!(starts.len(), 3, "{starts:?}");
    for (start, word) in starts[1..].iter().zip(second_start) {
        assert!(start.contains(&format!("{word} {}", spec.session)), "{starts:?}");
    }
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    // A later host knows from the log how the conversation goes on.
    let session = stage.resume(&spec.session);
    let third = session.prompt("third", PromptWhen::Queue);
    session.attach().until_at(&third, PromptPlace::Done);
    let starts = self::starts(&stage);
    assert_eq!(starts.len(), 4, "{starts:?}");
    assert!(starts[3].contains(&format!("--resume {}", spec.session)), "{starts:?}");
}

#[test]
fn a_conversation_that_was_written_before_its_first_turn_goes_on() {
    died_at_the_first_prompt("keep", ["--session-id", "--resume"]);
}

#[test]
fn a_conversation_of_which_nothing_was_written_begins_anew() {
    died_at_the_first_prompt("forget", ["--resume", "--session-id"]);
}

/// A file of the conversation that has no prompt: the agent neither resumes it nor begins another one with its id.
#[test]
fn a_conversation_that_was_begun_without_its_prompt_gets_another_id() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let mut told = session.attach();
    let first = session.prompt("half", PromptWhen::Queue);
    told.until_end();
    session.wait_for_end();
    let mut received = vec![first];
    for others in [2, 0] {
        let session = stage.resume(&spec.session);
        let before = starts(&stage).len();
        let next = session.prompt("next", PromptWhen::Queue);
        session.attach().until_at(&next, PromptPlace::Done);
        received.push(next);
        let starts = starts(&stage);
        assert_eq!(starts.len(), before + others + 1, "{starts:?}");
        session.send(&OwnCommand::Stop).unwrap();
        session.wait_for_end();
    }
    assert_eq!(self::received(&stage), received, "no prompt goes twice");
    let starts = starts(&stage);
    let id = starts[3].split("--session-id ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(
        id != spec.session && id.len() == spec.session.len() && id[8..] == spec.session[8..],
        "{starts:?}"
    );
    assert!(starts[4].contains(&format!("--resume {id}")), "{starts:?}");
}

#[test]
fn a_conversation_that_is_lost_is_not_replaced() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let first = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&first, PromptPlace::Done);
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    std::fs::remove_file(stage.data().join("transcripts")).unwrap();
    let session = stage.resume(&spec.session);
    let mut told = session.attach();
    let second = session.prompt("second", PromptWhen::Queue);
    told.until("the second end", |told| told.ends() == 2);
    let said = |what: &OwnWhat| matches!(what, OwnWhat::Error { text, .. } if text.contains("No conversation found"));
    assert!(told.events.iter().any(|event| said(&event.what)), "{:?}", told.events);
    assert_eq!((starts(&stage).len(), told.place(&second)), (2, Some(PromptPlace::Queued)));
}

#[test]
fn a_resume_in_the_moment_of_the_end_starts_a_host() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let mut session = stage.start(&spec);
    for round in 1..6 {
        let mut told = session.attach();
        let id = session.prompt("one", PromptWhen::Queue);
        told.until_at(&id, PromptPlace::Done);
        // Two readers that read nothing keep the host for its last moment.
        let readers = [0, 1].map(|_| watchbill_drive::client::HostClient::connect(&session.folder).unwrap());
        session.send(&OwnCommand::Stop).unwrap();
        told.until("this end", |told| told.ends() == round);
        session = stage.resume(&spec.session);
        drop(readers);
    }
    let id = session.prompt("last", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    assert_eq!(received(&stage).len(), 6, "no prompt goes twice");
}

#[test]
fn killed_while_it_ends() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let mut told = session.attach();
    session.prompt("deaf", PromptWhen::Queue);
    told.until_event("deafness", |what| matches!(what, OwnWhat::Block { text, .. } if text == "deaf"));
    let waits = session.prompt("waits", PromptWhen::Queue);
    session.send(&OwnCommand::Stop).unwrap();
    told.until_event("the end begins", |what| matches!(what, OwnWhat::Ending { .. }));
    let host = session.host();
    kill(host);
    wait_until("the end of the host", || !is_alive(host));
    while told.next() {}
    assert_eq!(session.log(), told.events);
    // The agent hears no signal but KILL, which the next host sends.
    let session = stage.resume(&spec.session);
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    wait_until("the agent is gone", || processes(&stage).is_empty());
    assert!(told.is_held() && told.place(&waits) == Some(PromptPlace::Queued), "{:?}", told.events);
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    told.until_at(&waits, PromptPlace::Done);
}

#[test]
fn what_a_dead_host_wrote_down_is_ended_by_the_next_one() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let host = session.host();
    session.prompt("child", PromptWhen::Queue);
    let number =
        |name: &str| std::fs::read_to_string(stage.data().join(name)).ok()?.trim().parse::<u32>().ok();
    wait_until("the child", || number("child").is_some());
    let child = number("child").unwrap();
    wait_until("it is written down", || {
        let text = std::fs::read_to_string(session.folder.path().join("processes")).unwrap_or_default();
        text.lines().any(|line| line.starts_with(&format!("{child} ")))
    });
    kill(host);
    wait_until("the end of the host", || !is_alive(host));
    assert!(is_alive(child));
    let session = stage.resume(&spec.session);
    wait_until("the end of the child", || !is_alive(child));
    session.attach().until("the present", |told| told.caught_up);
}

#[test]
fn the_system_ends_a_host_in_order() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("slow", PromptWhen::Queue);
    told.until_event("the turn", |what| matches!(what, OwnWhat::TurnStart));
    let host = session.host().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &host]).status().unwrap().success());
    let end = told.until_end();
    assert!(
        matches!(&end, OwnWhat::SessionEnded { asked: false, words: Some(words), .. } if words.contains("system")),
        "{end:?}"
    );
    wait_until("no process is left", || processes(&stage).is_empty());
}

#[test]
fn two_hosts_do_not_keep_one_session() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let second = std::process::Command::new(Stage::program())
        .arg("--keep")
        .arg(session.folder.path())
        .output()
        .unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(said.contains("another host keeps this session"), "{said}");
    let id = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
}

#[test]
fn a_torn_log_goes_on() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let host = session.host();
    let id = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    kill(host);
    wait_until("the end of the host", || !is_alive(host));
    use std::io::Write as _;
    let mut log = std::fs::OpenOptions::new().append(true).open(session.folder.log()).unwrap();
    log.write_all(b"99 1764000000000 out 500\n{\"type\":\"assis").unwrap();
    let session = stage.resume(&spec.session);
    let next = session.prompt("two", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done).until_at(&next, PromptPlace::Done);
    let torn = std::fs::read_to_string(session.folder.path().join("log.torn")).unwrap();
    assert!(torn.ends_with("assis"), "{torn}");
}

#[test]
fn a_host_whose_folder_is_removed_says_so_and_ends_with_its_agent() {
    type Remove = fn(&Stage, &Session);
    let ways: [(&str, Remove); 4] = [
        ("its folder", |_, session| std::fs::remove_dir_all(session.folder.path()).unwrap()),
        ("all sessions", |stage, _| std::fs::remove_dir_all(stage.data().join("own")).unwrap()),
        ("moved", |stage, _| std::fs::rename(stage.data().join("own"), stage.data().join("other")).unwrap()),
        ("the data folder moved", |stage, _| {
            std::fs::rename(stage.data(), stage.data().with_extension("other")).unwrap();
        }),
    ];
    for (what, remove) in ways {
        let stage = Stage::new();
        let session = stage.shell("echo ready; sleep 1000");
        let mut told = session.attach();
        told.until_shown("ready");
        let host = session.host();
        let started = told.until_event("the start", |what| matches!(what, OwnWhat::Started { .. }));
        let OwnWhat::Started { pid } = started else { unreachable!() };
        remove(&stage, &session);
        told.until_event(
            what,
            |what| matches!(what, OwnWhat::Error { text, .. } if text.contains("was removed")),
        );
        let end = told.until_end();
        assert!(
            matches!(&end, OwnWhat::SessionEnded { words: Some(words), .. } if words.contains("was removed")),
            "{end:?}"
        );
        wait_until("the end of both", || !is_alive(host) && !is_alive(pid));
        let _ = std::fs::remove_dir_all(stage.data().with_extension("other"));
    }
}

#[test]
fn what_calls_itself_a_host_ends_with_the_session() {
    let stage = Stage::new();
    let fake = stage.data().join("fake");
    let inner = Folder::of(&fake, "inner").unwrap();
    let spec = stage.spec(OwnAgent::Shell, OwnKind::Pty, &["sleep", "1000"]);
    inner.create(&spec).unwrap();
    std::fs::create_dir_all(fake.join("bin")).unwrap();
    std::fs::copy(Stage::program(), fake.join("bin/watchbill-host")).unwrap();
    // A command line alone, and the program itself at another place, with a lock of its own.
    let script = format!(
        "perl -e '$0 = \"watchbill-host\\0--keep\\0x\"; sleep 1000' & {}/bin/watchbill-host --keep {} & echo ready; sleep 1000",
        fake.display(),
        inner.path().display()
    );
    let session = stage.shell(&script);
    let mut told = session.attach();
    told.until_shown("ready");
    wait_until("the other host", || inner.socket().exists());
    session.send(&OwnCommand::Stop).unwrap();
    told.until_end();
    session.wait_for_end();
    let sleeps = |pid: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.starts_with("watchbill-host") || line.contains("sleep")
    };
    let left: Vec<u32> = processes(&stage).into_iter().filter(sleeps).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(std::fs::File::open(inner.lock()).unwrap().try_lock().is_ok(), "the other host has ended");
}

#[test]
fn a_session_that_an_agent_started_with_watchbill_goes_on() {
    let stage = Stage::new();
    let inner = stage.spec(OwnAgent::Shell, OwnKind::Pty, &["sleep", "1000"]);
    let folder = Folder::of(stage.data(), &inner.session).unwrap();
    let outer = stage.shell(&format!(
        "until test -e {0}/spec.json; do sleep 0.05; done; {1} {0}; echo started; sleep 1000",
        folder.path().display(),
        stage.data().join("own/bin").join(env!("CARGO_PKG_VERSION")).join("watchbill-host").display()
    ));
    folder.create(&inner).unwrap();
    let mut told = outer.attach();
    told.until_shown("started");
    outer.send(&OwnCommand::Stop).unwrap();
    told.until_end();
    outer.wait_for_end();
    assert!(watchbill_drive::client::HostClient::connect(&folder).unwrap().keeps());
}

#[test]
fn a_host_that_dies_before_its_reply_leaves_the_outcome_unknown() {
    use std::io::{BufRead as _, BufReader, Write as _};
    let stage = Stage::new();
    let folder = Folder::of(stage.data(), "dies").unwrap();
    let spec = spec(&stage);
    folder.create(&spec).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.socket()).unwrap();
    let socket = folder.socket();
    let host = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let hello = HostHello {
            host_protocol: HOST_VERSION,
            watchbill: String::new(),
            pid: 1,
            spec,
            next: 0,
            picture_files: false,
        };
        writeln!(&stream, "{}", serde_json::to_string(&hello).unwrap()).unwrap();
        BufReader::new(&stream).read_line(&mut String::new()).unwrap();
        std::fs::remove_file(socket).unwrap();
    });
    let error = watchbill_drive::client::send(&folder, "c", &OwnCommand::Interrupt).unwrap_err();
    host.join().unwrap();
    assert!(error.to_string().contains("unknown whether it took the command"), "{error}");
}
