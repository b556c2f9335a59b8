//! Sessions of pi: found, shown, searched and forgotten, by the lines of the real client.

use serde_json::{Value, json};

use crate::home::Home;

/// Waited for the user's word three times.
const SESSION: &str = "01a21b7b-4d79-72fb-a336-6ee4dd3e12e1";

/// A home with the files that the client wrote.
fn home(config: &str) -> Home {
    let home = Home::empty().configured(config);
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let recording = include_str!("../../../../tests/fixtures/pi/recordings/01-gate-approve-deny.ndjson");
    for line in recording.lines() {
        let operation: Value = serde_json::from_str(line).unwrap();
        let path = home.path().join(operation["path"].as_str().unwrap_or_default());
        if operation["op"] == "append" && path.extension().is_some_and(|name| name == "jsonl") {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            std::fs::write(&path, before + operation["text"].as_str().unwrap()).unwrap();
        }
    }
    home
}

fn hits(home: &Home, words: &[&str]) -> usize {
    let answer = home.json(&[&["search", "--json"], words].concat());
    answer["hits"].as_array().unwrap().len()
}

#[test]
fn a_session_has_a_row_and_is_resumed_in_a_terminal() {
    let home = home("");
    let rows = |words: &[&str]| {
        let roster = home.json(&[words, &["roster", "--all", "--json"]].concat());
        assert_eq!(roster["problems"], json!([]));
        roster["sessions"].as_array().unwrap().clone()
    };
    let all = rows(&[]);
    let row = &all[0];
    assert_eq!((all.len(), &row["agent"], &row["sessionId"]), (1, &json!("pi"), &json!(SESSION)));
    assert_eq!((&row["cwd"], &row["projectId"]), (&json!("/home/dev/work"), &json!("-home-dev-work")));
    assert_eq!((&row["tokens"]["input"], &row["tokens"]["output"]), (&json!(700), &json!(140)));
    assert_eq!((&row["title"], &row["model"]), (&json!("hello"), &json!("stub-model")));
    assert_eq!(rows(&["--root", "pi="]).len(), 0);
    let refused = home.run_watchbill(&["resume", SESSION]);
    assert!(refused.err.contains(&format!("pi --session {SESSION}")), "{}", refused.err);
}

#[test]
fn what_was_said_is_found_shown_and_forgotten() {
    let home = home("");
    assert_eq!(hits(&home, &["gate", "done", "--agent", "pi"]), 3);
    let shown = home.out(&["show", SESSION]);
    assert!(shown.contains("sleep 6") && shown.contains("Pi gate done."), "{shown}");
    home.out(&["forget", SESSION, "--yes"]);
    assert_eq!(hits(&home, &["gate"]), 0);
}

#[test]
fn an_excluded_folder_leaves_nothing_in_the_store() {
    let home = home("[store]\nexclude = [\"/home/dev/work\"]\n");
    assert_eq!(hits(&home, &["gate"]) + hits(&home, &["hello"]), 0);
}
