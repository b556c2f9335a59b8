//! Cases that other programs get wrong. `tests/rig/cases-own.md` names them.

use std::path::Path;
use std::process::Command;

use watchbill_drive::start;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use crate::stage::{Session, Stage, is_alive, wait_until};
use crate::stream::{kill, received, spec, starts};

/// A session that goes on with the conversation of another one.
fn going_on(stage: &Stage, with: &OwnSpec) -> OwnSpec {
    OwnSpec { resume: Some(OwnResume { session: with.session.clone(), fork: false }), ..spec(stage) }
}

/// The failure of a start, and the end after it.
fn refused(session: &Session) -> (String, OwnWhat) {
    let mut told = session.attach();
    let end = told.until_end();
    let error = told.until_event("the error", |what| matches!(what, OwnWhat::Error { .. }));
    let OwnWhat::Error { text, cause, .. } = error else { unreachable!() };
    assert_eq!(cause, "start");
    (text, end)
}

#[test]
fn two_hosts_run_no_two_agents_on_one_conversation() {
    let stage = Stage::new();
    let first = spec(&stage);
    let session = stage.start(&first);
    let id = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    // Two windows resume it in the same moment: neither sees a process that has it.
    let (one, other) = (going_on(&stage, &first), going_on(&stage, &first));
    let (has_it, wants_it) = (stage.start(&one), stage.start(&other));
    let slow = has_it.prompt("slow", PromptWhen::Queue);
    has_it.attach().until_at(&slow, PromptPlace::Started);
    let waits = wants_it.prompt("waits", PromptWhen::Queue);
    let (text, _) = refused(&wants_it);
    assert!(text.contains("another session of your own"), "{text}");
    assert_eq!(
        wants_it.attach().until("the log", |told| told.ends() == 1).place(&waits),
        Some(PromptPlace::Queued)
    );
    wants_it.wait_for_end();
    assert_eq!(starts(&stage).len(), 2, "{:?}", starts(&stage));
    // When the first one lets go of it, the other one goes on.
    has_it.send(&OwnCommand::Stop).unwrap();
    has_it.wait_for_end();
    let wants_it = stage.resume(&other.session);
    wants_it.attach().until("the present", |told| told.caught_up);
    wants_it.send(&OwnCommand::ReleaseQueue).unwrap();
    wants_it.attach().until_at(&waits, PromptPlace::Done);
}

#[test]
fn five_sessions_of_one_folder_go_on_with_five_conversations() {
    let stage = Stage::new();
    let specs: Vec<OwnSpec> = (0..5).map(|_| spec(&stage)).collect();
    for spec in &specs {
        let session = stage.start(spec);
        let id = session.prompt("one", PromptWhen::Queue);
        session.attach().until_at(&id, PromptPlace::Done);
    }
    let hosts: Vec<u32> = specs.iter().map(|spec| stage.start(spec).host()).collect();
    hosts.iter().for_each(|host| kill(*host));
    wait_until("the end of the hosts", || hosts.iter().all(|host| !is_alive(*host)));
    for spec in specs.iter().rev() {
        let session = stage.resume(&spec.session);
        let id = session.prompt("two", PromptWhen::Queue);
        session.attach().until_at(&id, PromptPlace::Done);
        let last = starts(&stage).pop().unwrap();
        assert!(last.contains(&format!("--resume {}", spec.session)), "{last}");
    }
    assert_eq!(starts(&stage).len(), 10);
}

#[test]
fn an_interrupt_leaves_what_runs_beside_the_turn_and_the_agent() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("child", PromptWhen::Queue);
    told.until_event("the child", |what| matches!(what, OwnWhat::Block { text, .. } if text == "started"));
    let child = std::fs::read_to_string(stage.data().join("child")).unwrap().trim().parse().unwrap();
    session.send(&OwnCommand::Interrupt).unwrap();
    told.until_event("the end of the turn", |what| matches!(what, OwnWhat::TurnEnd { .. }));
    let next = session.prompt("one", PromptWhen::Queue);
    told.until_at(&next, PromptPlace::Done);
    assert!(is_alive(child), "a server that the agent started goes on");
    assert_eq!(starts(&stage).len(), 1, "an interrupt starts no other agent");
}

#[test]
fn an_agent_that_does_not_react_to_an_interrupt_is_told() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("deaf", PromptWhen::Queue);
    told.until_event("deafness", |what| matches!(what, OwnWhat::Block { text, .. } if text == "deaf"));
    session.send(&OwnCommand::Interrupt).unwrap();
    let error = told.until_event("the report", |what| matches!(what, OwnWhat::Error { .. }));
    assert!(
        matches!(&error, OwnWhat::Error { text, cause, .. } if cause == "interrupt" && text.contains("does not react")),
        "{error:?}"
    );
    session.send(&OwnCommand::Stop).unwrap();
    told.until_end();
}

/// Starts a program in a terminal that shows each key as hex.
fn shows_keys(stage: &Stage, agent: OwnAgent) -> Session {
    let script = "import os, tty; tty.setraw(0); print('ready', end=' ', flush=True)\n\
        while True: print('got', os.read(0, 1).hex(), end=' ', flush=True)\n";
    stage.start(&stage.spec(agent, OwnKind::Pty, &["python3", "-B", "-c", script]))
}

