//! Input beyond a limit: long payloads, old journals, file-size limits, pipes in place of files. No command hangs or
//! dies.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use watchbill_hooks::places::HookPaths;
use watchbill_platform::files::private_dir;

use crate::agent::{Listener, TIMEOUT, hook, payload, run, silent, spares, spooled, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill");

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn watchbill(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.env_clear().env("HOME", home).current_dir(home).args(words);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for a program, and fails if it hangs.
fn ends(what: &str, mut child: Child) -> std::process::Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("it waits for ever: {what}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_payload_beyond_the_limit_is_read_to_its_end_and_keeps_every_field() {
    let dir = tempfile::tempdir().unwrap();
    let listener = Listener::open(dir.path());
    let output = "ü\"\\\n".repeat(700_000);
    let sent_payload = serde_json::json!({
        "session_id": "s", "transcript_path": "/home/dev/t.jsonl", "cwd": "/home/dev/work",
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "cat large"},
        "tool_response": {"stdout": output, "interrupted": false}, "tool_use_id": "toolu_1",
    });
    let mut child = hook(dir.path()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(sent_payload.to_string().as_bytes()).expect("the agent can write all of it");
    drop(pipe);
    silent(&child.wait_with_output().unwrap());
    let heard = listener.next();
    assert!(heard.cut);
    let event: serde_json::Value = serde_json::from_slice(&heard.payload).expect("it is an event");
    for field in ["session_id", "cwd", "hook_event_name", "tool_name", "tool_input", "tool_use_id"] {
        assert_eq!(event[field], sent_payload[field]);
    }
    assert_eq!(event["tool_response"]["interrupted"], false);
    let kept = event["tool_response"]["stdout"].as_str().unwrap();
    assert!(!kept.is_empty() && output.starts_with(kept));
}

#[test]
fn a_payload_beyond_the_limit_that_is_no_event_is_read_to_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = hook(dir.path()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(&vec![b'x'; 8 << 20]).expect("the agent can write all of it");
    drop(pipe);
    silent(&child.wait_with_output().unwrap());
    assert_eq!(spooled(dir.path()).len(), 1);
}

/// The program under a limit on the length of files, in blocks of 512 bytes.
fn limited(blocks: u32, program: &Command) -> Command {
    let mut command = Command::new("/bin/sh");
    command.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.arg("-c").arg(format!("ulimit -c 0; ulimit -f {blocks}; exec \"$@\"")).arg("sh");
    command.arg(program.get_program()).args(program.get_args());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_file_size_limit_costs_only_the_event() {
    let dir = tempfile::tempdir().unwrap();
    let long = serde_json::json!({"session_id": "s", "text": "x".repeat(100_000)}).to_string().into_bytes();
    run(limited(8, &hook(dir.path())), &long);
    let places = HookPaths::new(dir.path());
    until("it is counted", || std::fs::read(places.dropped()).is_ok_and(|dropped| dropped == b"."));
    assert_eq!(std::fs::read_dir(places.spool()).unwrap().count(), 0, "no part of it stays");
    for spare in spares(dir.path()) {
        assert_eq!(std::fs::read_dir(&spare).map_or(0, Iterator::count), 0);
        let _ = std::fs::remove_dir(spare);
    }
    run(limited(8, &hook(dir.path())), &payload("s", 1));
    assert_eq!(spooled(dir.path()).len(), 1, "a short one fits");
    run(limited(0, &hook(dir.path())), &payload("s", 2));
    assert_eq!(spooled(dir.path()).len(), 1);
    // Receivers get the event all the same.
    let listener = Listener::open(dir.path());
    assert_eq!(&*listener.next().payload, payload("s", 1));
    run(limited(0, &hook(dir.path())), &long);
    assert_eq!(listener.next().payload.len(), long.len());
}

#[test]
fn an_unfinished_payload_that_cannot_be_spooled_is_delivered_as_far_as_it_came() {
    let dir = tempfile::tempdir().unwrap();
    let sent_payload = payload("s", 1);
    for listens in [false, true] {
        let listener = listens.then(|| Listener::open(dir.path()));
        let mut child = limited(0, &hook(dir.path())).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&sent_payload[..sent_payload.len() - 1]).unwrap();
        silent(&child.wait_with_output().unwrap());
        drop(pipe);
        if let Some(listener) = listener {
            let heard = listener.next();
            assert_eq!((&*heard.payload, heard.cut), (&sent_payload[..sent_payload.len() - 1], true));
        }
        assert_eq!(std::fs::read_dir(HookPaths::new(dir.path()).spool()).unwrap().count(), 0);
    }
}

#[test]
fn a_new_journal_begins_where_the_old_one_may_not_grow() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let watch = watchbill(home.path(), &["watch", "--json", "--data-dir", data.to_str().unwrap()]);
    let mut watch = limited(4096, &watch).stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let places = HookPaths::new(&data);
    until("it listens", || {
        std::fs::read_dir(places.sockets_dir()).is_ok_and(|mut ears| ears.next().is_some())
    });
    let sent_payload = |number: usize| {
        serde_json::json!({"session_id": "s", "n": number, "text": "x".repeat(900_000)})
            .to_string()
            .into_bytes()
    };
    for number in 0..5 {
        run(hook(&data), &sent_payload(number));
    }
    until("all are kept", || spooled(&data).is_empty() && places.old_journal().exists());
    assert!(watch.try_wait().unwrap().is_none(), "it lives");
    watch.kill().unwrap();
    watch.wait().unwrap();
}

#[test]
fn a_pipe_in_place_of_a_file_blocks_no_command() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let places = HookPaths::new(&data);
    let data_dir = data.to_str().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    for file in [
        places.journal(),
        places.old_journal(),
        places.journal_lock(),
        places.made_folders(),
        places.spool().join(format!("{:020}-{:032x}.event", 1, 1)),
        places.spool().join(format!("{:020}-{:032x}.part", 1, 1)),
        places.sockets_dir().join("1-0.lock"),
        data.join("muted-until"),
        data.join("watchbill.db.salvage"),
        data.join("watchbill.db.suspect"),
    ] {
        for folder in [&data, places.root(), &places.spool(), &places.sockets_dir()] {
            private_dir(folder).unwrap();
        }
        pipe(&file);
        let name = file.display().to_string();
        for words in [
            &["roster"][..],
            &["doctor"],
            &["index"],
            &["forget", "--yes", "--before", "2020-01-01"],
            &["hooks", "install"],
            &["hooks", "status"],
            &["hooks", "uninstall"],
        ] {
            let words = [words, &["--data-dir", data_dir]].concat();
            let output = ends(&format!("{name}, {words:?}"), watchbill(home.path(), &words).spawn().unwrap());
            assert!(output.status.success(), "{name}, {words:?}: {output:?}");
        }
        run(hook(&data), &payload("s", 1));
        let listener = Listener::open(&data);
        assert_eq!(&*listener.next().payload, payload("s", 1), "{name}");
        drop(listener);
        std::fs::remove_dir_all(&data).unwrap();
    }
}

