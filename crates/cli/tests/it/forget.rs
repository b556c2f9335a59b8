//! Forgetting while another process writes the store: that process removes the sessions, reports them, and does not
//! store them again.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::{Value, json};

use crate::home::Home;
use crate::program::Finished;
use crate::tree::{append, now, transcript};

pub const GONE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
pub const STAYS: &str = "bbbbbbbb-0000-4000-8000-000000000002";

fn record(session: &str, words: &str) -> Value {
    json!({
        "type": "user", "uuid": format!("{session}{words}"), "timestamp": now().to_string(), "cwd": "/home/dev/work",
        "sessionId": session, "message": {"role": "user", "content": words},
    })
}

/// A home with two sessions, each with a word of its own.
pub fn two_sessions() -> Home {
    let home = Home::empty();
    for (session, words) in [(GONE, "goneword at first"), (STAYS, "staysword at first")] {
        transcript(&home.claude(), session, &[record(session, words)]);
    }
    home
}

/// Starts the program beside the test, which reads its output at the end.
pub fn begins(home: &Home, words: &[&str]) -> Child {
    home.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whether a search finds the word.
pub fn holds(home: &Home, word: &str) -> bool {
    let output = home.run_watchbill(&["search", "--json", "--as-stored", word]);
    // There may be no store yet.
    let answer: Value = serde_json::from_str(&output.out).unwrap_or_default();
    answer["hits"].as_array().is_some_and(|hits| !hits.is_empty())
}

/// The files of the data folder that contain a word.
pub fn in_bytes(home: &Home, word: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&home.data(), word, &mut found);
    found
}

pub fn adds(home: &Home, session: &str, words: &str) {
    let path = format!("projects/-home-dev-x/{session}.jsonl");
    append(&home.claude(), Path::new(&path), &format!("{}\n", record(session, words)));
}

fn collect(folder: &Path, word: &str, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, word, found);
        } else if std::fs::read(&path).is_ok_and(|bytes| stands_in(&bytes, word)) {
            found.push(path);
        }
    }
}

fn stands_in(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|piece| piece == word.as_bytes())
}

pub fn until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(120), "it never comes: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Another process that writes the store.
pub struct Writer {
    pub child: Child,
    events: Receiver<Value>,
}

impl Writer {
    pub fn of(home: &Home) -> Self {
        let writer = Self::run(home, &["watch", "--json"]);
        until("both to be stored", || holds(home, "goneword") && holds(home, "staysword"));
        writer
    }

    /// A writer that watches other folders.
    pub fn elsewhere(home: &Home) -> Self {
        let folder = home.path().join("elsewhere");
        std::fs::create_dir(&folder).unwrap();
        let writer = Self::run(home, &["--claude-dir", folder.to_str().unwrap(), "watch", "--json"]);
        let (lock, pid) = (home.data().join("writer.lock"), writer.child.id().to_string());
        until("it to be the writer", || std::fs::read_to_string(&lock).is_ok_and(|named| named == pid));
        writer
    }

