//! Sessions of Copilot: found, shown and searched, by the events of real clients.

use std::path::Path;

use serde_json::json;

use crate::home::Home;

#[test]
fn a_session_of_copilot_has_a_row_and_its_words_are_found() {
    const ID: &str = "62fab872-bb5b-4795-a8a2-b874b246eb39";
    let home = Home::empty();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let folder = home.path().join(".copilot/session-state").join(ID);
    std::fs::create_dir_all(&folder).unwrap();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/copilot/recordings/01-approve-deny.ndjson");
    let operations = std::fs::read_to_string(recording).unwrap();
    let operations = operations.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let events = operations.filter(|operation| operation["op"] == "append");
    let events: String = events.map(|operation| operation["text"].as_str().unwrap().to_owned()).collect();
    std::fs::write(folder.join("events.jsonl"), events).unwrap();
    let roster = home.json(&["roster", "--all", "--json"]);
    let row = &roster["sessions"][0];
    assert_eq!((&row["agent"], &row["sessionId"]), (&json!("copilot"), &json!(ID)));
    assert_eq!(
        (&row["cwd"], &row["branch"], &row["model"]),
        (&json!("/home/dev/work"), &json!("main"), &json!("gpt-4.1"))
    );
    assert_eq!((&row["tokens"]["input"], &row["tokens"]["output"]), (&json!(400), &json!(80)));
    let found = home.json(&["search", "--json", "--agent", "copilot", "echo"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 2);
    let shown = home.out(&["show", ID]);
    assert!(shown.contains("echo hi > o.txt") && shown.contains("Opencode done."), "{shown}");
    let there = format!("copilot={}", home.path().join(".copilot").display());
    assert_eq!(
        home.json(&["--root", &there, "roster", "--all", "--json"])["sessions"].as_array().unwrap().len(),
        1
    );
}
