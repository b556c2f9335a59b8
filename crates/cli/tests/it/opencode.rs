//! Sessions of opencode: found, shown, searched and forgotten, by the rows of the real client.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;

/// Ran a command twice; the second one was refused.
const SESSION: &str = "ses_df6bea441ffeh6jIuKlZxPA6m7";

fn with_database(config: &str) -> Home {
    let home = Home::empty().configured(config);
    let folder = home.path().join(".local/share/opencode");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let written = std::process::Command::new("python3")
        .arg(here.join("tests/it/opencode_rows.py"))
        .arg(here.join("../../tests/fixtures/opencode/recordings/01-approve-deny.ndjson"))
        .arg(folder.join("opencode.db"))
        .status();
    assert!(written.unwrap().success());
    home
}

fn rows(home: &Home, words: &[&str]) -> Vec<Value> {
    let roster = home.json(&[words, &["roster", "--all", "--json"]].concat());
    roster["sessions"].as_array().unwrap().clone()
}

fn hits(home: &Home, words: &[&str]) -> usize {
    let answer = home.json(&[&["search", "--json"], words].concat());
    answer["hits"].as_array().unwrap().len()
}

#[test]
fn a_session_of_the_database_has_a_row_and_nothing_is_left_beside_the_database() {
    let home = with_database("");
    let folder = home.path().join(".local/share/opencode");
    let names = || {
        let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
        files.collect::<std::collections::BTreeSet<_>>()
    };
    let before = (names(), std::fs::read(folder.join("opencode.db")).unwrap());
    let all = rows(&home, &[]);
    let row = &all[0];
    assert_eq!((all.len(), &row["agent"], &row["sessionId"]), (1, &json!("opencode"), &json!(SESSION)));
    assert_eq!((&row["cwd"], &row["projectId"]), (&json!("/home/dev/work"), &json!("-home-dev-work")));
    assert_eq!((&row["tokens"]["input"], &row["tokens"]["output"]), (&json!(400), &json!(80)));
    assert_eq!((&row["title"], &row["model"]), (&json!("OK from the stub."), &json!("stub-model")));
    assert!(home.out(&["roster", "--all"]).contains("ses_df6bea441"), "enough of the id to name it");
    assert_eq!(rows(&home, &["--root", "opencode="]).len(), 0);
    let there = format!("opencode={}", folder.display());
    assert_eq!(rows(&home, &["--root", &there]).len(), 1);
    assert_eq!((names(), std::fs::read(folder.join("opencode.db")).unwrap()), before);
    let refused = home.run_watchbill(&["resume", SESSION]);
    assert!(refused.err.contains(&format!("opencode --session {SESSION}")), "{}", refused.err);
}

#[test]
fn what_was_said_is_found_shown_and_forgotten() {
    let home = with_database("");
    assert_eq!(hits(&home, &["echo", "hi", "--agent", "opencode"]), 2);
    let shown = home.out(&["show", SESSION]);
    assert!(shown.contains("echo hi > o.txt") && shown.contains("Opencode done."), "{shown}");
    assert!(home.out(&["export", SESSION]).contains("echo hi > o.txt"));
    home.out(&["forget", SESSION, "--yes"]);
    assert_eq!(hits(&home, &["echo"]), 0);
}

#[test]
fn an_excluded_folder_leaves_nothing_of_its_rows() {
    let home = with_database("[store]\nexclude = [\"/home/dev/work\"]\n");
    assert_eq!(hits(&home, &["echo"]) + hits(&home, &["hello"]), 0);
}

#[test]
fn a_database_of_other_tables_is_a_problem_and_hides_no_other_agent() {
    let home = with_database("");
    std::fs::remove_file(home.path().join(".local/share/opencode/opencode.db-wal")).ok();
    std::fs::write(home.path().join(".local/share/opencode/opencode.db"), b"no database").unwrap();
    let roster = home.json(&["roster", "--all", "--json"]);
    assert_eq!(roster["sessions"], json!([]));
    let problems = roster["problems"].as_array().unwrap();
    assert!(
        problems.iter().any(|problem| problem["path"].as_str().unwrap().ends_with("opencode.db")),
        "{problems:?}"
    );
}

#[test]
fn stored_sessions_are_not_read_again_at_the_next_start() {
    let home = with_database("");
    let first = home.out(&["index"]);
    assert!(first.contains("from 1 file"), "{first}");
    // A reading would find other texts. No time tells that they have changed.
    let database = home.path().join(".local/share/opencode/opencode.db");
    let change = "import sqlite3, sys; sql = sqlite3.connect(sys.argv[1]); \
                  sql.execute(\"UPDATE part SET data = replace(data, 'stub', 'other stub')\"); sql.commit()";
    let changed = std::process::Command::new("python3").args(["-c", change]).arg(database).status();
    assert!(changed.unwrap().success());
    let again = home.out(&["index"]);
    assert!(again.contains("0 records read from 0 files"), "{again}");
}