    fn run(home: &Home, words: &[&str]) -> Self {
        let mut child = home.command(words).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            // The last line of a killed process may be incomplete.
            let events = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
            events.take_while(|event: &Value| sender.send(event.clone()).is_ok()).for_each(drop);
        });
        Self { child, events }
    }

    /// Stops the process until `go_on`. Its threads run on for a moment after the signal was sent.
    pub fn stop(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    pub fn go_on(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for an event.
    fn tells(&self, what: impl Fn(&Value) -> bool) {
        while !what(&self.events.recv_timeout(Duration::from_secs(120)).expect("it says so")) {}
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_running_writer_forgets_for_other_programs_and_reports_it() {
    let home = two_sessions();
    let writer = Writer::of(&home);
    home.out(&["chain", GONE, "--name", "gonename"]);
    writer.tells(|event| event["updates"]["workChainName"] == "gonename");
    until("the name to be stored", || !in_bytes(&home, "gonename").is_empty());
    let would = home.json(&["forget", "--dry-run", "--json", &GONE[..8]]);
    assert_eq!((&would["sessions"], &would["dryRun"]), (&json!([GONE]), &json!(true)));
    assert!(holds(&home, "goneword"), "only said");

    let gone = home.json(&["forget", "--yes", "--json", &GONE[..8]]);
    let removed = json!({
        "sessions": [GONE], "files": 1, "prompts": 1, "toolCalls": 0, "texts": 1, "archived": 0,
        "freedBytes": gone["freedBytes"], "wipedLater": false, "dryRun": false,
    });
    assert_eq!(gone, removed);
    for word in ["goneword", "gonename"] {
        assert_eq!(in_bytes(&home, word), Vec::<PathBuf>::new(), "{word}");
    }
    assert!(!holds(&home, "goneword") && holds(&home, "staysword"));
    writer.tells(|event| event["updates"].get("workChainName").is_some_and(Value::is_null));

    adds(&home, GONE, "goneword again");
    adds(&home, STAYS, "staysword again");
    until("what may be stored to be", || holds(&home, "staysword again"));
    home.out(&["chain", STAYS, "--name", "staysname"]);
    assert_eq!(in_bytes(&home, "goneword"), Vec::<PathBuf>::new(), "nothing of it is stored again");
    assert_eq!(home.run_watchbill(&["forget", "--yes", GONE]).code, 1, "nothing of it is stored");
    home.out(&["forget", "--again", &GONE[..8]]);
    until("it to be stored again", || {
        holds(&home, "\"goneword again\"") && holds(&home, "\"goneword at first\"")
    });
    let before = home.json(&["forget", "--yes", "--json", "--before", "2099-01-01T00:00:00Z"]);
    assert_eq!(before["sessions"], json!([GONE, STAYS]));
    assert!(in_bytes(&home, "goneword").is_empty() && in_bytes(&home, "staysword").is_empty());
}

#[test]
fn forget_succeeds_when_the_writer_is_killed_meanwhile() {
    for delay in [None, Some(0), Some(4), Some(8), Some(16), Some(32)] {
        let home = two_sessions();
        let mut writer = Writer::of(&home);
        if delay.is_none() {
            // The writer does not even begin.
            writer.stop();
        }
        let forget = begins(&home, &["forget", "--yes", "--json", GONE]);
        // Not a wait for something: the delay chooses the moment of the kill, and the assertions hold at every
        // moment.
        std::thread::sleep(Duration::from_millis(delay.unwrap_or(50)));
        writer.kill();
        let output = Finished::from(forget.wait_with_output().unwrap());
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{delay:?}");
        let gone: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!((&gone["sessions"], &gone["texts"]), (&json!([GONE]), &json!(1)), "{delay:?}");
        assert_eq!((&gone["wipedLater"], &gone["dryRun"]), (&json!(false), &json!(false)), "{delay:?}");
        assert_eq!(in_bytes(&home, "goneword"), Vec::<PathBuf>::new(), "{delay:?}");
        assert!(!holds(&home, "goneword") && holds(&home, "staysword"), "{delay:?}");
    }
}

#[test]
fn forgetting_a_work_chain_forgets_all_its_sessions() {
    let home = two_sessions();
    home.out(&["index"]);
    home.out(&["chain", STAYS, "--join", GONE]);
    let chain = home.json(&["chain", STAYS, "--json"])["workChainId"].as_str().unwrap().to_owned();
    for asked in [&chain[..], &chain[..8]] {
        let would = home.out(&["forget", asked, "--dry-run"]);
        let says = format!("2 sessions of the work chain {} would be forgotten: 2 prompts", &chain[..8]);
        assert!(would.starts_with(&says), "{would}");
        let would = home.json(&["forget", asked, "--dry-run", "--json"]);
        assert_eq!((&would["workChainId"], &would["sessions"]), (&json!(chain), &json!([GONE, STAYS])));
    }
    let one = home.json(&["forget", STAYS, "--dry-run", "--json"]);
    assert_eq!((one.get("workChainId"), &one["sessions"]), (None, &json!([STAYS])), "a session is one");
    // A running writer does it for other programs.
    let _writer = Writer::elsewhere(&home);
    let gone = home.json(&["forget", &chain, "--yes", "--json"]);
    assert_eq!((&gone["workChainId"], &gone["sessions"]), (&json!(chain), &json!([GONE, STAYS])));
    assert!(!holds(&home, "goneword") && !holds(&home, "staysword"));
    let output = home.run_watchbill(&["forget", &chain, "--dry-run"]);
    let nothing = format!("no stored session or work chain begins with `{chain}`");
    assert!(output.code == 1 && output.err.contains(&nothing), "{}", output.err);
}
