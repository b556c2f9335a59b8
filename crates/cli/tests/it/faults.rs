//! Messages of the commands about faults of the data folder, with the real program on a real file system.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::Home;
use crate::process;
use crate::skipped::skipped;
use crate::tree::{now, transcript};

/// Commands that only read the history.
const READING: &[&[&str]] = &[&["search", "stored"], &["status"], &["doctor"]];
/// Commands that read it, and commands that write it.
const ALL: &[&[&str]] = &[
    &["index"],
    &["search", "stored"],
    &["status"],
    &["doctor"],
    &["forget", "said-before", "--yes"],
    &["chain", "said-before", "--name", "x"],
];

/// A home whose data folder is `data`.
fn with_data(data: PathBuf) -> Home {
    // By default, a turn that is silent for a minute counts as over, and these tests may take a minute.
    let home = Home::with(data, "[timeouts]\nstale = \"1h\"\n");
    has(&home, "said-before", "words that were stored");
    home
}

/// Adds a session with a prompt.
fn has(home: &Home, session: &str, words: &str) {
    let record = json!({
        "type": "user", "uuid": session, "message": { "role": "user", "content": words },
        "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": session,
    });
    transcript(&home.claude(), session, &[record]);
}

/// The output of the commands in order: messages, exit codes, and the doctor's lines about the store.
fn outputs_of(home: &Home, commands: &[&[&str]]) -> String {
    let mut listing = String::new();
    for words in commands {
        let output = home.run_watchbill(words);
        listing.push_str(&format!("$ watchbill {}\n", words.join(" ")));
        listing.push_str(&if *words == ["doctor"] {
            of_store(home, &output.out)
        } else {
            shortened(&output.out)
        });
        listing.push_str(&output.err);
        listing.push_str(&format!("[{}]\n", output.code));
    }
    steady(&listing.replace(&*home.data().to_string_lossy(), "/home/dev/data"))
}

