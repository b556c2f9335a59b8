//! Sessions of Kimi, Grok, Droid and Qwen: found, shown and searched, by the files of real clients.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;

/// The agent, its recording, the session, its model, and its tokens.
const SESSIONS: [(&str, &str, &str, &str, [u64; 2]); 4] = [
    (
        "kimi",
        "01-approve-deny-question",
        "session_a54911a7-9aa6-4659-a611-c97192552128",
        "__kimi_env_model__",
        [900, 180],
    ),
    ("grok", "01-approve-deny", "01a21b8d-6580-7eb0-8f9c-ca68821bc48d", "stub-model", [700, 140]),
    ("droid", "01-approve-deny", "84b912cb-b5e2-407d-ac97-cea1365637cd", "custom:stub-0", [0, 0]),
    ("qwen", "01-approve-deny-question", "71971933-b103-4062-8235-8c907b93eebf", "stub-model", [700, 140]),
];

/// Does to the files what the client did.
fn act(home: &Home, operations: &[Value]) {
    for operation in operations {
        let (Some(path), Some(text)) = (operation["path"].as_str(), operation["text"].as_str()) else {
            continue;
        };
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match operation["op"].as_str() {
            Some("append") => {
                let file = fs::OpenOptions::new().create(true).append(true).open(path);
                file.unwrap().write_all(text.as_bytes()).unwrap();
            }
            Some("write") => fs::write(path, text).unwrap(),
            _ => {}
        }
    }
}

fn home(config: &str) -> Home {
    let home = Home::empty().configured(config);
    fs::create_dir_all(home.claude().join("projects")).unwrap();
    home
}

fn operations(agent: &str, recording: &str) -> Vec<Value> {
    let path = format!("../../tests/fixtures/{agent}/recordings/{recording}.ndjson");
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn found(home: &Home, agent: &str, words: &str) -> usize {
    home.json(&["search", "--json", "--agent", agent, words])["hits"].as_array().unwrap().len()
}

#[test]
fn each_session_has_a_row_and_its_words_are_found_once() {
    for (agent, recording, id, model, tokens) in SESSIONS {
        let home = home("");
        // What was read before the client wrote on, or wrote the file anew, counts once.
        for part in operations(agent, recording).chunks(15) {
            act(&home, part);
            home.json(&["search", "--json", "hello"]);
        }
        let roster = home.json(&["roster", "--all", "--json"]);
        let rows = roster["sessions"].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{agent}: {roster}");
        let row = &rows[0];
        let shown = ["agent", "sessionId", "cwd", "model"].map(|name| &row[name]);
        assert_eq!(shown, [&json!(agent), &json!(id), &json!("/home/dev/work"), &json!(model)]);
        assert_eq!(
            [&row["tokens"]["input"], &row["tokens"]["output"]],
            [&json!(tokens[0]), &json!(tokens[1])]
        );
        assert_eq!((found(&home, agent, "sleep"), found(&home, agent, "hello")), (3, 1), "{agent}");
        let shown = home.out(&["show", id]);
        assert!(shown.contains("echo hi > f.txt") && shown.contains("bash done."), "{shown}");
    }
}

#[test]
fn no_word_of_an_excluded_folder_is_found() {
    for (agent, recording, ..) in SESSIONS {
        let home = home("[store]\nexclude = [\"/home/dev/work\"]\n");
        act(&home, &operations(agent, recording));
        assert_eq!((found(&home, agent, "sleep"), found(&home, agent, "hello")), (0, 0), "{agent}");
    }
}
