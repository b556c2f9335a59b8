//! Answers to requests, through the real programs: a client's hook process waits, the user answers, the hook prints.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::forget::until;
use crate::home::{Home, line};
use crate::people::{self, detached, detached_program};
use crate::program::Finished;
use crate::with_serve::{Serve, ask};

pub const SESSION: &str = "cccccccc-0000-4000-8000-000000000003";

/// A home whose settings let scripts answer, with a running `watchbill serve`.
pub struct Desk {
    pub client: Client,
    pub serve: Option<Serve>,
    /// It goes last: a program that still runs would write into the folder that is being removed.
    pub home: Home,
}

/// A client: a process that runs, and its registry file. It is a shell, which starts the hook processes.
pub struct Client {
    process: Child,
    file: PathBuf,
}

impl Client {
    pub fn start(home: &Home, session: &str) -> Self {
        let lines = "while read -r line; do sh -c \"$line\" & done";
        let mut command = Command::new("sh");
        command.args(["-c", lines]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        let process = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let file = home.claude().join(format!("sessions/{}.json", process.id()));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let client = Self { process, file };
        client.write_status(session, "busy");
        client
    }

    /// The agent starts a process, which this line for a shell names.
    pub fn starts(&self, line: &str) {
        let mut lines = self.process.stdin.as_ref().unwrap();
        writeln!(lines, "{line}").unwrap();
    }

    /// Writes the registry file as the agent does.
    pub fn write_status(&self, session: &str, status: &str) {
        self.write_status_in("/home/dev/work", session, status);
    }

    pub fn write_status_in(&self, cwd: &str, session: &str, status: &str) {
        let pid = self.process.id();
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let start = stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(19).unwrap().to_owned();
        let now = crate::tree::now().as_millis();
        let mut entry = json!({ "pid": pid, "sessionId": session, "cwd": cwd, "startedAt": now - 60_000,
            "procStart": start, "version": "2.1.329", "kind": "interactive", "entrypoint": "cli", "status": status,
            "statusUpdatedAt": now, "updatedAt": now });
        if status == "waiting" {
            entry["waitingFor"] = json!("permission prompt");
        }
        std::fs::write(&self.file, entry.to_string()).unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A hook process that waits, and the folder of its files.
pub struct Hook(PathBuf);

impl Hook {
    /// Starts a command of `watchbill hook` below a client.
    pub fn start(home: &Home, client: &Client, words: &[&str], payload: &Value) -> Self {
        let hook = Self(home.folder("hook"));
        let folder = hook.0.display();
        std::fs::write(hook.0.join("in"), payload.to_string()).unwrap();
        let pid = client.process.id().to_string();
        let line = line(&home.command(words), &[("CLAUDE_PID", &pid)]);
        let script = format!(
            "{line} <{folder}/in >{folder}/out & echo $! >{folder}/pid.part; mv {folder}/pid.part {folder}/pid\n\
             wait $!; echo $? >{folder}/rc.part; mv {folder}/rc.part {folder}/rc\n"
        );
        std::fs::write(hook.0.join("script"), script).unwrap();
        client.starts(&format!("sh {folder}/script"));
        until("the hook process", || hook.0.join("pid").exists());
        hook
    }

    /// What it printed, when it has ended.
    pub fn end(self) -> (String, i32) {
        until("the hook process to end", || self.0.join("rc").exists());
        let read = |name: &str| std::fs::read_to_string(self.0.join(name)).unwrap();
        (read("out"), read("rc").trim().parse().unwrap())
    }

    pub fn waits(&self) -> bool {
        !self.0.join("rc").exists()
    }

    fn signal(&self, signal: Signal) {
        // Its home may be gone, and the process too.
        let Ok(pid) = std::fs::read_to_string(self.0.join("pid")) else { return };
        let pid = pid.trim().parse().unwrap();
        let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if self.waits() {
            self.signal(Signal::KILL);
        }
    }
}

impl Desk {
    pub fn new() -> Self {
        Self::with_settings("[answers]\nscripts = true\n")
    }

    pub fn with_settings(settings: &str) -> Self {
        people::begin();
        let home = Home::empty().configured(settings);
        let client = Client::start(&home, SESSION);
        let serve = Some(Serve::of(&home));
        Self { home, client, serve }
    }

    /// Starts a hook process, and waits until its request is shown and the agent has its dialog open.
    pub fn asks(&self, tool: &str, input: Value, suggestions: Value) -> Hook {
        let payload = json!({ "session_id": SESSION, "cwd": "/home/dev/work", "permission_mode": "default",
            "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input,
            "permission_suggestions": suggestions });
        self.asks_by(&payload)
    }

    /// The same for a command that the agent wants to run in this folder. It has a variable, so the row shows when its files
    /// have been looked at.
    pub fn asks_in(&self, cwd: &Path, command: &str) -> Hook {
        let payload = json!({ "session_id": SESSION, "cwd": cwd, "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": { "command": command } });
        let hook = self.asks_by(&payload);
        until("the look at its files", || desk_shows(&self.request(), "notCompared"));
        hook
    }

    /// The same with a whole payload.
    pub fn asks_by(&self, payload: &Value) -> Hook {
        let before = self.request().map(|request| request["id"].clone());
        let hook = Hook::start(&self.home, &self.client, &["hook", "--answer"], payload);
        self.client.write_status(SESSION, "waiting");
        until("the request to be shown", || {
            self.request().is_some_and(|request| Some(&request["id"]) != before.as_ref())
        });
        hook
    }

    pub fn runs(&self, command: &str) -> Hook {
        self.asks("Bash", json!({ "command": command }), Value::Null)
    }

    pub fn row(&self) -> Option<Value> {
        let answer = ask(&self.home, &json!({ "id": "1", "request": "roster", "all": true }))?;
        answer["reply"]["sessions"].as_array()?.iter().find(|row| row["sessionId"] == SESSION).cloned()
    }

    pub fn request(&self) -> Option<Value> {
        self.row()?.get("request").cloned()
    }

    pub fn run(&self, words: &[&str]) -> Finished {
        detached(&self.home, words, &[], None)
    }

    /// `watchbill answer` for the request that is shown now, by its id if there is one.
    pub fn answer(&self, words: &[&str]) -> Finished {
        let request = self.request();
        let id = request.iter().flat_map(|request| ["--request", request["id"].as_str().unwrap()]);
        self.run(&["answer", SESSION].into_iter().chain(id).chain(words.iter().copied()).collect::<Vec<_>>())
    }

    /// Writes the agent's registry file.
    pub fn writes_status(&self, status: &str) {
        self.client.write_status(SESSION, status);
    }

    /// The agent runs an observer's hook.
    pub fn tells_hook(&self, payload: &Value) {
        assert_eq!(Hook::start(&self.home, &self.client, &["hook"], payload).end().1, 0);
    }

    /// A connection to the socket from a process of the agent, which passes everything on.
    pub fn connects_below_agent(&self) -> UnixStream {
        const RELAY: &str = "import os, socket, sys, threading\n\
            listener, there = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)\n\
            listener.bind(sys.argv[2])\n\
            listener.listen()\n\
            here = listener.accept()[0]\n\
            there.connect(sys.argv[1])\n\
            def pass_on(source, target):\n\
            \x20   try:\n\
            \x20       while data := source.recv(65536):\n\
            \x20           target.sendall(data)\n\
            \x20   finally:\n\
            \x20       os._exit(0)\n\
            threading.Thread(target=pass_on, args=(here, there)).start()\n\
            pass_on(there, here)\n";
        let folder = self.home.folder("relay");
        std::fs::write(folder.join("relay.py"), RELAY).unwrap();
        let (relay, engine) = (folder.join("relay.sock"), self.home.data().join("run/engine.sock"));
        let script = folder.join("relay.py");
        self.client.starts(&format!("python3 {} {} {}", script.display(), engine.display(), relay.display()));
        let mut stream = None;
        until("the relay", || {
            stream = UnixStream::connect(&relay).ok();
            stream.is_some()
        });
        stream.unwrap()
    }

    /// A call at the socket from a script that no agent started. Gives the reply.
    pub fn calls(&self, call: &Value) -> Value {
        const SCRIPT: &str = "import socket, sys\n\
            lines = socket.socket(socket.AF_UNIX)\n\
            lines.connect(sys.argv[1])\n\
            file = lines.makefile('rw')\n\
            file.readline()\n\
            file.write(sys.argv[2] + '\\n')\n\
            file.flush()\n\
            print(file.readline())";
        let mut script = Command::new("python3");
        let socket = self.home.data().join("run/engine.sock");
        script.args(["-c", SCRIPT]).arg(socket).arg(call.to_string()).env("PATH", "/usr/bin:/bin");
        let said = detached_program(&self.home, &script, &[], None);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err))
    }

    fn run_with(&self, words: &[&str], variables: &[(&str, &str)], shell: Option<&str>) -> Finished {
        detached(&self.home, words, variables, shell)
    }

    pub fn stored(&self) -> Vec<(String, String, String)> {
        let list = self.home.json(&["answers", "--json"]);
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        list.as_array()
            .unwrap()
            .iter()
            .map(|row| (text(row, "shown"), text(row, "decision"), text(row, "outcome")))
            .collect()
    }
}

fn desk_shows(request: &Option<Value>, field: &str) -> bool {
    request.as_ref().is_some_and(|request| request.get(field).is_some())
}

/// The decision in a hook's output.
pub fn decision(out: &str) -> Value {
    let output: Value = serde_json::from_str(out).unwrap();
    output["hookSpecificOutput"]["decision"].clone()
}

#[test]
fn an_answer_reaches_the_hook_and_is_listed() {
    let desk = Desk::new();
    let hook = desk.runs("echo hi");
    let output = desk.answer(&["--allow"]);
    assert_eq!((output.code, &*output.out, &*output.err), (0, "echo hi\nallowed once\n", ""));
    let (out, code) = hook.end();
    assert_eq!((decision(&out), code), (json!({ "behavior": "allow" }), 0));
    until("the answer to be taken", || desk.stored()[0].2 == "taken");
    assert_eq!(desk.stored(), [("echo hi".into(), "allowed once".into(), "taken".into())]);
    assert_eq!(desk.run(&["answer", SESSION, "--deny", "no"]).code, 1, "it was answered");
}

#[test]
fn each_decision_is_said_in_the_clients_words() {
    let desk = Desk::new();
    let rule = json!([{ "type": "addRules", "behavior": "allow", "destination": "localSettings",
        "rules": [{ "toolName": "Bash", "ruleContent": "npm run *" }] }]);
    let options = json!([{ "label": "Red" }, { "label": "Blue" }, { "label": "Green" }]);
    let question =
        json!({ "questions": [{ "question": "Which?", "options": options, "multiSelect": true }] });
    let answered =
        |answer: &str| json!({ "questions": question["questions"], "answers": { "Which?": answer } });
    let plan = json!({ "plan": "1. Do it" });
    let bash = json!({ "command": "npm run x" });
    let mode = |mode: &str| json!([{ "type": "setMode", "mode": mode, "destination": "session" }]);
    let cases = [
        ("Bash", &bash, vec!["--always"], json!({ "behavior": "allow", "updatedPermissions": rule })),
        ("Bash", &bash, vec!["--deny", "not now"], json!({ "behavior": "deny", "message": "not now" })),
        (
            "AskUserQuestion",
            &question,
            vec!["--choose", "1,3"],
            json!({ "behavior": "allow", "updatedInput": answered("Red, Green") }),
        ),
        (
            "AskUserQuestion",
            &question,
            vec!["--text", "none"],
            json!({ "behavior": "allow", "updatedInput": answered("none") }),
        ),
        (
            "ExitPlanMode",
            &plan,
            vec!["--allow"],
            json!({ "behavior": "allow", "updatedInput": plan, "updatedPermissions": mode("default") }),
        ),
        (
            "ExitPlanMode",
            &plan,
            vec!["--always"],
            json!({ "behavior": "allow", "updatedInput": plan, "updatedPermissions": mode("acceptEdits") }),
        ),
        (
            "ExitPlanMode",
            &plan,
            vec!["--deny", "tests first"],
            json!({ "behavior": "deny", "message": "tests first" }),
        ),
    ];
    for (tool, input, words, expected) in cases {
        let hook = desk.asks(tool, input.clone(), rule.clone());
        let output = desk.answer(&words);
        assert_eq!((output.code, &*output.err), (0, ""), "{tool} {words:?}");
        assert_eq!(decision(&hook.end().0), expected, "{tool} {words:?}");
    }
    let hook = desk.asks("Bash", bash, Value::Null);
    let output = desk.answer(&["--stop"]);
    assert_eq!((output.code, decision(&hook.end().0)["interrupt"].clone()), (0, json!(true)));
}

#[test]
fn an_answer_that_does_not_fit_changes_nothing() {
    let desk = Desk::new();
    let question = json!({ "questions": [{ "question": "Which?", "options": [{ "label": "Red" }] }] });
    let hook = desk.asks("AskUserQuestion", question, Value::Null);
    for words in [
        &["--allow"][..],
        &["--always"],
        &["--choose", "2"],
        &["--choose", "0"],
        &["--choose", "1", "--text", "x"],
    ] {
        let output = desk.answer(words);
        assert_eq!((output.code, &*output.out), (1, ""), "{words:?}: {}", output.err);
        assert!(output.err.starts_with("watchbill: "), "{}", output.err);
    }
    let other = desk.run(&["answer", SESSION, "--request", "other", "--choose", "1"]);
    assert_eq!((other.code, &*other.out), (1, ""), "{}", other.err);
    assert!(hook.waits() && desk.stored().is_empty());
    let stale = desk.request().unwrap();
    let call = json!({ "id": "1", "request": "answer", "session": SESSION, "requestId": stale["id"], "seen": "01".repeat(32),
        "decision": { "do": "choose", "answers": [{ "options": [0] }] } });
    let refused = desk.calls(&call);
    assert!(
        refused["error"]["message"].as_str().unwrap().contains("not the one that was shown"),
        "{refused}"
    );
    assert!(hook.waits(), "a card that showed something else answers nothing");
}

#[test]
fn a_file_that_was_changed_after_the_request_is_shown_anew() {
    let desk = Desk::new();
    let file = desk.home.path().join("script.sh");
    std::fs::write(&file, "echo harmless").unwrap();
    let hook = desk.asks("Write", json!({ "file_path": file, "content": "x" }), Value::Null);
    let seen = desk.request().unwrap();
    std::fs::write(&file, "rm -rf build").unwrap();
    let output = desk.answer(&["--allow"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    assert!(output.err.contains("script.sh was changed after the session asked"), "{}", output.err);
    assert!(hook.waits());
    until("the change to be shown", || desk.request().unwrap().get("changedFiles").is_some());
    let now = desk.request().unwrap();
    assert_eq!((&now["id"], &now["changedFiles"]), (&seen["id"], &json!([file])));
    assert_ne!(now["digest"], seen["digest"], "what was shown before counts no more");
    assert_eq!(desk.answer(&["--allow"]).code, 0);
    assert_eq!(decision(&hook.end().0)["behavior"], "allow");
}

#[test]
fn without_a_running_watchbill_the_hook_says_nothing() {
    let home = Home::empty();
    let mut command = home.command(&["hook", "--answer"]);
    let mut hook = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It may have ended before it reads.
    let _ = hook.stdin.take().unwrap().write_all(b"{}");
    let ended = hook.wait_with_output().unwrap();
    assert_eq!((ended.stdout, ended.status.code()), (Vec::new(), Some(0)));
}

#[test]
fn a_decision_in_the_terminal_ends_the_hook_with_nothing() {
    let desk = Desk::new();
    let hook = desk.runs("ls");
    // After a second of waiting the row needs the user. By then the dialog takes keys, which it does after half a second.
    until("the need to have lasted", || desk.row().unwrap()["needs"] == "approval");
    assert!(hook.waits());
    desk.client.write_status(SESSION, "busy");
    assert_eq!(hook.end(), (String::new(), 0));
    until("the card to go", || desk.request().is_none());
    let output = desk.run(&["answer", SESSION, "--allow"]);
    assert_eq!((output.code, desk.stored().len()), (1, 0), "{}", output.err);
}

#[test]
fn a_client_that_dies_takes_its_request_along() {
    let mut desk = Desk::new();
    let hook = desk.runs("ls");
    until("the session to wait", || desk.row().unwrap()["state"] == "waiting_for_approval");
    desk.client.process.kill().unwrap();
    desk.client.process.wait().unwrap();
    assert_eq!(hook.end(), (String::new(), 0));
    until("the card to go", || desk.request().is_none());
    // It was neither allowed nor denied, and no answer reaches it any more.
    until("it to be listed", || !desk.stored().is_empty());
    assert_eq!(desk.stored(), [("ls".into(), "expired, not answered".into(), "expired".into())]);
    assert_eq!(desk.run(&["answer", SESSION, "--allow"]).code, 1);
}

#[test]
fn a_hook_that_the_client_ends_takes_its_request_along() {
    let desk = Desk::new();
    let hook = desk.runs("ls");
    hook.signal(Signal::TERM);
    assert_eq!(hook.end().0, "");
    until("the card to go", || desk.request().is_none());
    assert_eq!(desk.run(&["answer", SESSION, "--allow"]).code, 1);
}

#[test]
fn the_end_of_watchbill_lets_every_hook_go() {
    for signal in [Signal::TERM, Signal::KILL] {
        let mut desk = Desk::new();
        let hook = desk.runs("ls");
        desk.serve.take().unwrap().end(signal);
        assert_eq!(hook.end(), (String::new(), 0), "{signal:?}");
    }
}

#[test]
fn only_the_sessions_own_process_asks_for_it() {
    let desk = Desk::new();
    let hook = desk.runs("npm publish");
    let request = desk.request().unwrap();
    let payload = |session: &str| {
        json!({ "session_id": session, "cwd": "/home/dev/work", "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": { "command": "ls" } })
        .to_string()
    };
    let call = |ask: &Value, session| json!({ "id": "1", "request": "ask", "ask": ask, "payload": payload(session) });
    // It would withdraw the card, and take the answer.
    let stranger = ask(&desk.home, &call(&json!("new"), SESSION)).unwrap();
    assert_eq!(stranger, json!({ "id": "1", "reply": null }));
    // The process of this session is not known, so only the id speaks.
    let other = "eeeeeeee-0000-4000-8000-000000000005";
    for id in [request["id"].clone(), json!("own/request")] {
        let taken = ask(&desk.home, &call(&id, other)).unwrap();
        assert_eq!(taken["error"]["code"], "invalid", "{id}: {taken}");
    }
    let printed = json!({ "id": "1", "request": "printed", "requestId": request["id"] });
    assert_eq!(ask(&desk.home, &printed).unwrap()["error"]["code"], "invalid");
    assert!(hook.waits());
    assert_eq!(desk.request().unwrap()["id"], request["id"], "the card stays");
    assert_eq!(desk.answer(&["--allow"]).code, 0);
    assert_eq!(decision(&hook.end().0), json!({ "behavior": "allow" }));
}

#[test]
fn an_agent_may_not_answer() {
    let desk = Desk::new();
    let hook = desk.runs("rm -rf build");
    let id = desk.request().unwrap()["id"].as_str().unwrap().to_owned();
    let words = ["answer", SESSION, "--allow", "--request", &id];
    let cases = [
        ("an agent's shell", desk.run_with(&words, &[], Some("claude"))),
        ("another agent's shell", desk.run_with(&words, &[], Some("codex"))),
        ("a daemon with its environment", desk.run_with(&words, &[("CLAUDECODE", "1")], None)),
        ("a daemon of its hook", desk.run_with(&words, &[("CLAUDE_CODE_SESSION_ID", SESSION)], None)),
    ];
    for (who, output) in cases {
        assert_eq!((output.code, &*output.out), (1, ""), "{who}");
        assert!(output.err.contains("an agent may not answer"), "{who}: {}", output.err);
    }
    assert!(hook.waits(), "nothing was decided");
    // The user sees that something tried.
    until("the attempt to be listed", || !desk.stored().is_empty());
    let stored = desk.stored();
    let [(shown, decision, outcome)] = &stored[..] else { panic!("{stored:?}") };
    assert_eq!((&**shown, &**outcome), ("rm -rf build", "refused"));
    assert!(decision.starts_with("refused: an agent may not answer"), "{decision}");
    assert!(desk.home.out(&["answers"]).contains("refused: an agent may not answer"));
    let refused = |request: &Value| request["refused"].as_str().unwrap_or_default().to_owned();
    until("the card to say so", || {
        desk.request().is_some_and(|request| refused(&request).starts_with("an agent may not answer"))
    });
}

#[test]
fn a_script_without_a_terminal_needs_the_setting() {
    let desk = Desk::with_settings("");
    let hook = desk.runs("ls");
    let output = desk.answer(&["--allow"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("no terminal") && output.err.contains("[answers]"), "{}", output.err);
    assert!(hook.waits());
}

#[test]
fn hidden_characters_are_drawn_and_private_text_is_not_stored() {
    let desk = Desk::new();
    let hook = desk.runs("echo \u{202e}x <private>secret</private>");
    let output = desk.answer(&["--allow"]);
    assert!(output.out.starts_with("echo ⟨U+202E⟩x"), "{}", output.out);
    hook.end();
    assert!(!desk.stored()[0].0.contains("secret"), "{:?}", desk.stored());
}
