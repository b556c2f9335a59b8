//! Sessions of your own that have ended: the summary beside the log gives their rows. A log without a summary is read itself.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use watchbill_drive::client::HostClient;
use watchbill_drive::folder::Folder;

use crate::forget::until;
use crate::own::Place;
use crate::with_serve::{Serve, ask};

fn folder(place: &Place, own: &str) -> Folder {
    Folder::of(&place.home.data(), own).unwrap()
}

pub fn host_of(place: &Place, own: &str) -> u32 {
    HostClient::connect(&folder(place, own)).unwrap().hello().pid
}

pub fn has_ended(pid: u32) -> bool {
    !std::fs::exists(format!("/proc/{pid}")).unwrap()
}

/// A session that has ended, and the files of its log and its summary.
pub fn ended(place: &Place) -> (String, PathBuf, PathBuf) {
    let own = place.starts("say this");
    until("its turn to end", || place.row()["stateKind"] == "turn_ended");
    let host = host_of(place, &own);
    assert_eq!(place.say(&["stop", &own]).code, 0);
    until("the end of the host", || has_ended(host));
    let path = folder(place, &own).path().to_owned();
    (own, path.join("log"), path.join("summary"))
}

/// The same rows as a running program gives them.
fn served(place: &Place) -> Vec<Value> {
    let serve = Serve::of(&place.home);
    let rows = || {
        let answer = ask(&place.home, &json!({ "id": "1", "request": "roster", "all": true })).unwrap();
        answer["reply"]["sessions"].as_array().unwrap().clone()
    };
    until("the own session", || rows().iter().any(|row| row["ownId"].is_string()));
    let rows = rows();
    serve.end(Signal::TERM);
    rows
}

#[test]
fn an_ended_session_is_shown_without_a_look_at_its_log() {
    let place = Place::new();
    let (_, log, summary) = ended(&place);
    let rows = place.rows();
    let (logged, kept) = (std::fs::read(&log).unwrap(), std::fs::read(&summary).expect("its host kept it"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&summary).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // Nothing can be read in a log of the same length.
    std::fs::write(&log, vec![b'x'; logged.len()]).unwrap();
    assert_eq!(place.rows(), rows);
    assert_eq!(served(&place), rows);
    std::fs::write(&log, &logged).unwrap();

    // Each is no summary of this log: the log is read, and the summary written again.
    let damaged = |at: usize| {
        let mut bytes = kept.clone();
        bytes[at] ^= 1;
        bytes
    };
    let later_version = damaged(4);
    let cases = [
        None,
        Some(Vec::new()),
        Some(later_version),
        Some(damaged(kept.len() - 1)),
        Some(kept[..30].to_vec()),
    ];
    for case in cases.iter().chain(&[Some([&kept[..], b"x"].concat())]) {
        for by_engine in [false, true] {
            match case {
                None => std::fs::remove_file(&summary).unwrap(),
                Some(bytes) => std::fs::write(&summary, bytes).unwrap(),
            }
            let shown = if by_engine { served(&place) } else { place.rows() };
            assert_eq!(shown, rows, "{case:?}");
            assert_eq!(std::fs::read(&summary).unwrap(), kept, "{case:?}");
        }
    }
    // A folder that cannot be written is no obstacle.
    std::fs::remove_file(&summary).unwrap();
    std::fs::create_dir(&summary).unwrap();
    assert_eq!(place.rows(), rows);
}

#[test]
fn a_summary_of_an_earlier_end_is_not_taken() {
    let place = Place::new();
    let (own, _, summary) = ended(&place);
    let kept = std::fs::read(&summary).unwrap();
    assert_eq!(place.say(&["resume", &own]).code, 0);
    assert_eq!(place.say(&["prompt", &own, "--wait", "say more"]).code, 0);
    let host = host_of(&place, &own);
    kill_process(Pid::from_raw(host.cast_signed()).unwrap(), Signal::KILL).unwrap();
    until("the end of the host", || has_ended(host));
    std::fs::write(&summary, &kept).unwrap();
    let row = place.row();
    assert_eq!(row["stateReason"]["detail"], "its host ended unexpectedly", "{row:#}");
    assert_ne!(std::fs::read(&summary).unwrap(), kept, "it is written again");
    assert_eq!(place.row(), row);
    assert_eq!(served(&place), [row]);
}

#[test]
fn text_is_printed_as_it_arrives() {
    let place = Place::new();
    for words in [&["run", "--wait", "grows"][..], &["attach"]] {
        let own = (words[0] == "attach").then(|| place.row()["ownId"].as_str().unwrap().to_owned());
        let mut reader = place.begins(&[words, own.as_deref().as_slice()].concat());
        let (mut out, mut text, mut part) = (reader.stdout.take().unwrap(), String::new(), [0; 256]);
        while !text.ends_with("the first words") {
            let read = out.read(&mut part).unwrap();
            assert!(read > 0, "{words:?}: {text}");
            text.push_str(std::str::from_utf8(&part[..read]).unwrap());
        }
        reader.kill().unwrap();
        reader.wait().unwrap();
    }
}

#[test]
fn what_was_asked_at_the_end_is_listed_as_expired() {
    for ends in ["stop", "kill"] {
        let place = Place::new();
        let serve = Serve::of(&place.home);
        let own = place.starts("ask me");
        until("it to ask", || place.row()["request"]["answerable"] == "stream");
        if ends == "stop" {
            assert_eq!(place.say(&["stop", &own]).code, 0);
        } else {
            let pid = place.row()["pid"].as_i64().unwrap();
            kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
        }
        until("the end", || place.row()["state"] == "ended");
        until("it to be listed", || place.json(&["answers", "--json"]) != json!([]));
        let listed = place.json(&["answers", "--json"]);
        let outcomes: Vec<_> = listed.as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
        assert_eq!(outcomes, ["expired"], "{ends}: {listed:#}");
        drop(serve);
    }
}

/// A host that takes a command and closes the connection. To the next one that sends the command it says that nothing is asked,
/// because it does not know the command any more.
fn forgetful_host(place: &Place, own: &str) {
    let folder = folder(place, own);
    let hello = serde_json::to_string(HostClient::connect(&folder).unwrap().hello()).unwrap();
    let host = host_of(place, own);
    kill_process(Pid::from_raw(host.cast_signed()).unwrap(), Signal::KILL).unwrap();
    until("the end of the host", || has_ended(host));
    std::fs::remove_file(folder.socket()).unwrap();
    let listener = UnixListener::bind(folder.socket()).unwrap();
    std::thread::spawn(move || {
        let mut commands = 0;
        for stream in listener.incoming().map_while(Result::ok) {
            writeln!(&stream, "{hello}").unwrap();
            let mut call = String::new();
            let _ = BufReader::new(&stream).read_line(&mut call);
            let Ok(call) = serde_json::from_str::<Value>(&call) else { continue };
            commands += 1;
            if commands > 1 {
                let error = json!({ "code": "conflict", "message": "the agent asks this no longer" });
                writeln!(&stream, "{}", json!({ "id": call["id"], "error": error })).unwrap();
            }
        }
    });
}

#[test]
fn an_answer_that_its_host_may_have_is_told_as_unknown() {
    let place = Place::new();
    let own = place.starts("ask me");
    until("it to ask", || place.row()["request"]["answerable"] == "stream");
    let id = place.row()["request"]["id"].as_str().unwrap().to_owned();
    forgetful_host(&place, &own);
    let said = place.say(&["answer", &own, "--request", &id, "--allow"]);
    assert!(said.code == 1 && said.err.contains("it is unknown whether"), "{} {}", said.err, said.out);
    assert!(!said.err.contains("nothing was answered"), "{}", said.err);
    let listed = place.json(&["answers", "--json"]);
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["outcome"]), (1, &json!("lost")), "{listed:#}");
    let listed = place.say(&["answers"]).out;
    assert!(listed.contains("unknown whether it arrived"), "{listed}");
}