#[test]
fn an_interrupt_in_a_terminal_is_one_key() {
    let stage = Stage::new();
    for (agent, key) in [(OwnAgent::Shell, "03"), (OwnAgent::Gemini, "1b")] {
        let session = shows_keys(&stage, agent);
        let mut told = session.attach();
        told.until_shown("ready");
        session.send(&OwnCommand::Interrupt).unwrap();
        session.type_bytes(b"q");
        told.until_shown("got 71");
        assert_eq!(told.shown().trim(), format!("ready got {key} got 71"));
    }
}

#[test]
fn readers_that_attach_and_go_change_no_size() {
    let stage = Stage::new();
    let session = stage.shell(
        "trap 'echo changed' WINCH; echo ready; while read -r word; do echo \"$word $(stty size)\"; done",
    );
    let mut told = session.attach();
    told.until_shown("ready");
    for _ in 0..10 {
        session.attach().until("the screen", |told| told.caught_up);
    }
    session.paste("size");
    told.until_shown("size 24 80");
    assert!(!told.shown().contains("changed"), "{}", told.shown());
}

#[test]
fn a_session_goes_on_when_the_files_of_its_program_are_gone() {
    let stage = Stage::new();
    // As an image that is unmounted, or a package that is removed.
    let image = stage.data().join("image");
    std::fs::create_dir(&image).unwrap();
    let program = image.join("watchbill-host");
    std::fs::copy(Stage::program(), &program).unwrap();
    let spec = spec(&stage);
    let session = Session { folder: start::start(stage.data(), &program, &spec).unwrap() };
    let host = session.host();
    std::fs::remove_dir_all(&image).unwrap();
    std::fs::remove_dir_all(stage.data().join("own/bin")).unwrap();
    // The agent is started by the program whose file is gone.
    let id = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    assert_eq!(session.host(), host);
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    let session = stage.resume(&spec.session);
    let id = session.prompt("two", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    assert_eq!(received(&stage).len(), 2);
}

fn write_program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    assert!(Command::new("chmod").arg("700").arg(path).status().unwrap().success());
}

#[test]
fn a_program_that_is_not_found_says_what_was_looked_for_and_where() {
    let stage = Stage::new();
    let script = stage.data().join("script");
    write_program(&script, "#!/no/such/interpreter\n");
    let words = |command: &str| {
        let session = stage.start(&OwnSpec { command: vec![command.to_owned()], ..spec(&stage) });
        session.prompt("one", PromptWhen::Queue);
        let end = session.attach().until_end();
        let OwnWhat::SessionEnded { words: Some(words), .. } = end else { panic!("{end:?}") };
        words
    };
    let missing = words("no-such-agent");
    let path = std::env::var("PATH").unwrap();
    assert!(missing.contains("no-such-agent") && missing.contains(&path), "{missing}");
    let broken = words(script.to_str().unwrap());
    assert!(broken.contains("its first line names"), "{broken}");
}

#[test]
fn an_agent_that_refuses_to_open_a_session_is_ended_and_its_words_stay() {
    let stage = Stage::new();
    // What `codex app-server` 0.169.0 says when another process writes the thread. It would wait for more calls.
    let server = stage.data().join("server.py");
    let script = "import json,sys\n\
        for line in sys.stdin:\n\
        \x20   call = json.loads(line)\n\
        \x20   if call.get('method') == 'initialize': said = {'result': {'userAgent': 'x/1 y'}}\n\
        \x20   elif 'id' in call: said = {'error': {'code': -32600, 'message': 'thread already has an active writer'}}\n\
        \x20   else: continue\n\
        \x20   print(json.dumps({'id': call['id'], **said}), flush=True)\n";
    std::fs::write(&server, script).unwrap();
    let command = ["python3", "-B", server.to_str().unwrap()];
    let resume = Some(OwnResume { session: "019b0000-0000-7000-8000-000000000000".to_owned(), fork: false });
    let session = stage.start(&OwnSpec { resume, ..stage.spec(OwnAgent::Codex, OwnKind::Stream, &command) });
    let id = session.prompt("one", PromptWhen::Queue);
    let (text, end) = refused(&session);
    assert!(text.contains("active writer"), "{text}");
    let OwnWhat::SessionEnded { asked: false, words: Some(words), .. } = end else { panic!("{end:?}") };
    assert!(words.contains("active writer"), "{words}");
    session.wait_for_end();
    let told = session.log();
    let place = |what: &OwnWhat| matches!(what, OwnWhat::Prompt { id: of, place: PromptPlace::Queued, .. } if *of == id);
    assert!(told.iter().any(|event| place(&event.what)), "the prompt waits for the next try: {told:?}");
}

#[test]
fn a_command_that_ends_its_session_is_answered() {
    let stage = Stage::new();
    for _ in 0..20 {
        // Nothing can start there, so the host ends with the first prompt. No reader is attached that holds it up.
        let session = stage.start(&OwnSpec { cwd: "/nowhere".to_owned(), ..spec(&stage) });
        session.prompt("one", PromptWhen::Queue);
        session.wait_for_end();
    }
}
