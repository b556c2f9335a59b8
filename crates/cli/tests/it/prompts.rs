//! Prompts into a real tmux pane, in which a program stands in for the client. The cells of `tests/rig` have the real client.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::forget::until;
use crate::home::Home;
use crate::people::{self, detached};
use crate::program::Finished;
use crate::skipped::skipped;
use crate::with_serve::{Serve, ask};

const SESSION: &str = "dddddddd-0000-4000-8000-000000000004";

/// A home with a running `watchbill serve`, and a private tmux server whose pane runs the stand-in.
struct Room {
    _serve: Serve,
    /// It goes last: a program that still runs would write into the folder that is being removed.
    home: Home,
}

impl Room {
    /// `None`, and a note, where tmux or Python is missing. `shell`: a shell runs the stand-in.
    fn new(way: &str, shell: bool) -> Option<Self> {
        for program in ["tmux", "python3"] {
            if Command::new(program).arg("-V").output().is_err() {
                skipped(&format!("{program} is not installed"));
                return None;
            }
        }
        people::begin();
        let home = Home::empty().configured("[answers]\nscripts = true\n");
        let script = home.path().join("stand_in.py");
        std::fs::write(&script, include_str!("stand_in.py")).unwrap();
        let room = Self { _serve: Serve::of(&home), home };
        let paths = [script, room.home.claude(), SESSION.into(), room.file("keys"), way.into()];
        let words: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        let window = ["-f", "/dev/null", "new-session", "-d", "-s", "a name", "-x", "100", "-y", "30"];
        let program = [&["--", "python3"][..], &words].concat();
        let run = [&window[..], if shell { &["--", "bash", "--norc", "-i"] } else { &program }].concat();
        room.tmux(&run);
        if shell {
            let line = format!("python3 '{}'", words.join("' '"));
            room.tmux(&["send-keys", "-l", "--", &line]);
            room.tmux(&["send-keys", "Enter"]);
        }
        until("the session to be seen", || room.row().is_some());
        Some(room)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.file("tmux.sock")).args(words).env_remove("TMUX").env_remove("TMUX_PANE");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn row(&self) -> Option<Value> {
        let answer = ask(&self.home, &json!({ "id": "1", "request": "roster", "all": true }))?;
        answer["reply"]["sessions"].as_array()?.iter().find(|row| row["sessionId"] == SESSION).cloned()
    }

    fn prompt(&self, words: &[&str]) -> Finished {
        detached(&self.home, &[&["prompt", SESSION], words].concat(), &[], None)
    }

    /// The keys that the pane's program has read.
    fn keys(&self) -> String {
        std::fs::read_to_string(self.file("keys")).unwrap_or_default()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(self.file("tmux.sock")).arg("kill-server").output();
    }
}

/// A refusal that typed nothing.
fn assert_refused(room: &Room, words: &[&str], why: &str) {
    let said = room.prompt(words);
    assert_eq!((said.code, &*said.out), (1, ""), "{words:?}");
    assert!(said.err.contains("nothing was typed: ") && said.err.contains(why), "{}", said.err);
    assert_eq!(room.keys(), "");
}

#[test]
fn a_prompt_is_one_paste_and_one_enter_and_the_transcript_proves_it() {
    let Some(room) = Room::new("answers", false) else { return };
    let said = room.prompt(&["one;\n\ttwo;\nthree\n\n", "--json"]);
    assert_eq!((said.code, &*said.err), (0, ""));
    let sent: Value = serde_json::from_str(&said.out).unwrap();
    let told = (&sent["outcome"], &sent["proof"], &sent["whole"], &sent["by"]);
    assert_eq!(told, (&json!("submitted"), &json!("transcript"), &json!(true), &json!("tmux")), "{sent}");
    assert_eq!(room.keys(), "\u{1b}[200~one;\n\ttwo;\nthree\u{1b}[201~\r");
    assert_eq!(room.tmux(&["list-buffers"]), "", "no buffer stays behind");
}

#[test]
fn texts_that_look_like_options_or_commands_arrive_as_typed() {
    let Some(room) = Room::new("answers", false) else { return };
    let mut typed = String::new();
    for (words, keys) in [
        (&["-x;"][..], "\u{1b}[200~-x;\u{1b}[201~\r"),
        (&["--", "--json"], "\u{1b}[200~--json\u{1b}[201~\r"),
        (&["/compact keep;"], "/compact keep;\r"),
        (&["!ls -la"], "!ls -la\r"),
        (&["#{pane_id} $(id)"], "\u{1b}[200~#{pane_id} $(id)\u{1b}[201~\r"),
    ] {
        let said = room.prompt(words);
        assert_eq!((said.code, &*said.err), (0, ""), "{words:?}");
        assert!(said.out.starts_with("submitted"), "{}", said.out);
        typed.push_str(keys);
        assert_eq!(room.keys(), typed);
    }
}