#[test]
fn a_prompt_to_a_held_queue_says_that_it_waits_and_what_lets_it_go() {
    let place = Place::new();
    let own = place.starts("slow work");
    until("the turn to run", || place.row()["state"] == "working");
    assert_eq!(place.say(&["prompt", &own, "echo one"]).out, "queued\n");
    assert_eq!(place.say(&["interrupt", &own]).code, 0);
    until("the turn to end", || place.row()["stateKind"] == "interrupted");
    let waits = format!("queued, and held (interrupted): `watchbill queue {own} --go-on` lets it go on\n");
    assert_eq!(place.say(&["prompt", &own, "echo two"]).out, waits);
    let said = place.json(&["prompt", &own, "echo three", "--json"]);
    assert_eq!((&said["outcome"], &said["held"]), (&json!("queued"), &json!("interrupted")));
    let waiting = place.begins(&["prompt", &own, "--wait", "echo four"]);
    until("it to be queued", || place.row()["queuedPrompts"] == 4);
    assert_eq!(place.say(&["queue", &own, "--go-on"]).out, "4 prompts go on\n");
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).starts_with(&waits));
    until("all to be done", || place.row()["stateKind"] == "turn_ended");
    assert_eq!(place.say(&["prompt", &own, "echo five"]).out, "queued\n");
    let said = place.say(&["prompt", &own, "echo six", "--at", "2h"]).out;
    assert!(
        said.starts_with("queued, and held until 20")
            && said.contains(", when it goes on; `watchbill queue "),
        "{said}"
    );
    let queue = place.json(&["queue", &own, "--json"]);
    assert_eq!((&queue["held"], queue["heldUntil"].is_string()), (&json!("time"), true), "{queue}");
    assert!(place.say(&["queue", &own, "--go-on"]).out.ends_with(" on\n"));
    assert_eq!(place.say(&["stop", &own]).code, 0);
}

#[test]
fn an_agent_that_is_not_in_the_path_fails_before_anything_starts() {
    let place = Place::new();
    let (own, ..) = ended(&place);
    let own_files = || std::fs::read_dir(place.home.data().join("own")).unwrap().count();
    let before = (place.rows().len(), own_files());
    std::fs::remove_file(place.home.path().join("bin/claude")).unwrap();
    for (words, program) in [
        (&["run", "say this"][..], "claude"),
        (&["run"], "claude"),
        (&["run", "--json", "--wait", "say this"], "claude"),
        (&["run", "--pty", "--detach"], "claude"),
        (&["run", "--agent", "codex", "say this"], "codex"),
        (&["run", "--agent", "shell", "--pty", "--detach", "--", "nosuchtool", "x"], "nosuchtool"),
        (&["run", "--agent", "shell", "--pty", "--detach", "--", "./nosuchtool"], "./nosuchtool"),
        (&["resume", &own], "claude"),
        (&["prompt", &own, "say this"], "claude"),
    ] {
        let said = place.say(words);
        let says = format!("no program `{program}`");
        assert!(said.code == 1 && said.err.contains(&says), "{words:?}: {} {}", said.code, said.err);
        assert!(
            said.err.contains("install it") && said.out.is_empty(),
            "{words:?}: {} {}",
            said.out,
            said.err
        );
    }
    assert_eq!((place.rows().len(), own_files()), before, "nothing was made");
}
