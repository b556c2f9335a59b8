//! Sessions of your own through the real programs: the command line, the host, and a stand-in for the agent.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::LocalModes;
use serde_json::{Value, json};
use watchbill_drive::client::HostClient;
use watchbill_drive::folder::Folder;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::request::RequestDecision;

use crate::forget::until;
use crate::home::{Home, line};
use crate::own_goes_on::{EARLIER, earlier_session};
use crate::people::{Person, detached};
use crate::process;
use crate::program::{Finished, build, run};
use crate::with_serve::Serve;

/// A home with the stand-in in its `PATH`, in which scripts may answer.
pub struct Place {
    pub home: Home,
}

impl Place {
    pub fn new() -> Self {
        build("watchbill-host");
        let home = Home::empty().configured("[answers]\nscripts = true\n");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/tests/it/agent.py");
        std::fs::create_dir_all(home.path().join("bin")).unwrap();
        std::fs::create_dir_all(home.path().join("work")).unwrap();
        let place = Self { home };
        place.program("claude", &format!("#!/bin/sh\nexec python3 -B '{script}' \"$@\"\n"));
        place
    }

    /// Puts a program into its `PATH`.
    pub fn program(&self, name: &str, text: &str) {
        let path = self.home.path().join("bin").join(name);
        std::fs::write(&path, text).unwrap();
        let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.home.command(words);
        let path = format!("{}:/usr/bin:/bin", self.home.path().join("bin").display());
        command.env("PATH", path).current_dir(self.work());
        command
    }

    pub fn say(&self, words: &[&str]) -> Finished {
        run(&mut self.command(words))
    }

