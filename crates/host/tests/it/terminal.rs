//! Sessions in a terminal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use watchbill_drive::sessions::{FoundHost, session};
use watchbill_drive::summary::OwnSummary;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSize};

use crate::stage::{Stage, is_alive, wait_until};

#[test]
fn a_shell_is_shown_typed_into_and_ended() {
    let stage = Stage::new();
    let spec = stage.spec(OwnAgent::Shell, OwnKind::Pty, &["/bin/bash", "--norc"]);
    let session = stage.start(&spec);
    let mut told = session.attach();
    session.paste("echo $((40 + 2)) $TERM");
    told.until_shown("42 xterm-256color");
    session.send(&OwnCommand::Stop).unwrap();
    let end = told.until_end();
    assert!(matches!(end, OwnWhat::SessionEnded { asked: true, .. }), "{end:?}");
    session.wait_for_end();
    // The log of the dead host tells the same.
    assert_eq!(session.log(), told.events);
}

#[test]
fn an_exit_code_and_the_last_output_are_not_lost() {
    let stage = Stage::new();
    let session = stage.shell("seq 1 3000; echo the last words; exit 7");
    let mut told = session.attach();
    let end = told.until_end();
    assert!(matches!(end, OwnWhat::SessionEnded { code: Some(7), asked: false, .. }), "{end:?}");
    session.wait_for_end();
    let mut picture = vt100::Parser::default();
    picture.process(&std::fs::read(session.folder.screen()).unwrap());
    assert!(picture.screen().contents().contains("the last words"), "{}", picture.screen().contents());
}

#[test]
fn the_host_answers_and_readers_do_not() {
    let stage = Stage::new();
    // Asks four questions, and shows each byte that comes within the time as hex.
    let session = stage.shell(
        "stty raw -echo; printf '\\x1b[c\\x1b[6n\\x1b[?2004$p\\x1b]11;?\\x07'; \
         read -r -N 26 -t 50 answer; printf '%s' \"$answer\" | od -An -tx1 | tr -d ' \\n'; echo; \
         while read -r -N 1 key; do printf 'got %q ' \"$key\"; done",
    );
    let mut told = session.attach();
    // ESC[?62;22c ESC[1;1R ESC[?2004;2$y
    told.until_shown("1b5b3f36323b3232631b5b313b31521b5b3f323030343b322479");
    // No view that attaches types anything.
    for _ in 0..20 {
        session.attach().until("the screen", |told| told.caught_up);
    }
    session.type_bytes(b"q");
    told.until_shown("got q");
    assert_eq!(told.shown().matches("got").count(), 1, "{}", told.shown());
}

#[test]
fn a_new_reader_sees_what_an_old_one_sees() {
    let stage = Stage::new();
    let session = stage.shell(
        "for i in $(seq 1 400); do printf '\\e[3%dm line %d \\e[38;2;1;2;3m\\e[1mbold\\e[m\\n' $((i % 8)) $i; done; \
         printf 'wide \u{4f60}\u{597d} \u{1f600} e\u{301}\\n\\e[?2004h\\e[?1000h\\e[?1006hready'; sleep 1000",
    );
    let mut old = session.attach();
    old.until_shown("ready");
    let mut new = session.attach();
    new.until("the screen", |told| told.caught_up);
    let (a, b) = (old.view.screen(), new.view.screen());
    assert_eq!(a.contents_formatted(), b.contents_formatted());
    assert_eq!(a.input_mode_formatted(), b.input_mode_formatted());
    assert_eq!(a.cursor_position(), b.cursor_position());
    // What scrolled off is there as well, in order.
    let view = new.view.screen_mut();
    let lines = view.scrollback_len();
    let numbers: Vec<u32> = (1..=lines)
        .rev()
        .filter_map(|back| {
            view.set_scrollback(back);
            view.rows(0, 80).next()?.split("line ").nth(1)?.split(' ').next()?.parse().ok()
        })
        .collect();
    let wanted: Vec<u32> = (1..=u32::try_from(numbers.len()).unwrap()).collect();
    assert_eq!(numbers, wanted);
    assert!(numbers.len() > 370, "{}", numbers.len());
}

#[test]
fn the_screen_below_another_one_comes_back() {
    let stage = Stage::new();
    let session =
        stage.shell("echo below; printf '\\e[?1049habove'; read x; printf '\\e[?1049l'; read x; echo after");
    let mut told = session.attach();
    told.until_shown("above");
    let mut late = session.attach();
    late.until("the screen", |told| told.caught_up);
    assert!(late.view.screen().alternate_screen());
    session.paste("");
    late.until("below", |told| told.shown().contains("below") && !told.view.screen().alternate_screen());
    session.paste("");
    late.until_shown("after");
    late.until_end();
}

#[test]
fn a_resize_reaches_the_program_once() {
    let stage = Stage::new();
    // The trap only counts. Bash can lose a signal that comes while the trap of the one before runs, and what the trap
    // itself prints is seen before it has ended.
    let session = stage.shell(
        "n=0; told=0; trap 'n=$((n+1))' WINCH; echo ready; \
         while :; do [ $n = $told ] || { told=$n; echo \"changed $told: $(stty size)\"; }; sleep 0.05; done",
    );
    let mut told = session.attach();
    told.until_shown("ready");
    let to = |rows, cols| OwnCommand::Resize { size: OwnSize { rows, cols } };
    session.send(&to(30, 100)).unwrap();
    told.until_shown("changed 1: 30 100");
    for _ in 0..5 {
        session.send(&to(30, 100)).unwrap();
    }
    session.send(&to(31, 101)).unwrap();
    told.until_shown("changed 2: 31 101");
    assert_eq!(told.shown().matches("changed").count(), 2, "{}", told.shown());
    assert!(session.send(&to(0, 0)).is_err());
}

