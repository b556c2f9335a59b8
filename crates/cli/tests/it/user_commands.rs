//! User commands on the command line: they are stored, shown by all commands, and known to a running program.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::Home;
use crate::tree::{append, now, transcript};

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// A home with two unrelated sessions, one after the other.
fn two_sessions() -> Home {
    let home = Home::empty();
    for (minutes, session, words) in [(20, FIRST, "Find the leak"), (10, SECOND, "Go on with it")] {
        transcript(&home.claude(), session, &[record(session, minutes, words)]);
    }
    home
}

fn chain_of(home: &Home, session: &str) -> Value {
    home.json(&["chain", session, "--json"])
}

/// The row of a session.
fn row_of(home: &Home, session: &str, all: bool) -> Option<Value> {
    let mut words = vec!["roster", "--json"];
    words.extend(all.then_some("--all"));
    let roster = home.json(&words);
    roster["sessions"].as_array().unwrap().iter().find(|row| row["sessionId"] == session).cloned()
}

fn record(session: &str, minutes: i64, words: &str) -> Value {
    let at = watchbill_engine::Timestamp::from_millis(now().as_millis() - minutes * 60_000);
    json!({"type": "user", "uuid": format!("{}-{minutes:04}-4000-8000-000000000000", &session[..8]),
        "timestamp": at.to_string(), "cwd": "/home/dev/x", "sessionId": session, "promptId": format!("p{minutes}"),
        "message": {"role": "user", "content": words}})
}

fn path_of(session: &str) -> PathBuf {
    Path::new("projects/-home-dev-x").join(format!("{session}.jsonl"))
}

#[test]
fn a_chains_name_is_stored_and_shown_by_every_command() {
    let home = two_sessions();
    assert!(home.out(&["chain", "aaaa", "--name", " the\tleak "]).contains("name       the leak\n"));
    assert_eq!(chain_of(&home, FIRST)["name"], "the leak");
    assert_eq!(row_of(&home, FIRST, false).unwrap()["workChainName"], "the leak");
    assert!(home.out(&["roster"]).contains("the leak"));
    assert!(home.out(&["show", FIRST]).starts_with("the leak\n"));
    assert!(home.out(&["export", FIRST]).starts_with("# the leak\n"));
    let exported: Value = serde_json::from_str(&home.out(&["export", FIRST, "--format", "json"])).unwrap();
    assert_eq!((&exported["title"], &exported["chain"]["name"]), (&json!("the leak"), &json!("the leak")));
    home.out(&["chain", FIRST, "--name", ""]);
    assert_eq!(chain_of(&home, FIRST).get("name"), None);
    assert_eq!(row_of(&home, FIRST, false).unwrap().get("workChainName"), None);
}

#[test]
fn a_join_and_a_split_of_chains_can_be_undone() {
    let home = two_sessions();
    let joined: Value =
        serde_json::from_str(&home.out(&["chain", "bbbb", "--join", "aaaa", "--json"])).unwrap();
    assert_eq!(joined["head"], SECOND);
    assert_eq!(
        joined["links"],
        json!([{"from": FIRST, "to": SECOND, "reason": "manual", "confidence": "proven"}])
    );
    assert_eq!(row_of(&home, FIRST, false), None, "its work goes on in the other");
    assert_eq!(row_of(&home, FIRST, true).unwrap()["supersededBy"], SECOND);
    assert_eq!(home.run_watchbill(&["chain", FIRST, "--join", SECOND]).err.lines().count(), 1);
    home.out(&["chain", SECOND, "--split"]);
    assert_eq!(chain_of(&home, SECOND)["links"], json!([]));
    assert!(row_of(&home, FIRST, false).is_some());
    home.out(&["chain", SECOND, "--undo"]);
    assert_eq!(chain_of(&home, SECOND)["links"], joined["links"], "the split is taken back, the join is not");
    home.out(&["chain", SECOND, "--undo"]);
    assert_eq!(chain_of(&home, SECOND)["links"], json!([]));
}