    pub fn json(&self, words: &[&str]) -> Value {
        let said = self.say(words);
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{words:?}: {error}: {}", said.out))
    }

    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// The lines of a file that the stand-in writes.
    pub fn noted(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.work().join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn rows(&self) -> Vec<Value> {
        let roster = self.json(&["roster", "--all", "--json"]);
        roster["sessions"].as_array().unwrap().clone()
    }

    pub fn row(&self) -> Value {
        let mut rows = self.rows();
        assert_eq!(rows.len(), 1, "one session has one row: {rows:#?}");
        rows.remove(0)
    }

    /// Starts a session in the background, and gives its id.
    pub fn starts(&self, prompt: &str) -> String {
        let row = self.json(&["run", "--json", prompt]);
        row["ownId"].as_str().unwrap().to_owned()
    }

    /// A command that is still running.
    pub fn begins(&self, words: &[&str]) -> Child {
        self.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for row in self.home.json(&["roster", "--all", "--json"])["sessions"].as_array().into_iter().flatten()
        {
            if let Some(own) = row["ownId"].as_str() {
                self.say(&["stop", own]);
            }
        }
    }
}

fn events(said: &Finished) -> Vec<String> {
    let event =
        |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned();
    said.out.lines().map(event).collect()
}

#[test]
fn a_run_waits_for_its_turn_and_says_how_it_ended() {
    let place = Place::new();
    let said = place.say(&["run", "--wait", "say this"]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    assert_eq!(said.out, "> say this\necho say this\nturn ended: completed\n");
    let said = place.say(&["run", "--wait", "--json", "--", "-x y"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let events = events(&said);
    assert!(events.contains(&"init".to_owned()) && events.last().unwrap() == "turn_end", "{events:?}");
    let prompts: Vec<String> = place.noted("received");
    assert!(
        prompts[1].ends_with(" -x y"),
        "a prompt that looks like an option arrives as it is: {prompts:?}"
    );
    let said = place.say(&["run", "--wait", "die at once"]);
    assert_eq!(
        (said.code, said.err.starts_with("watchbill: the prompt was not completed: ")),
        (1, true),
        "{}",
        said.err
    );
    assert_eq!(place.rows().len(), 3);
}

#[test]
fn a_session_is_queued_interrupted_released_and_stopped_from_anywhere() {
    let place = Place::new();
    let own = place.starts("slow work");
    let short = &own[..8];
    until("the turn to run", || place.row()["state"] == "working");
    assert_eq!((&place.row()["own"], &place.row()["source"]), (&json!("stream"), &json!("stream")));
    for text in ["echo one", "echo two"] {
        assert_eq!(place.json(&["prompt", short, text, "--json"])["outcome"], "queued");
    }
    assert_eq!(place.row()["queuedPrompts"], 2);
    let said = place.say(&["queue", short]);
    assert_eq!(said.out, "echo one\necho two\n");
    assert_eq!(place.say(&["interrupt", short]).code, 0);
    until("the turn to end", || place.row()["stateKind"] == "interrupted");
    let queue = place.json(&["queue", short, "--json"]);
    assert_eq!((&queue["held"], queue["prompts"].as_array().unwrap().len()), (&json!("interrupted"), 2));
    assert_eq!(place.row()["queueHeld"], "interrupted");
    assert_eq!(place.noted("received").len(), 1, "an interrupt starts no other prompt");
    let mut last = place.begins(&["prompt", short, "--wait", "echo three"]);
    until("it to be queued", || place.row()["queuedPrompts"] == 3);
    assert_eq!(place.say(&["queue", short, "--go-on"]).out, "3 prompts go on\n");
    assert!(last.wait().unwrap().success());
    assert_eq!(place.noted("received").len(), 4);
    assert_eq!(place.say(&["send", short, "slow again"]).code, 0);
    assert_eq!(place.say(&["prompt", short, "never"]).code, 0);
    assert_eq!(place.say(&["queue", short, "--clear"]).out, "nothing is queued\n");
    assert_eq!(place.json(&["kill", short, "--json"])["outcome"], "ended");
    let row = place.row();
    assert_eq!(
        (&row["state"], &row["stateReason"]["detail"]),
        (&json!("ended"), &json!("the user ended the session"))
    );
    let said = place.say(&["queue", short]);
    assert!(said.code == 1 && said.err.contains("has ended; `watchbill resume"), "{}", said.err);
}

#[test]
fn a_prompt_of_an_agent_starts_nothing() {
    let place = Place::new();
    earlier_session(&place, "HEAD");
    for words in [
        &["run", "say this"][..],
        &["run", "--wait", "say this"],
        &["fork", EARLIER, "--agent", "claude", "Go on."],
    ] {
        let said = run(place.command(words).env("CLAUDECODE", "1"));
        assert!(
            said.code == 1 && said.err.contains("nothing was started: an agent may not"),
            "{words:?}: {}",
            said.err
        );
    }
    assert!(!place.home.data().join("own").exists(), "no session was made");
}

#[test]
fn an_id_names_one_session_however_often_it_is_run() {
    let place = Place::new();
    let id = "0b0b0b0b-0000-4000-8000-00000000000b";
    for _ in 0..2 {
        assert_eq!(place.json(&["run", "--id", id, "--json", "slow work"])["sessionId"], id);
    }
    until("the prompt to arrive", || place.noted("received").len() == 1);
    assert_eq!((place.noted("starts").len(), place.rows().len()), (1, 1));
    for words in [&["run", "--id", "x", "p"][..], &["run", "--wait"], &["run", ""], &["run", "two", "words"]]
    {
        let said = place.say(words);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{words:?}: {}", said.err);
    }
    let said = place.say(&["run", "--cwd", "/nowhere", "p"]);
    assert!(said.err.contains("the session cannot work in /nowhere"), "{}", said.err);
}

#[test]
fn a_request_is_answered_like_any_other() {
    let place = Place::new();
    let serve = Serve::of(&place.home);
    let own = place.starts("ask me");
    until("it to ask", || place.row()["request"]["answerable"] == "stream");
    let row = place.row();
    assert_eq!((&row["state"], &row["request"]["tool"]), (&json!("waiting_for_approval"), &json!("Bash")));
    let id = row["request"]["id"].as_str().unwrap();
    let given = place.json(&["answer", &own[..8], "--request", id, "--deny", "not now", "--json"]);
    assert_eq!(given["decision"], "denied: not now");
    until("the answer to arrive", || place.noted("answers").len() == 1);
    let answer: Value = serde_json::from_str(&place.noted("answers")[0]).unwrap();
    assert_eq!((&answer["behavior"], &answer["message"]), (&json!("deny"), &json!("not now")));
    until("the turn to end", || place.row()["stateKind"] == "turn_ended");
    assert!(place.row().get("request").is_none());
    until("the outcome to be stored", || {
        let answers = place.json(&["answers", "--json"]);
        answers.as_array().is_some_and(|answers| answers.len() == 1 && answers[0]["outcome"] == "effect")
    });
    drop(serve);
}

#[test]
fn a_watchbill_that_starts_later_finds_the_session_and_follows_it() {
    let place = Place::new();
    let own = place.starts("slow work");
    let serve = Serve::of(&place.home);
    until("it to be found", || place.rows().iter().any(|row| row["state"] == "working"));
    drop(serve);
    let doctor = place.json(&["doctor", "--json"]);
    assert_eq!(doctor["own"], json!({ "running": 1, "ended": 0 }));
    assert!(
        place.say(&["doctor"]).out.contains("sessions of your own: 1 session with a running host, 0 ended")
    );
    assert_eq!(place.say(&["interrupt", &own]).code, 0, "no Watchbill has to run");
    let serve = Serve::of(&place.home);
    until("it to be found again", || place.rows().iter().any(|row| row["stateKind"] == "interrupted"));
    assert_eq!(place.say(&["prompt", &own, "--wait", "echo on"]).code, 0);
    until("the new turn to be seen", || place.row()["stateKind"] == "turn_ended");
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end to be seen", || place.row()["state"] == "ended");
    assert_eq!(place.say(&["resume", &own[..8]]).code, 0);
    until("it to live again", || place.row()["state"] != "ended");
    assert_eq!(place.say(&["prompt", &own, "--wait", "echo more"]).code, 0);
    assert_eq!(place.noted("starts").len(), 2);
    assert!(place.noted("starts")[1].contains("--resume"), "{:?}", place.noted("starts"));
    drop(serve);
}

#[test]
fn the_roster_after_an_interrupt_no_longer_says_that_it_works() {
    let place = Place::new();
    let serve = Serve::of(&place.home);
    let own = place.starts("slow work");
    until("the turn to run", || place.row()["state"] == "working");
    assert_eq!(place.say(&["interrupt", &own]).code, 0);
    assert_eq!(place.row()["stateKind"], "interrupted");
    drop(serve);
}

#[test]
fn a_resume_is_refused_while_the_session_runs_and_a_fork_is_not() {
    let place = Place::new();
    let own = place.starts("slow work");
    let said = place.say(&["resume", &own]);
    assert!(said.code == 1 && said.err.contains("runs already as a session of your own"), "{}", said.err);
    let fork = place.json(&["fork", &own, "--json"]);
    assert_ne!(fork["ownId"], own.as_str());
    let forked = fork["ownId"].as_str().unwrap();
    assert_eq!(place.say(&["prompt", forked, "--wait", "echo copy"]).code, 0);
    let starts = place.noted("starts");
    assert!(starts[1].contains("--fork-session") && starts[1].contains(&own), "{starts:?}");
    assert_eq!(place.rows().len(), 2);
}

#[test]
fn a_session_without_a_prompt_is_announced_and_nothing_runs() {
    let place = Place::new();
    let said = place.say(&["run"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let row = place.row();
    assert_eq!((&row["state"], row.get("pid")), (&json!("idle"), None));
    let waits = format!("session {} waits in ", row["sessionId"].as_str().unwrap());
    assert!(said.out.starts_with(&waits) && said.out.contains("TEXT` starts claude"), "{}", said.out);
    assert!(place.noted("starts").is_empty());
    let why = place.json(&["why", row["ownId"].as_str().unwrap(), "--json"]);
    assert_eq!(why["stateReason"]["source"], "stream");
}

#[test]
fn events_of_an_ended_session_can_still_be_read_until_it_is_forgotten() {
    let place = Place::new();
    let serve = Serve::of(&place.home);
    let own = place.starts("echo secret");
    until("the turn to end", || place.row()["stateKind"] == "turn_ended");
    assert_eq!(place.say(&["stop", &own]).code, 0);
    let said = place.say(&["attach", &own, "--json"]);
    assert_eq!(events(&said).last().map(String::as_str), Some("session_ended"));
    until("the row to be stored", || place.say(&["forget", &own, "--dry-run"]).code == 0);
    assert_eq!(place.say(&["forget", &own, "--yes"]).code, 0);
    let folder = place.home.data().join("own").join(&own);
    until("its log to be removed", || !folder.exists());
    until("its row to go", || place.rows().is_empty());
    drop(serve);
}

#[test]
fn nothing_of_an_excluded_folder_is_kept_after_the_end() {
    let place = Place::new();
    let own = place.starts("echo secret");
    until("the turn to end", || place.row()["stateKind"] == "turn_ended");
    let work = place.work();
    let config = format!("[store]\nexclude = [\"{}\"]\n[answers]\nscripts = true\n", work.display());
    std::fs::write(place.home.path().join("config.toml"), config).unwrap();
    let serve = Serve::of(&place.home);
    let folder = place.home.data().join("own").join(&own);
    assert!(folder.exists(), "its host needs the log");
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("its log to be removed", || !folder.exists());
    drop(serve);
}

/// The program in a session of its own, whose controlling terminal is standard input, or none.
fn in_session(place: &Place, options: &[&str], words: &[&str]) -> Command {
    let program = place.command(words);
    let mut command = Command::new("setsid");
    command.args(options).arg("--wait").arg(program.get_program()).args(program.get_args()).env_clear();
    command
        .envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(place.work());
    command
}

#[test]
fn a_host_takes_the_answer_of_a_person_while_no_watchbill_runs() {
    // The host takes the agents of other tests for agents of this person.
    if process::alone("own::a_host_takes_the_answer_of_a_person_while_no_watchbill_runs").is_none() {
        return;
    }
    let mut person = Person::start();
    let place = Place::new();
    let own = place.starts("ask me");
    until("it to ask", || place.row()["request"]["answerable"] == "stream");
    let id = place.row()["request"]["id"].as_str().unwrap().to_owned();
    let asked = place.json(&["answer", &own, "--json"]);
    assert_eq!(asked["id"], *id, "without a decision it says what is asked");
    let allow = ["answer", &own[..8], "--request", &id, "--allow"];
    // A script has no terminal, and an agent's programs may never answer.
    for (variables, why) in [(&[][..], "no terminal"), (&[("CLAUDECODE", "1")], "CLAUDECODE")] {
        let said = detached(&place.home, &allow, variables, None);
        assert!(said.code == 1 && said.err.contains(why), "{why}: {}", said.err);
    }
    assert!(place.noted("answers").is_empty() && place.row()["request"]["id"] == *id);

    let out = place.home.path().join("answered");
    let answers = ["answer", &own[..8], "--request", &id, "--deny", "later", "--json"];
    let words = line(&place.home.command(&answers), &[]);
    let mut said = String::new();
    until("the answer to be given", || {
        let _ = std::fs::remove_file(&out);
        person.line(&format!("{words} >{0}.part 2>&1; mv {0}.part {0}", out.display()));
        until("the command to end", || out.exists());
        said = std::fs::read_to_string(&out).unwrap();
        // Other tests run programs with the names of agents for a moment, in the same control group.
        !said.contains("is in the control group of an agent")
    });
    let given: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(given["decision"], "denied: later");
    until("the answer to arrive", || place.noted("answers").len() == 1);
    assert!(place.noted("answers")[0].contains("later"));
    until("the turn to end", || place.row()["stateKind"] == "turn_ended");
    let listed = place.json(&["answers", "--json"]);
    let outcomes: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["refused", "sent"], "{listed:#}");
    let late = place.say(&["answer", &own, "--allow"]);
    assert!(late.code == 1 && late.err.contains("asks nothing"), "{}", late.err);
}

#[test]
fn a_host_takes_answers_from_a_running_watchbill_alone() {
    let place = Place::new();
    let serve = Serve::of(&place.home);
    let own = place.starts("ask me");
    until("it to ask", || place.row()["request"]["answerable"] == "stream");
    let asked = place.row()["request"]["id"].as_str().unwrap().to_owned();
    let folder = Folder::of(&place.home.data(), &own).unwrap();
    let request = asked.split_once('/').unwrap().1.to_owned();
    let answer = OwnCommand::Answer { request, decision: RequestDecision::Allow };
    let refused = HostClient::connect(&folder).unwrap().command("around", &answer);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("Watchbill is running, so answer there"), "{refused}");
    until("the attempt to be listed", || {
        let answers = place.json(&["answers", "--json"]);
        answers.as_array().is_some_and(|answers| answers.len() == 1 && answers[0]["outcome"] == "refused")
    });
    assert!(
        place.noted("answers").is_empty() && place.row()["request"]["id"] == *asked,
        "nothing was decided"
    );
    assert_eq!(
        place.json(&["answer", &own[..8], "--allow", "--json", "--request", &asked])["decision"],
        "allowed once"
    );
    until("the answer to arrive", || place.noted("answers").len() == 1);
    drop(serve);
}

#[test]
fn a_terminal_takes_keys_until_the_key_that_detaches_and_goes_on() {
    let place = Place::new();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let open = || std::fs::OpenOptions::new().read(true).write(true).open(&slave).unwrap();
    let mut command = in_session(&place, &["--ctty"], &["run", "--pty", "--agent", "shell", "--", "sh"]);
    let mut attached = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    let terminal = master.try_clone().unwrap();
    let mut keys = std::fs::File::from(master.try_clone().unwrap());
    let mut screen = std::fs::File::from(master);
    let mut read = |what: &str| {
        let mut seen = Vec::new();
        until(what, || {
            let mut buffer = [0; 4096];
            let count = screen.read(&mut buffer).unwrap();
            seen.extend_from_slice(&buffer[..count]);
            String::from_utf8_lossy(&seen).contains(what)
        });
    };
    // The shell's output differs from the typed text.
    read("\u{1b}[2J");
    keys.write_all(b"echo one-$((1+1))\r").unwrap();
    read("one-2");
    keys.write_all(b"\x1d").unwrap();
    read("\u{1b}[?1049l");
    assert!(attached.wait().unwrap().success());
    let row = place.row();
    assert_eq!((&row["own"], &row["agent"], &row["title"]), (&json!("pty"), &json!("shell"), &json!("sh")));
    assert!(row["state"] == "idle" && row["pid"].is_u64(), "{row:#}");
    let own = row["ownId"].as_str().unwrap();
    let said = place.say(&["attach", own]);
    assert!(said.err.contains("attach to it from one"), "{}", said.err);
    // A program that feeds the terminal of no person.
    let mut unseen = in_session(&place, &[], &["attach", own]);
    let unseen = unseen.stdin(open()).stdout(open()).stderr(Stdio::piped()).spawn().unwrap();
    let unseen_pid = unseen.id();
    read("\u{1b}[2J");
    keys.write_all(b"echo never\r").unwrap();
    // The view says so and stays.
    read("not sent: the caller has no terminal");
    assert!(std::path::Path::new(&format!("/proc/{unseen_pid}")).exists());
    keys.write_all(b"\x1d").unwrap();
    let unseen = unseen.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&unseen.stderr).into_owned();
    assert!(unseen.status.code() == Some(1) && words.contains("the caller has no terminal"), "{words}");
    // Each signal that ends a view gives the terminal back.
    let canonical =
        || rustix::termios::tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ICANON);
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let mut command = in_session(&place, &["--ctty"], &["attach", own]);
        let mut view = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        read("\u{1b}[2J");
        until("raw keys", || !canonical());
        kill_process(Pid::from_raw(view.id().cast_signed()).unwrap(), signal).unwrap();
        read("\u{1b}[?1049l");
        assert_eq!(view.wait().unwrap().code(), Some(128 + signal.as_raw()), "{signal:?}");
        assert!(canonical(), "{signal:?}");
    }
}

/// A stand-in for `codex app-server` 0.169.0: each turn runs a command and says one thing.
pub const CODEX: &str = r#"#!/usr/bin/env python3
import json, sys
def say(**line): print(json.dumps(line), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    method, id = call.get("method"), call.get("id")
    thread = "019b0000-0000-7000-8000-000000000001"
    if method == "initialize": say(id=id, result={"userAgent": "codex/0.169.0 x"})
    elif method in ("thread/start", "thread/resume"): say(id=id, result={"thread": {"id": thread}, "model": "m"})
    elif method == "turn/start":
        say(id=id, result={"turn": {"id": "t"}})
        told = {"threadId": thread, "turnId": "t"}
        item = {"id": "c", "type": "commandExecution", "command": "grep needle", "status": "completed", "aggregatedOutput": "a straw", "exitCode": 0}
        say(method="turn/started", params={"threadId": thread, "turn": {"id": "t"}})
        say(method="item/completed", params={**told, "item": item})
        say(method="item/completed", params={**told, "item": {"id": "m", "type": "agentMessage", "text": "It lay in the haystack."}})
        say(method="turn/completed", params={"threadId": thread, "turn": {"id": "t", "status": "completed"}})
"#;

#[test]
fn what_codex_said_is_found_and_goes_with_the_session() {
    let place = Place::new();
    std::fs::create_dir_all(place.home.claude()).unwrap();
    place.program("codex", CODEX);
    let found = |word: &str| {
        let answer = place.json(&["search", word, "--json"]);
        let hits = answer["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| (hit["sessionId"].clone(), hit["role"].clone())).collect::<Vec<_>>()
    };
    let said = place.say(&["run", "--agent", "codex", "--wait", "Find the pin <private>4711</private>"]);
    assert_eq!((said.code, &*said.err), (0, ""), "{}", said.out);
    let own = place.row()["ownId"].clone();
    for (word, role) in
        [("pin", "prompt"), ("haystack", "answer"), ("grep", "tool_input"), ("straw", "tool_result")]
    {
        assert_eq!(found(word), [(own.clone(), json!(role))], "{word}");
    }
    assert!(found("4711").is_empty(), "private text is not stored");
    let serve = Serve::of(&place.home);
    assert_eq!(place.say(&["prompt", own.as_str().unwrap(), "--wait", "And the thimble"]).code, 0);
    until("the running Watchbill to store it", || found("thimble").len() == 1);
    assert_eq!(place.rows().len(), 1, "its transcript makes no second row");
    let shown = place.say(&["show", own.as_str().unwrap()]).out;
    assert!(shown.contains("haystack") && shown.contains("thimble") && !shown.contains("4711"), "{shown}");
    let other = place.say(&["fork", own.as_str().unwrap(), "--agent", "claude", "--preview", "Go on."]);
    assert!(other.out.contains("Assistant:\n  It lay in the haystack."), "{}{}", other.out, other.err);
    assert_eq!(place.say(&["stop", own.as_str().unwrap()]).code, 0);
    until("the row to be stored", || place.say(&["forget", own.as_str().unwrap(), "--dry-run"]).code == 0);
    assert_eq!(place.say(&["forget", own.as_str().unwrap(), "--yes"]).code, 0);
    let transcripts = place.home.data().join("own/projects");
    until("its transcript to be removed", || std::fs::read_dir(&transcripts).unwrap().next().is_none());
    assert!(found("haystack").is_empty());
    drop(serve);
}

#[test]
fn a_host_of_another_version_is_listed_and_refused_by_name() {
    use std::os::unix::net::UnixListener;
    let place = Place::new();
    let own = place.starts("echo one");
    until("the turn to end", || place.row()["stateKind"] == "turn_ended");
    assert_eq!(place.say(&["stop", &own]).code, 0);
    // From here on, a host of a later version keeps it.
    let folder = Folder::of(&place.home.data(), &own).unwrap();
    until("the host to be gone", || !folder.socket().exists());
    let listener = UnixListener::bind(folder.socket()).unwrap();
    let greeting = b"{\"hostProtocol\":99,\"watchbill\":\"9.9.9\",\"pid\":7,\"later\":1}\n";
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let _ = stream.unwrap().write_all(greeting);
        }
    });
    assert_eq!(place.row()["ownId"], own.as_str());
    for words in [&["prompt", &own, "more"][..], &["stop", &own], &["interrupt", &own], &["attach", &own]] {
        let said = place.say(words);
        assert!(said.code == 1 && said.err.contains("9.9.9"), "{words:?}: {} {}", said.out, said.err);
    }
    assert!(folder.socket().exists(), "the socket is its owner's");
    std::fs::remove_file(folder.socket()).unwrap();
}

#[test]
fn a_host_that_is_killed_leaves_a_row_that_says_so_and_a_session_that_goes_on() {
    let place = Place::new();
    let serve = Serve::of(&place.home);
    let own = place.starts("slow work");
    until("the turn to run", || place.row()["state"] == "working");
    let folder = Folder::of(&place.home.data(), &own).unwrap();
    let host = HostClient::connect(&folder).unwrap().hello().pid;
    kill_process(Pid::from_raw(host.cast_signed()).unwrap(), Signal::KILL).unwrap();
    until("its end to be seen", || place.row()["state"] == "ended");
    let row = place.row();
    assert_eq!(
        (&row["stateKind"], &row["stateReason"]["detail"]),
        (&json!("crashed"), &json!("its host ended unexpectedly"))
    );
    assert_eq!(place.say(&["resume", &own]).code, 0);
    until("it to live again", || place.row()["state"] != "ended");
    assert_eq!(place.noted("starts").len(), 1, "nothing is sent or started by itself");
    assert_eq!(place.say(&["prompt", &own, "--wait", "--now", "echo on"]).code, 0);
    assert_eq!(place.rows().len(), 1);
    drop(serve);
}