#[test]
fn a_prompt_of_which_the_client_says_nothing_is_unknown_and_not_sent_again() {
    let Some(room) = Room::new("silent", false) else { return };
    let said = room.prompt(&["hello", "--json"]);
    let sent: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &sent["outcome"], sent.get("proof")), (1, &json!("unknown"), None), "{sent}");
    assert!(said.err.contains("before you send it again"), "{}", said.err);
    assert_eq!(room.keys(), "\u{1b}[200~hello\u{1b}[201~\r", "once");
}

#[test]
fn a_text_that_arrives_in_part_is_told() {
    let Some(room) = Room::new("halves", false) else { return };
    let said = room.prompt(&["the first and the second half"]);
    assert_eq!((said.code, &*said.err), (0, ""));
    assert!(said.out.contains("another text"), "{}", said.out);
}

#[test]
fn a_dialog_that_opens_after_the_text_gets_no_enter() {
    let Some(room) = Room::new("asks", false) else { return };
    let said = room.prompt(&["hello"]);
    assert_eq!((said.code, &*said.out), (1, ""));
    assert!(said.err.contains("Enter was not pressed") && said.err.contains("waits for you"), "{}", said.err);
    assert_eq!(room.keys(), "\u{1b}[200~hello\u{1b}[201~");
}

#[test]
fn a_pane_whose_keys_go_elsewhere_gets_none() {
    let Some(room) = Room::new("answers", false) else { return };
    room.tmux(&["copy-mode"]);
    assert_refused(&room, &["hello"], "copy mode");
    room.tmux(&["send-keys", "-X", "cancel"]);
    room.tmux(&["set-option", "-w", "synchronize-panes", "on"]);
    assert_refused(&room, &["hello"], "synchronize-panes");
    room.tmux(&["set-option", "-w", "synchronize-panes", "off"]);
    assert_refused(&room, &["ls\u{1b}[201~id"], "U+001B");
    assert_refused(&room, &[" \n"], "empty");
    // Which pane is shown does not matter.
    room.tmux(&["split-window", "sleep", "600"]);
    assert_eq!(room.prompt(&["hello"]).code, 0);
}

#[test]
fn a_suspended_session_gets_no_key_and_neither_does_its_shell() {
    let Some(room) = Room::new("answers", true) else { return };
    let pid = i32::try_from(room.row().unwrap()["pid"].as_u64().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::STOP).unwrap();
    // The registry says idle as before; the shell takes the terminal back.
    until("the shell to notice", || room.tmux(&["capture-pane", "-p"]).contains("Stopped"));
    assert_refused(&room, &["touch hurt"], "Another program reads the keys");
    assert!(!room.tmux(&["capture-pane", "-p"]).contains("touch hurt"));
}

#[test]
fn a_parked_session_gets_no_key() {
    let Some(room) = Room::new("answers", false) else { return };
    let file = room.home.claude().join(format!("sessions/{}.json", room.row().unwrap()["pid"]));
    let mut entry: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    entry["parkedJobId"] = json!("a1c5a82b");
    entry["updatedAt"] = json!(crate::tree::now().as_millis());
    std::fs::write(&file, entry.to_string()).unwrap();
    assert_refused(&room, &["hello"], "parked");
    // The session of its job is known now. The pane may still show the list of agents.
    const JOB: &str = "eeeeeeee-0000-4000-8000-000000000005";
    let job = room.home.claude().join("jobs/a1c5a82b");
    std::fs::create_dir_all(&job).unwrap();
    std::fs::write(job.join("state.json"), json!({ "sessionId": JOB, "state": "working" }).to_string())
        .unwrap();
    std::fs::write(&file, format!("{entry} ")).unwrap();
    for session in [SESSION, JOB] {
        let said = detached(&room.home, &["prompt", session, "hello"], &[], None);
        assert_eq!((said.code, &*said.out), (1, ""), "{session}");
        assert_eq!(room.keys(), "", "{session}");
    }
}

#[test]
fn an_agent_may_not_send_prompts() {
    let Some(room) = Room::new("answers", false) else { return };
    let words = ["prompt", SESSION, "hello"];
    let cases = [
        detached(&room.home, &words, &[], Some("codex")),
        detached(&room.home, &words, &[("CLAUDECODE", "1")], None),
    ];
    for said in cases {
        assert_eq!((said.code, &*said.out), (1, ""));
        assert!(said.err.contains("an agent may not answer or send prompts"), "{}", said.err);
    }
    assert_eq!(room.keys(), "");
}