/// A chain's id is long, and every command prints it.
#[test]
fn the_beginning_of_a_chain_id_means_the_chain() {
    let home = two_sessions();
    home.out(&["chain", SECOND, "--join", FIRST]);
    let chain = chain_of(&home, SECOND)["workChainId"].as_str().unwrap().to_owned();
    // By chance, neither session's id begins like this.
    let begin = &chain[..6];
    for words in [&["show", begin][..], &["why", begin], &["export", begin]] {
        let whole: Vec<&str> = words.iter().map(|word| if *word == begin { SECOND } else { word }).collect();
        let untimed = |text: String| {
            text.lines().filter(|line| !line.contains(" ago")).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(untimed(home.out(words)), untimed(home.out(&whole)), "{words:?}");
    }
    assert_eq!(chain_of(&home, begin)["head"], SECOND);
    assert!(home.out(&["snooze", begin, "1h"]).starts_with(&format!("session {SECOND} is snoozed")));
    assert!(home.out(&["search", "--json", "leak", "--chain", begin]).contains(FIRST));
    // The beginning of a session's id means the session, even if a chain's id begins the same way.
    assert_eq!(chain_of(&home, "a")["head"], SECOND);
    for n in 0..2 {
        let session = format!("cccccccc-0000-4000-8000-00000000000{n}");
        transcript(&home.claude(), &session, &[record(&session, 5 + n, "More of it")]);
    }
    // This prefix is fixed: chain ids are derived from session ids.
    let chains = "bd926239-200c-8ea1-942d-06e86bf8c88c, bd926239-210c-8ea1-942d-06e86bf8c9c7";
    let output = home.run_watchbill(&["show", "bd926239"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    assert_eq!(
        output.err,
        format!("watchbill: `bd926239` begins several work chains: {chains}; name one of them\n")
    );
    home.out(&["index"]);
    let output = home.run_watchbill(&["search", "leak", "--chain", "bd926239"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    let several = format!("`bd926239` begins several stored work chains: {chains}; name one of them\n");
    assert!(output.err.ends_with(&several), "{}", output.err);
}

#[test]
fn invalid_user_commands_are_refused_in_one_line() {
    let home = two_sessions();
    let mut listing = String::new();
    for words in [
        &["chain", FIRST, "--join", FIRST][..],
        &["chain", FIRST, "--split"],
        &["chain", FIRST, "--accept"],
        &["chain", FIRST, "--undo"],
        &["chain", "nobody", "--name", "x"],
        &["snooze", FIRST, "--until", "2020-01-01T00:00:00Z"],
        &["put-away", "nobody"],
        &["--demo", "put-away", "1"],
    ] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, &*output.out), (1, ""), "{words:?}");
        assert_eq!(output.err.lines().count(), 1, "{words:?}: {}", output.err);
        listing.push_str(&output.err);
    }
    insta::assert_snapshot!(listing);
    for words in
        [&["chain", FIRST, "--split", "--undo"][..], &["snooze", FIRST], &["snooze", FIRST, "1h", "--off"]]
    {
        assert_eq!(home.run_watchbill(words).code, 2, "{words:?}");
    }
    for words in [
        &["snooze", FIRST, "soon"][..],
        &["snooze", FIRST, "--until", "soon"],
        &["snooze", FIRST, "3000000d"],
        &["snooze", FIRST, "--until", "+010000-01-01T00:00:00Z"],
        &["stats", "--since", "3000000d"],
        &["forget", "--dry-run", "--before", "3000000d"],
        &["roster", "--at", "3000000d"],
    ] {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, &*output.out), (2, ""), "{words:?}");
        let expected = match words.last().unwrap() {
            &"3000000d" => "`3000000d` leads out of the years 0 to 9999",
            _ => " is not a time to come; expected a span (15m, 1h, 2d)",
        };
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

#[test]
fn a_snoozed_session_is_idle_until_its_time() {
    let home = two_sessions();
    let out = home.out(&["snooze", FIRST, "1h"]);
    assert!(out.starts_with(&format!("session {FIRST} is snoozed until 20")), "{out}");
    let row = row_of(&home, FIRST, false).unwrap();
    assert_eq!(row["group"], "idle");
    assert!(row["snoozedUntil"].as_str().unwrap() > now().to_string().as_str());
    assert!(home.out(&["roster"]).contains("snoozed until"));
    home.out(&["snooze", FIRST, "--off"]);
    assert_eq!(row_of(&home, FIRST, false).unwrap().get("snoozedUntil"), None);
}

#[test]
fn a_session_that_is_put_away_returns_with_its_next_record() {
    let home = two_sessions();
    home.out(&["put-away", FIRST]);
    assert_eq!(row_of(&home, FIRST, false), None);
    assert_eq!(row_of(&home, FIRST, true).unwrap()["putAway"], true);
    home.out(&["put-away", FIRST, "--back"]);
    assert!(row_of(&home, FIRST, false).is_some());
    home.out(&["put-away", FIRST]);
    append(&home.claude(), &path_of(FIRST), &format!("{}\n", record(FIRST, 0, "One thing more")));
    assert_eq!(row_of(&home, FIRST, false).unwrap().get("putAway"), None);
}

#[test]
fn a_session_that_is_put_away_after_its_turn_is_idle() {
    let home = two_sessions();
    let mut answer = record(FIRST, 5, "Done");
    answer["type"] = "assistant".into();
    answer["message"] = json!({
        "id": "m", "role": "assistant", "stop_reason": "end_turn", "content": [{ "type": "text", "text": "Done" }],
    });
    append(&home.claude(), &path_of(FIRST), &format!("{answer}\n"));
    assert_eq!(row_of(&home, FIRST, true).unwrap()["group"], "your_turn");
    home.out(&["put-away", FIRST]);
    let row = row_of(&home, FIRST, true).unwrap();
    assert_eq!((&row["group"], &row["putAway"]), (&json!("idle"), &json!(true)));
    assert!(home.out(&["roster", "--all"]).contains("your turn · put away"));
}

/// The running program holds the store's lock, so commands from elsewhere reach the store and the screen through it.
#[test]
fn a_running_program_gets_commands_of_another_process() {
    let home = two_sessions();
    let mut watch = home.command(&["watch", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut until = |what: &dyn Fn(&Value) -> bool| loop {
        let event: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if what(&event) {
            return;
        }
    };
    // On a fast machine everything is read before the snapshot, and no later event says so.
    until(&|event| event["reading"] != true);
    home.out(&["chain", FIRST, "--name", "the leak"]);
    until(&|event| event["updates"]["workChainName"] == "the leak");
    assert_eq!(chain_of(&home, FIRST)["name"], "the leak", "stored, though this program reads alone");
    let refused = home.run_watchbill(&["chain", SECOND, "--split"]);
    assert_eq!(refused.code, 1, "nothing is handed over that makes no sense");
    home.out(&["chain", FIRST, "--join", SECOND]);
    until(&|event| event["event"] == "removed" && event["sessionId"] == FIRST);
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert_eq!(chain_of(&home, FIRST)["name"], "the leak");
    assert_eq!(chain_of(&home, FIRST)["head"], SECOND);
}

/// While it is unknown what may be stored, a user command must not cause storing.
#[test]
fn user_commands_are_refused_while_the_configuration_is_in_doubt() {
    let home = two_sessions();
    std::fs::write(home.path().join("config.toml"), "[store]\nexclude = 5\n").unwrap();
    let output = home.run_watchbill(&["--config", "config.toml", "chain", FIRST, "--name", "the leak"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    assert!(output.err.contains("config.toml is wrong"), "{}", output.err);
    assert!(!home.path().join("data/watchbill.db").exists());
}

/// No other Watchbill writes such a store, so a queued command would wait for ever.
#[test]
fn a_store_of_a_newer_version_refuses_user_commands_and_queries() {
    let home = two_sessions();
    home.out(&["index"]);
    newer(&home.path().join("data/watchbill.db"));
    let why = home.run_watchbill(&["stats"]).err;
    let why = why.strip_prefix("watchbill: ").unwrap();
    assert!(why.contains("was written by a newer version (schema 99"), "{why}");
    for words in
        [&["chain", "aaaa", "--name", "the leak"][..], &["snooze", "aaaa", "1h"], &["put-away", "aaaa"]]
    {
        let output = home.run_watchbill(words);
        assert_eq!((output.code, &*output.out), (1, ""), "{words:?}");
        assert_eq!(output.err, format!("watchbill: your command is not stored: {why}"), "{words:?}");
    }
}

/// Gives a database an unknown schema. The number is in its head, and no write-ahead log is left to override it.
fn newer(database: &Path) {
    assert!(!database.with_extension("db-wal").exists());
    let mut bytes = std::fs::read(database).unwrap();
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(database, bytes).unwrap();
}

/// `index` holds the store's lock and does not listen. A command that waits for it too long is refused, and is not
/// carried out later.
#[test]
fn a_command_is_refused_while_the_holder_does_not_listen() {
    let home = two_sessions();
    home.out(&["index"]);
    let lock = std::fs::File::options().write(true).open(home.path().join("data/writer.lock")).unwrap();
    lock.lock().unwrap();
    let output = home.run_watchbill(&["chain", FIRST, "--name", "the leak"]);
    assert_eq!((output.code, &*output.out), (1, ""));
    assert!(output.err.contains("nothing was changed: "), "{}", output.err);
    assert!(output.err.contains("holds the store and does not listen"), "{}", output.err);
    drop(lock);
    home.out(&["chain", SECOND, "--name", "the other leak"]);
    assert_eq!(chain_of(&home, FIRST).get("name"), None);
}
