//! Sessions of goose and Antigravity: found, shown and searched, by fixtures that are written by documents.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
const OF_ANTIGRAVITY: &str = "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc";

fn home() -> Home {
    let home = Home::empty();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let goose = home.path().join(".local/share/goose/sessions");
    let logs =
        home.path().join(".gemini/antigravity-cli/brain").join(OF_ANTIGRAVITY).join(".system_generated/logs");
    for folder in [&goose, &logs] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let from = Path::new(FIXTURES).join("antigravity/shapes/transcript-1.jsonl");
    std::fs::copy(from, logs.join("transcript.jsonl")).unwrap();
    let make = "import sqlite3, sys; sqlite3.connect(sys.argv[2]).executescript(open(sys.argv[1]).read())";
    let made = std::process::Command::new("python3")
        .args(["-c", make])
        .arg(Path::new(FIXTURES).join("goose/sessions.sql"))
        .arg(goose.join("sessions.db"))
        .status();
    assert!(made.unwrap().success());
    home
}

#[test]
fn sessions_that_are_only_read_have_rows_and_are_found_and_resumed() {
    let home = home();
    let roster = home.json(&["roster", "--all", "--json"]);
    assert_eq!(roster["problems"], json!([]), "{roster}");
    let row = |agent: &str| -> Value {
        let rows = roster["sessions"].as_array().unwrap().iter().filter(|row| row["agent"] == agent);
        let [row] = rows.collect::<Vec<_>>()[..] else { panic!("{agent}: {roster}") };
        row.clone()
    };
    let (goose, agy) = (row("goose"), row("antigravity"));
    assert_eq!((&goose["sessionId"], &goose["title"]), (&json!("20251108_1"), &json!("Kettle repair")));
    assert_eq!(goose["cwd"], "/home/dev/work");
    assert_eq!(agy["sessionId"], OF_ANTIGRAVITY);
    for agent in ["goose", "antigravity"] {
        let hits = |words: &[&str]| {
            let found = home.json(&[&["search", "--json", "--agent", agent], words].concat());
            found["hits"].as_array().unwrap().len()
        };
        assert_eq!((hits(&["mend", "the", "kettle"]), hits(&["kettles"])), (1, 1), "{agent}");
        assert_eq!(hits(&["summary"]), 0, "{agent}");
    }
    assert!(home.out(&["show", "20251108_1"]).contains("teapot"));
    for (session, command) in [
        ("20251108_1", "goose session --resume --session-id 20251108_1".to_owned()),
        (OF_ANTIGRAVITY, format!("agy --conversation {OF_ANTIGRAVITY}")),
    ] {
        let refused = home.run_watchbill(&["resume", session]);
        assert!(refused.err.contains(&command), "{}", refused.err);
    }
}

/// All times of goose are whole seconds.
#[test]
fn an_answer_in_the_second_of_the_call_before_is_read_too() {
    let home = home();
    let found = |word: &str| {
        home.out(&["index"]);
        home.json(&["search", "--json", "--agent", "goose", word])["hits"].as_array().unwrap().len()
    };
    assert_eq!(found("whistle"), 0);
    let add = "import sqlite3, sys\nsql = sqlite3.connect(sys.argv[1])\nsql.execute(\"INSERT INTO messages (session_id, role, \
        content_json, created_timestamp, metadata_json) SELECT session_id, 'assistant', ?, max(created_timestamp), metadata_json FROM \
        messages WHERE session_id = '20251108_1'\", [sys.argv[2]])\nsql.commit()";
    let database = home.path().join(".local/share/goose/sessions/sessions.db");
    for word in ["whistle", "spout"] {
        let answer = json!([{ "type": "text", "text": format!("A {word}.") }]).to_string();
        let done =
            std::process::Command::new("python3").args(["-c", add]).arg(&database).arg(answer).status();
        assert!(done.unwrap().success());
        assert_eq!(found(word), 1, "{word}");
    }
}
