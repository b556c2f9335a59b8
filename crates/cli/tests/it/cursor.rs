//! Sessions of Cursor: found, shown, searched and left out, by the shape of real files.

use serde_json::json;

use crate::home::Home;

const SESSION: &str = "3f6a1c52-0b7e-4d11-9a3c-5e1f00aa77bc";

/// A home with a session of five turns.
fn home(config: &str) -> Home {
    let home = Home::empty().configured(config);
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let folder = home.path().join(".cursor/projects/home-dev-demo/agent-transcripts").join(SESSION);
    std::fs::create_dir_all(&folder).unwrap();
    let text = include_str!("../../../../tests/fixtures/cursor/shapes/transcript-1.jsonl");
    std::fs::write(folder.join(format!("{SESSION}.jsonl")), text).unwrap();
    home
}

fn hits(home: &Home) -> usize {
    home.json(&["search", "--json", "kettle", "yarrow", "--agent", "cursor"])["hits"]
        .as_array()
        .unwrap()
        .len()
}

#[test]
fn a_session_has_a_row_and_its_words_are_found() {
    let home = home("");
    let roster = home.json(&["roster", "--all", "--json"]);
    let rows = roster["sessions"].as_array().unwrap();
    assert_eq!((rows.len(), &roster["problems"]), (1, &json!([])));
    let row = &rows[0];
    assert_eq!((&row["agent"], &row["sessionId"]), (&json!("cursor"), &json!(SESSION)));
    assert_eq!((&row["title"], &row["cwd"]), (&json!("velvet yarrow fjord"), &json!(null)));
    assert!(hits(&home) > 0);
    let shown = home.out(&["show", SESSION]);
    assert!(shown.contains("velvet yarrow fjord") && !shown.contains("user_query"), "{shown}");
    let refused = home.run_watchbill(&["resume", SESSION]);
    assert!(refused.err.contains(&format!("cursor-agent --resume {SESSION}")), "{}", refused.err);
}

#[test]
fn the_folder_of_a_project_in_cursors_folder_can_be_excluded() {
    let home = home("[store]\nexclude = [\"~/.cursor/projects/home-dev-demo\"]\n");
    assert_eq!(hits(&home), 0);
}