/// Without the list of forgotten sessions nothing may be stored, and a message says so.
#[test]
fn a_pipe_in_place_of_a_list_or_a_lock_of_the_store_blocks_no_command() {
    for file in ["watchbill.db.forgotten", "writer.lock", "run", "run/engine.sock"] {
        let home = tempfile::tempdir().unwrap();
        let data = home.path().join("data");
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        private_dir(data.join(file).parent().unwrap()).unwrap();
        pipe(&data.join(file));
        for words in [&["roster"][..], &["doctor"], &["index"], &["put-away", "nobody"]] {
            let words = [words, &["--data-dir", data.to_str().unwrap()]].concat();
            let child = watchbill(home.path(), &words).spawn().unwrap();
            let output = ends(&format!("{file}, {words:?}"), child);
            let says = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() || says.lines().count() == 1, "{file}, {words:?}: {says}");
        }
    }
}

#[test]
fn a_running_receiver_removes_journals_older_than_two_days() {
    let dir = tempfile::tempdir().unwrap();
    let places = HookPaths::new(dir.path());
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), &payload("s", 1));
    listener.next();
    std::fs::write(places.old_journal(), "what was said before").unwrap();
    let old = std::fs::OpenOptions::new().append(true).open(places.old_journal()).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(25 * 3600)).unwrap();
    // No event comes; one round is enough.
    listener.receiver.run_round();
    until("it is gone", || !places.old_journal().exists());
    assert!(places.journal().exists());
}

#[test]
fn events_of_a_forgotten_session_are_delivered_and_not_stored() {
    const GONE: &str = "aaaaaaaa-0000-4000-8000-000000000001";
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("data");
    let projects = home.path().join(".claude/projects/-home-dev-work");
    std::fs::create_dir_all(&projects).unwrap();
    let record = serde_json::json!({
        "type": "user", "uuid": "u1", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/home/dev/work",
        "sessionId": GONE, "message": {"role": "user", "content": "words"},
    });
    std::fs::write(projects.join(format!("{GONE}.jsonl")), format!("{record}\n")).unwrap();
    let say = |words: &[&str]| {
        let words = [words, &["--data-dir", data.to_str().unwrap()]].concat();
        let output = ends(&format!("{words:?}"), watchbill(home.path(), &words).spawn().unwrap());
        assert!(output.status.success(), "{words:?}: {output:?}");
    };
    let kept = |session: &str| {
        let journal = std::fs::read_to_string(HookPaths::new(&data).journal()).unwrap_or_default();
        journal.contains(session)
    };
    say(&["index"]);
    // One event waits in the spool. Later ones come while another program listens than the one that forgets.
    run(hook(&data), &payload(GONE, 0));
    say(&["forget", "--yes", GONE]);
    assert!(spooled(&data).is_empty());
    run(hook(&data), &payload(GONE, 1));
    let listener = Listener::open_beside_store(&data);
    let mut heard = vec![listener.next().payload];
    for number in 2..4 {
        run(hook(&data), &payload(GONE, number));
        run(hook(&data), &payload("stays", number));
        heard.extend([listener.next().payload, listener.next().payload]);
    }
    assert_eq!(heard.len(), 5, "it is told as ever");
    assert!(kept("stays") && !kept(GONE) && spooled(&data).is_empty());
    say(&["forget", "--again", GONE]);
    run(hook(&data), &payload(GONE, 5));
    listener.next();
    until("it is kept again", || kept(GONE));
    say(&["index"]);
    say(&["forget", "--yes", GONE]);
    assert!(!kept(GONE) && kept("stays"));
    run(hook(&data), &payload(GONE, 6));
    listener.next();
    assert!(!kept(GONE));
}