#[test]
fn a_paste_is_bracketed_where_the_program_asks() {
    let stage = Stage::new();
    let session = stage
        .shell("stty raw -echo; printf '\\e[?2004hready'; head -c 22 | od -An -tx1 | tr -d ' \\n'; read x");
    let mut told = session.attach();
    told.until_shown("ready");
    session.paste("a\nb\u{1b}[201~c");
    // ESC[200~ a CR b [201~ c ESC[201~ CR: the end inside has lost its ESC.
    let wanted: String = b"\x1b[200~a\rb[201~c\x1b[201~\r".iter().map(|byte| format!("{byte:02x}")).collect();
    told.until_shown(&wanted);
}

#[test]
fn a_reader_that_does_not_read_slows_nothing() {
    let stage = Stage::new();
    let session = stage.shell("read x; seq 1 1000000; echo all; sleep 1000");
    // This reader attaches and then reads nothing.
    let (begun, begins) = std::sync::mpsc::channel();
    let (goes_on, waits) = std::sync::mpsc::channel::<()>();
    let folder = session.folder.clone();
    let slow = std::thread::spawn(move || {
        let (mut screens, mut view) = (0, vt100::Parser::default());
        let mut sink = |message| {
            match message {
                watchbill_protocol::own::host::HostMessage::CaughtUp => {
                    begun.send(()).unwrap();
                    waits.recv().unwrap();
                }
                watchbill_protocol::own::host::HostMessage::Screen { bytes, .. } => {
                    screens += 1;
                    view = vt100::Parser::default();
                    view.process(&STANDARD.decode(bytes).unwrap());
                }
                watchbill_protocol::own::host::HostMessage::Output { bytes } => {
                    view.process(&STANDARD.decode(bytes).unwrap());
                }
                watchbill_protocol::own::host::HostMessage::Events { .. } => {}
            }
            !view.screen().contents().contains("all")
        };
        watchbill_drive::client::follow(&folder, 0, &mut sink).unwrap();
        screens
    });
    begins.recv().unwrap();
    session.paste("");
    let mut quick = session.attach();
    quick.until_shown("all");
    goes_on.send(()).unwrap();
    // It gets the screen instead of what it missed.
    assert!(slow.join().unwrap() >= 2);
}

#[test]
fn a_daemonised_child_ends_with_the_session() {
    let stage = Stage::new();
    let session = stage.shell(
        "(setsid sleep 1000 >/dev/null 2>&1 </dev/null & echo child $! >pids); \
         (setsid bash -c 'trap \"\" TERM HUP; echo deaf $$ >>pids; while :; do sleep 0.2; done' & ); \
         echo started; sleep 1000",
    );
    let mut told = session.attach();
    told.until_shown("started");
    let pids = || -> Vec<u32> {
        let text = std::fs::read_to_string(stage.data().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.split(' ').nth(1)?.parse().ok()).collect()
    };
    wait_until("both children", || pids().len() == 2);
    session.send(&OwnCommand::Stop).unwrap();
    let end = told.until_end();
    assert!(matches!(end, OwnWhat::SessionEnded { asked: true, .. }), "{end:?}");
    assert!(pids().iter().all(|pid| !is_alive(*pid)), "a process is left");
    let endings = told.events.iter().filter(|event| matches!(event.what, OwnWhat::Ending { .. })).count();
    assert!(endings >= 2, "the list became shorter");
    assert_eq!(told.ends(), 1);
}

#[test]
fn what_a_program_leaves_is_shown_and_ended_only_on_request() {
    let stage = Stage::new();
    let session = stage.shell(
        "setsid bash -c 'exec </dev/null >/dev/null 2>&1; touch up; exec sleep 1000' & \
         until [ -e up ]; do sleep 0.05; done; echo bye",
    );
    let mut told = session.attach();
    let left = told.until_event("the list", |what| matches!(what, OwnWhat::Ending { .. }));
    let OwnWhat::Ending { left } = left else { unreachable!() };
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(is_alive(left[0].pid));
    session.send(&OwnCommand::Stop).unwrap();
    told.until_end();
    assert!(!is_alive(left[0].pid));
}

#[test]
fn a_suspended_program_can_be_ended() {
    let stage = Stage::new();
    let session = stage.shell("echo ready; kill -STOP $$; sleep 1000");
    let mut told = session.attach();
    told.until_shown("ready");
    session.send(&OwnCommand::Stop).unwrap();
    told.until_end();
    let ended = self::session(session.folder.clone()).unwrap();
    session.wait_for_end();
    drop(ended);
    let ended = self::session(session.folder.clone()).unwrap();
    assert!(matches!(ended.host, FoundHost::Ended));
    let summary = OwnSummary::of_ended(&ended.folder, &ended.spec).unwrap();
    assert!(!summary.fold.is_live(), "its end is told");
}

#[test]
fn fifty_sessions_leave_nothing() {
    let stage = Stage::new();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let one = |script: &str| {
        let session = stage.shell(script);
        session.wait_for_end();
        assert!(!session.folder.socket().exists());
    };
    one("true");
    let before = descriptors();
    for number in 0..50 {
        one(if number % 2 == 0 { "true" } else { "exit 3" });
    }
    // Other tests run beside this one, each with a few.
    assert!(descriptors() < before + 40, "{} now, {before} before", descriptors());
}
