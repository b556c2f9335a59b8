//! Commands beside a running program: they ask it, and work without it if it breaks off or has other settings.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::forget::{STAYS, adds, two_sessions, until};
use crate::home::Home;

/// `watchbill serve`. It ends with the test.
pub struct Serve(Child);

impl Serve {
    pub fn of(home: &Home) -> Self {
        let serve =
            Self(home.command(&["serve"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        until("it to answer", || hello(home).is_some());
        until("the first scan to end", || {
            let answer = ask(home, &json!({"id": "1", "request": "roster"}));
            answer.is_some_and(|answer| answer.get("reply").is_some())
        });
        serve
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it, and returns its exit code and its messages.
    pub fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
        let code = self.0.wait().unwrap().code();
        let mut err = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (code, err)
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn connect(home: &Home) -> Option<BufReader<UnixStream>> {
    UnixStream::connect(home.data().join("run/engine.sock")).ok().map(BufReader::new)
}

fn line(from: &mut BufReader<UnixStream>) -> Option<Value> {
    let mut line = String::new();
    from.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn hello(home: &Home) -> Option<Value> {
    line(&mut connect(home)?)
}

pub fn ask(home: &Home, call: &Value) -> Option<Value> {
    let mut stream = connect(home)?;
    line(&mut stream)?;
    writeln!(stream.get_mut(), "{call}").ok()?;
    line(&mut stream)
}

/// Removes the fields that change from one answer to the next.
fn lasting(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(mut json) => {
            for changes in ["revision", "generatedAt", "tookMs"] {
                json.as_object_mut().unwrap().remove(changes);
            }
            json.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

#[test]
fn a_running_program_gives_the_same_answers() {
    let home = two_sessions();
    home.out(&["index"]);
    let asked: &[&[&str]] = &[
        &["roster", "--json"],
        &["roster", "--json", "--all"],
        &["status"],
        &["status", "--format", "json"],
        &["why", STAYS, "--json"],
        &["chain", &STAYS[..8], "--json"],
        &["chain", STAYS],
        &["search", "--json", "goneword"],
    ];
    let alone: Vec<_> = asked.iter().map(|words| lasting(&home.out(words))).collect();
    let refused = home.run_watchbill(&["why", "nobody"]).err;
    let serve = Serve::of(&home);
    let beside: Vec<_> = asked.iter().map(|words| lasting(&home.out(words))).collect();
    assert!(home.out(&["roster"]).contains("goneword at first"));
    assert_eq!(home.run_watchbill(&["why", "nobody"]).err, refused);
    assert_eq!(serve.end(Signal::TERM), (Some(0), String::new()));
    assert!(!home.data().join("run/engine.sock").exists());
    for ((words, alone), beside) in asked.iter().zip(&alone).zip(&beside) {
        // Time may have changed a state meanwhile.
        if alone != beside {
            assert_eq!(&lasting(&home.out(words)), beside, "{words:?}");
        }
    }
}

#[test]
fn an_interrupt_ends_serve_in_order() {
    let home = two_sessions();
    assert_eq!(Serve::of(&home).end(Signal::INT), (Some(0), String::new()));
}

/// A stand-in for the holder. It answers with a made-up session, so that the test sees which program answered.
fn fake_holder(home: &Home, view: &str, replies: bool) -> std::thread::JoinHandle<usize> {
    let (listener, lock) = home.pretend_holder();
    let hello = json!({"protocol": 1, "watchbill": "0.0.0", "pid": 1, "view": view});
    std::thread::spawn(move || {
        let _lock = lock;
        let (mut stream, _) = listener.accept().unwrap();
        writeln!(stream, "{hello}").unwrap();
        let mut asked = 0;
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while let Some(Ok(call)) = lines.next() {
            asked += 1;
            let call: Value = serde_json::from_str(&call).unwrap();
            let why = json!({
                "sessionId": "from the one that runs", "state": "idle", "stateSince": "2026-01-01T00:00:00.000Z",
                "evidence": [],
            });
            let answer = json!({"id": call["id"], "reply": why}).to_string();
            if !replies {
                // As if it were killed during its answer.
                stream.write_all(&answer.as_bytes()[..20]).unwrap();
                break;
            }
            writeln!(stream, "{answer}").unwrap();
        }
        asked
    })
}

#[test]
fn commands_ignore_a_holder_with_other_folders_or_one_that_breaks_off() {
    let home = two_sessions();
    home.out(&["index"]);
    let view = {
        let _serve = Serve::of(&home);
        hello(&home).unwrap()["view"].as_str().unwrap().to_owned()
    };
    let _ = std::fs::remove_file(home.data().join("run/engine.sock"));
    for (view, replies, asked) in [("another", true, 0), (&*view, false, 1)] {
        let holder = fake_holder(&home, view, replies);
        assert_eq!(home.json(&["why", STAYS, "--json"])["sessionId"], STAYS, "{view}");
        assert_eq!(holder.join().unwrap(), asked, "{view}");
        std::fs::remove_file(home.data().join("run/engine.sock")).unwrap();
    }
}

/// The second `watch` follows the first, and watches itself once the first is killed.
#[test]
fn a_second_watch_takes_over_when_the_first_is_killed() {
    let home = two_sessions();
    let mut first = crate::forget::Writer::of(&home);
    until("it to listen", || hello(&home).is_some());
    let mut second = home.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut events = BufReader::new(second.stdout.take().unwrap()).lines();
    let mut tells = |what: &dyn Fn(&Value) -> bool| {
        while !what(&serde_json::from_str(&events.next().unwrap().unwrap()).unwrap()) {}
    };
    tells(&|event| event["event"] == "snapshot");
    let session = |n| format!("cccccccc-0000-4000-8000-00000000000{n}");
    for n in 0..2 {
        adds(&home, &session(n), "one more");
        tells(&|event| event["event"] == "discovered" && event["session"]["sessionId"] == session(n));
        if n == 0 {
            first.kill();
        }
    }
    second.kill().unwrap();
    second.wait().unwrap();
}

#[test]
fn the_systemd_unit_runs_this_program_with_the_given_folders() {
    let home = two_sessions();
    let unit = home.out(&["--claude-dir", "some where", "serve", "--systemd"]);
    let program = format!("ExecStart=\"{}\" --claude-dir \"", env!("CARGO_BIN_EXE_watchbill"));
    assert!(unit.contains(&program), "{unit}");
    assert!(unit.contains("/some where\" --data-dir \"") && unit.contains("\" serve\n"), "{unit}");
    assert!(
        unit.starts_with("[Unit]\n") && unit.contains("\n[Install]\nWantedBy=default.target\n"),
        "{unit}"
    );
}
