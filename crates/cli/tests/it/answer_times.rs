//! Answers and their requests in time: what is refused as unseen or late, what subscribers hear, and hooks that nothing may hold up.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answers::{Desk, Hook, SESSION, decision};
use crate::forget::until;
use crate::home::{Home, line};
use crate::program::Finished;

/// A program that hears the events of `watch --json`.
struct Watch {
    process: Child,
    events: Receiver<Value>,
}

impl Watch {
    fn of(home: &Home) -> Self {
        let mut process = home.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if sender.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        let mut watch = Self { process, events };
        watch.hears(|event| event["event"] == "snapshot");
        watch
    }

    /// Waits for an event.
    fn hears(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).expect("the event within a minute");
            if is_it(&event) {
                return event;
            }
        }
    }

    fn closed(&mut self) -> Value {
        self.hears(|event| event["event"] == "request_closed")
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A hook process of the test's own, at the socket.
struct Asker(BufReader<UnixStream>);

impl Asker {
    fn asks(desk: &Desk, command: &str) -> Self {
        let payload = json!({ "session_id": SESSION, "cwd": "/home/dev/work", "permission_mode": "default",
            "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": command } });
        let mut asker = Self(BufReader::new(desk.connects_below_agent()));
        asker.line();
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let call = json!({ "id": "1", "request": "ask", "ask": format!("ask-{command}"), "payload": payload.to_string(),
            "order": now.tv_sec * 1_000_000_000 + now.tv_nsec });
        writeln!(asker.0.get_mut(), "{call}").unwrap();
        desk.writes_status("waiting");
        until("the request to be shown", || {
            desk.request().is_some_and(|request| request["id"] == format!("ask-{command}"))
        });
        asker
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn age(request: &Value) -> i64 {
    let opened: jiff::Timestamp = request["openedAt"].as_str().unwrap().parse().unwrap();
    jiff::Timestamp::now().as_millisecond() - opened.as_millisecond()
}

/// Lets the session ask, and answers at once without the id of the request. A machine that is too slow for that tries again.
fn answers_at_once(desk: &Desk, words: &[&str]) -> (Hook, String, Finished) {
    for number in 0..20 {
        let began = Instant::now();
        let command = format!("echo {number}");
        let hook = desk.runs(&command);
        let output = desk.run(&[&["answer", SESSION], words].concat());
        if began.elapsed() < Duration::from_secs(1) || output.code == 1 {
            return (hook, command, output);
        }
    }
    panic!("each command began later than a second after the request");
}

#[test]
fn a_request_that_was_asked_just_now_is_answered_by_its_id_alone() {
    for words in [&["--allow"][..], &["--always"], &["--deny", "no"], &["--stop"]] {
        // As the next one of a turn whose request before was just decided in the terminal.
        let desk = Desk::new();
        let (hook, command, output) = answers_at_once(&desk, words);
        let id = desk.request().unwrap()["id"].as_str().unwrap().to_owned();
        assert_eq!((output.code, &*output.out), (1, &*format!("{command}\n")), "{words:?}: {}", output.err);
        assert!(output.err.contains(&format!("--request {id}")), "{}", output.err);
        assert_eq!(output.err.lines().count(), 1, "{}", output.err);
        assert!(hook.waits() && desk.stored().iter().all(|(shown, ..)| *shown != command));
        let repeated = desk.answer(&["--deny", "seen"]);
        assert_eq!((repeated.code, &*repeated.err), (0, ""));
        assert_eq!(decision(&hook.end().0)["message"], "seen");
    }
    let (_hook, _, json) = answers_at_once(&Desk::new(), &["--allow", "--json"]);
    assert_eq!((json.code, &*json.out), (1, ""));
}

#[test]
fn a_request_that_was_there_for_a_second_is_answered_without_its_id() {
    let desk = Desk::new();
    let hook = desk.runs("echo hi");
    until("it to be there for a second", || age(&desk.request().unwrap()) > 1_000);
    let output = desk.run(&["answer", SESSION, "--allow"]);
    assert_eq!((output.code, &*output.out), (0, "echo hi\nallowed once\n"), "{}", output.err);
    assert_eq!(decision(&hook.end().0)["behavior"], "allow");
}

#[test]
fn an_answer_that_comes_late_counts_no_more() {
    let desk = Desk::new();
    let hook = desk.runs("rm -rf build");
    let request = desk.request().unwrap();
    let call = |pressed: Value| {
        json!({ "id": "1", "request": "answer", "session": SESSION, "requestId": request["id"], "seen": request["digest"],
            "decision": { "do": "allow" }, "pressed": pressed })
    };
    let late = desk.calls(&call(json!(1)))["error"]["message"].to_string();
    assert!(late.contains("counts no more"), "{late}");
    assert!(hook.waits() && desk.stored().is_empty(), "it was not sent");
    let now = desk.calls(&call(Value::Null));
    assert_eq!(now["reply"]["decision"], "allowed once", "{now}");
    assert_eq!(decision(&hook.end().0)["behavior"], "allow");
}

#[test]
fn watchers_hear_of_each_request_and_of_its_end() {
    let desk = Desk::new();
    let mut watch = Watch::of(&desk.home);
    let by = |closed: &Value| (closed["requestId"].clone(), closed["by"].clone());
    let asked = |watch: &mut Watch, command: &str| {
        let event = watch.hears(|event| event["event"] == "request");
        assert_eq!((&event["sessionId"], &event["request"]["shown"]), (&json!(SESSION), &json!(command)));
        event["request"]["id"].clone()
    };
    // In the terminal.
    let hook = desk.runs("echo terminal");
    let id = asked(&mut watch, "echo terminal");
    until("the need to have lasted", || desk.row().unwrap()["needs"] == "approval");
    desk.writes_status("busy");
    assert_eq!(by(&watch.closed()), (id, json!("terminal")));
    hook.end();
    // Here.
    let hook = desk.runs("echo here");
    let id = asked(&mut watch, "echo here");
    assert_eq!(desk.answer(&["--allow"]).code, 0);
    hook.end();
    watch.hears(|event| event["updates"]["request"]["progress"] == "taken");
    desk.writes_status("busy");
    assert_eq!(by(&watch.closed()), (id, json!("watchbill")));
    // The hook process ends, before and after an answer that it does not print.
    for answers in [false, true] {
        let command = format!("echo lost {answers}");
        let asker = Asker::asks(&desk, &command);
        let id = asked(&mut watch, &command);
        if answers {
            assert_eq!(desk.answer(&["--allow"]).code, 0);
            watch.hears(|event| event["updates"]["request"]["progress"] == "sending");
        }
        drop(asker);
        assert_eq!(by(&watch.closed()), (id, json!("withdrawn")), "{answers}");
    }
    until("the outcome to be stored", || desk.stored().last().is_some_and(|one| one.2 == "lost"));
}

#[test]
fn an_answer_without_effect_is_told_though_nothing_else_happens() {
    let desk = Desk::new();
    let mut watch = Watch::of(&desk.home);
    let mut asker = Asker::asks(&desk, "echo hi");
    // By then no deadline of the request itself is left.
    until("it to be there for some seconds", || age(&desk.request().unwrap()) > 3_500);
    assert_eq!(desk.answer(&["--allow"]).code, 0);
    assert!(asker.line()["reply"].is_string());
    watch.hears(|event| event["updates"]["request"]["progress"] == "failed");
    until("the outcome to be stored", || desk.stored().last().is_some_and(|one| one.2 == "no_effect"));
    // The user decides in the terminal.
    desk.writes_status("busy");
    assert_eq!(watch.closed()["by"], "terminal");
    assert_eq!(desk.stored().last().unwrap().2, "no_effect");
}

#[test]
fn a_changed_file_is_shown_though_nothing_else_happens() {
    let desk = Desk::new();
    let mut watch = Watch::of(&desk.home);
    let file = desk.home.path().join("script.sh");
    std::fs::write(&file, "echo harmless").unwrap();
    let _hook = desk.asks("Write", json!({ "file_path": file, "content": "x" }), Value::Null);
    until("its file to be known", || age(&desk.request().unwrap()) > 3_500);
    std::fs::write(&file, "rm -rf build").unwrap();
    assert_eq!(desk.answer(&["--allow"]).code, 1);
    let event = watch.hears(|event| event["updates"]["request"].get("changedFiles").is_some());
    assert_eq!(event["updates"]["request"]["changedFiles"], json!([file]));
}

#[test]
fn a_result_closes_the_card_while_a_subagents_dialog_is_open() {
    let desk = Desk::new();
    let hook = desk.runs("echo hi");
    let tell = |event: &str, command: &str, agent: Option<&str>| {
        let mut payload = json!({ "session_id": SESSION, "cwd": "/home/dev/work", "hook_event_name": event,
            "tool_name": "Bash", "tool_input": { "command": command } });
        if let Some(agent) = agent {
            payload["agent_id"] = json!(agent);
            payload["agent_type"] = json!("general-purpose");
        }
        desk.tells_hook(&payload);
    };
    tell("PermissionRequest", "echo of the subagent", Some("a1"));
    until("the need to have lasted", || desk.row().unwrap()["needs"] == "approval");
    assert!(hook.waits());
    tell("PostToolUse", "echo hi", None);
    desk.writes_status("waiting");
    assert_eq!(hook.end(), (String::new(), 0));
    until("the card to go", || desk.request().is_none());
    assert_eq!(desk.row().unwrap()["state"], "waiting_for_approval", "the subagent asks on");
}

/// Takes a hook's connection, greets it, and reads its request.
fn greet(listener: &UnixListener) -> (BufReader<UnixStream>, Value) {
    let (mut stream, _) = listener.accept().unwrap();
    let hello = json!({ "protocol": 1, "watchbill": "0.0.0", "pid": 1, "view": "" });
    writeln!(stream, "{hello}").unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    (stream, serde_json::from_str(&line).unwrap())
}

/// A hook process of a client, which is a shell. This test pretends to be the holder, and may itself run below an agent.
fn hook_of(home: &Home, payload: &Value) -> Child {
    let line = line(&home.command(&["hook", "--answer"]), &[]);
    let line = line.replacen("env -i", "env -i CLAUDE_PID=$$", 1);
    let mut client = Command::new("sh");
    client.args(["-c", &format!("{line}; exit $?")]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut client = client.spawn().unwrap();
    client.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    client
}

fn permission() -> Value {
    json!({ "session_id": SESSION, "cwd": "/home/dev/work", "hook_event_name": "PermissionRequest",
        "tool_name": "Bash", "tool_input": { "command": "ls" } })
}

#[test]
fn a_subagents_hook_ends_without_a_look_at_a_program_that_hangs() {
    let home = Home::empty();
    let (listener, _lock) = home.pretend_holder();
    let mut payload = permission();
    payload["agent_id"] = json!("a1");
    let mut hook = hook_of(&home, &payload);
    assert!(hook.wait().unwrap().success());
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "it has not even connected");
}

#[test]
fn a_hook_that_has_printed_its_answer_waits_for_nothing() {
    let took = || {
        let home = Home::empty();
        let (listener, _lock) = home.pretend_holder();
        let hook = hook_of(&home, &permission());
        let (mut stream, call) = greet(&listener);
        assert_eq!(call["request"], "ask");
        writeln!(stream.get_mut(), "{}", json!({ "id": call["id"], "reply": "{}" })).unwrap();
        let began = Instant::now();
        let output = hook.wait_with_output().unwrap();
        let took = began.elapsed();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "{}\n");
        let mut printed = String::new();
        stream.read_line(&mut printed).unwrap();
        assert!(printed.contains("\"printed\""), "{printed}");
        took
    };
    // The holder never replies to `printed`. A wait for its reply takes ten seconds each time; a busy machine delays some.
    assert!((0..3).any(|_| took() < Duration::from_secs(8)));
}

#[test]
fn a_hook_ends_with_its_client_while_the_engine_hangs() {
    let home = Home::empty();
    let (listener, _lock) = home.pretend_holder();
    let mut client = hook_of(&home, &permission());
    let (_stream, call) = greet(&listener);
    assert_eq!(call["request"], "ask");
    assert!(client.try_wait().unwrap().is_none());
    client.kill().unwrap();
    client.wait().unwrap();
    let mut out = String::new();
    client.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "");
}

#[test]
fn a_command_of_nothing_is_left_to_the_terminal() {
    let desk = Desk::new();
    let hook = desk.runs("");
    assert_eq!(desk.request().unwrap()["answerable"], "no");
    let output = desk.answer(&["--allow"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("does not know this kind of request"), "{}", output.err);
    assert!(hook.waits());
}