/// The lines of the doctor's report below the name of the database.
fn of_store(home: &Home, report: &str) -> String {
    let database = home.data().join("watchbill.db").to_string_lossy().into_owned();
    let of_store = report.lines().skip_while(|line| *line != database).skip(1);
    // Which of these files exist depends on SQLite.
    let of_store = of_store.filter(|line| !line.contains("-wal (") && !line.contains("-shm ("));
    let lines =
        of_store.take_while(|line| !line.is_empty() && !line.contains(" in ") && !line.contains("offer"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A hit's text is below a line with its time.
fn shortened(out: &str) -> String {
    let lines = out.lines().map(str::trim);
    let lines = lines.filter(|line| line.starts_with("words that") || line.contains("working"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Removes the time in the name of a file that was set aside, and its size.
fn steady(text: &str) -> String {
    let mut parts = text.split("corrupt-");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let part = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let end = part.find('\n').unwrap_or(part.len());
        let name = part[..end].split(" (").next().unwrap_or_default();
        text + "corrupt-TIME" + name + &part[end..]
    })
}

pub fn fill(ballast: &Path) {
    let mut file = std::fs::File::create(ballast).unwrap();
    for piece in [&[0u8; 4096][..], &[0; 1]] {
        while file.write_all(piece).is_ok() {}
    }
}

#[test]
fn a_full_disk_in_the_words_of_the_commands() {
    let Some(folder) = process::on_a_small_disk("faults::a_full_disk_in_the_words_of_the_commands") else {
        return;
    };
    let home = with_data(folder.join("data"));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    let ballast = folder.join("ballast");
    fill(&ballast);
    for n in 0..20 {
        has(&home, &format!("much-{n}"), &"words that fill a disk ".repeat(2_000));
    }
    insta::assert_snapshot!("full_disk", outputs_of(&home, ALL));
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    assert_eq!(home.run_watchbill(&["search", "fill a disk"]).code, 0);
    insta::assert_snapshot!("full_disk_is_over", outputs_of(&home, READING));
}

#[test]
fn a_folder_that_may_not_be_written_in_the_words_of_the_commands() {
    let test = "faults::a_folder_that_may_not_be_written_in_the_words_of_the_commands";
    let Some(folder) = process::with_mounts(test) else { return };
    let home = with_data(folder.join("data"));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    process::mount("remount,bind,ro", &folder);
    has(&home, "said-later", "words that are not stored");
    insta::assert_snapshot!("read_only", outputs_of(&home, ALL));
    process::mount("remount,bind,rw", &folder);
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    insta::assert_snapshot!("read_only_is_over", outputs_of(&home, READING));
}

#[test]
fn a_data_folder_that_cannot_be_made_in_the_words_of_the_commands() {
    let test = "faults::a_data_folder_that_cannot_be_made_in_the_words_of_the_commands";
    let Some(folder) = process::with_mounts(test) else { return };
    let home = with_data(folder.join("deep/data"));
    process::mount("remount,bind,ro", &folder);
    let listing = outputs_of(&home, ALL).replace(&*folder.to_string_lossy(), "/home/dev");
    insta::assert_snapshot!("not_made", listing);
}

/// Locks the given database, prints its process id, and ends when its standard input closes.
const HOLDER: &str = "
import os, sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute('BEGIN EXCLUSIVE')
print(os.getpid(), flush=True)
sys.stdin.read()
";

#[test]
fn a_database_that_another_program_holds_in_the_words_of_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let home = with_data(folder.path().join("data"));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    let database = home.data().join("watchbill.db");
    let python = Command::new("python3")
        .args(["-c", HOLDER])
        .arg(&database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut holder = match python {
        Ok(holder) => holder,
        Err(error) => {
            return skipped(&format!("NOT TESTED: a database that another program holds: {error}"));
        }
    };
    let mut pid = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let pid = pid.trim();
    assert!(!pid.is_empty(), "the other program could not hold it");
    has(&home, "said-later", "words that are not stored");
    insta::assert_snapshot!(
        "held",
        outputs_of(&home, ALL).replace(&format!("process {pid};"), "process PID;")
    );
    let output = format!("{} is locked by process {pid}; try again, or end that program", database.display());
    let doctor: Value = serde_json::from_str(&home.run_watchbill(&["doctor", "--json"]).out).unwrap();
    let roster: Value = serde_json::from_str(&home.run_watchbill(&["roster", "--json"]).out).unwrap();
    let problem = json!({ "path": database, "kind": "store", "count": 1, "detail": output });
    assert_eq!(doctor["store"]["trouble"], json!(output));
    assert_eq!((&doctor["problems"], &roster["problems"]), (&json!([problem]), &json!([problem])));
    assert!(!home.run_watchbill(&["doctor"]).out.contains("No problems."));
    drop(holder.stdin.take());
    assert!(holder.wait().unwrap().success());
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    insta::assert_snapshot!("held_is_over", outputs_of(&home, READING));
    assert!(home.run_watchbill(&["doctor"]).out.contains("No problems."));
}

#[test]
fn a_damaged_search_index_is_named_and_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let home = with_data(folder.path().join("data"));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    assert!(home.run_watchbill(&["doctor"]).out.contains("No problems."));
    let harm = "import sqlite3, sys; sql = sqlite3.connect(sys.argv[1]); sql.execute('DELETE FROM texts_fts_data'); sql.commit()";
    let harmed = Command::new("python3").args(["-c", harm]).arg(home.data().join("watchbill.db")).status();
    match harmed {
        Ok(status) => assert!(status.success()),
        Err(error) => return skipped(&format!("NOT TESTED: a damaged search index: {error}")),
    }
    let doctor = home.run_watchbill(&["doctor"]).out;
    assert!(!doctor.contains("No problems.") && doctor.contains("the search index in"), "{doctor}");
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    assert!(home.run_watchbill(&["doctor"]).out.contains("No problems."));
}

#[test]
fn a_damaged_database_is_set_aside_in_the_words_of_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let home = with_data(folder.path().join("data"));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    let database = home.data().join("watchbill.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 4..bytes.len() * 3 / 4;
    bytes[middle].fill(0x5a);
    std::fs::write(&database, bytes).unwrap();
    insta::assert_snapshot!("damaged", outputs_of(&home, READING));
    assert_eq!(home.run_watchbill(&["index"]).code, 0);
    insta::assert_snapshot!("damaged_is_over", outputs_of(&home, READING));
    let aside = std::fs::read_dir(home.data()).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("watchbill.db.corrupt-")
    });
    assert!(aside.count() > 0, "what was damaged is not thrown away");
    let doctor = home.run_watchbill(&["doctor"]).out;
    let named = doctor.lines().skip_while(|line| !line.contains("damaged and set aside")).take(2);
    insta::assert_snapshot!(
        "damaged_is_named",
        steady(
            &named.collect::<Vec<_>>().join("\n").replace(&*home.data().to_string_lossy(), "/home/dev/data")
        )
    );
    let store = |home: &Home| -> serde_json::Value {
        serde_json::from_str::<serde_json::Value>(&home.run_watchbill(&["doctor", "--json"]).out).unwrap()["store"]
            .take()
    };
    let damaged = store(&home)["damaged"].take();
    for file in damaged.as_array().unwrap() {
        let path = PathBuf::from(file["path"].as_str().unwrap());
        assert_eq!(file["bytes"], json!(path.metadata().unwrap().len()));
        assert_eq!(file["takenOver"], json!(true));
        std::fs::remove_file(path).unwrap();
    }
    assert_eq!(store(&home).get("damaged"), None);
    assert!(!home.run_watchbill(&["doctor"]).out.contains("set aside"));
}
