//! Sessions of Codex beside those of Claude Code: found, shown, searched and forgotten, by the rollouts of the real client.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::tree::transcript;

/// Ran a command with its output.
const RAN: &str = "01a1f9a8-a52d-72c3-9a4b-c7605b707d59";
const CLAUDE: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A home with ten rollouts in three forms, and one session of Claude Code.
fn with_rollouts(config: &str) -> Home {
    let home = Home::empty().configured(config);
    let day = home.path().join(".codex/sessions/2026/11/20");
    std::fs::create_dir_all(&day).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/codex");
    for file in std::fs::read_dir(fixtures.join("rollouts")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), day.join(file.file_name())).unwrap();
    }
    let of_subagent = fixtures.join("shapes/rollout-spawned-subagent.jsonl");
    std::fs::copy(of_subagent, day.join(format!("rollout-2026-11-20T16-00-00-{}.jsonl", "0".repeat(36))))
        .unwrap();
    let line = json!({"type": "user", "uuid": "11111111-0000-4000-8000-000000000001", "timestamp": "2026-11-20T15:00:00.000Z", "cwd": "/home/dev/work_codex", "sessionId": CLAUDE, "promptId": "p1", "message": {"role": "user", "content": "hello from the other agent"}});
    transcript(&home.claude(), CLAUDE, &[line]);
    home
}

fn rows(home: &Home, words: &[&str]) -> Vec<Value> {
    let roster = home.json(&[words, &["roster", "--all", "--json"]].concat());
    roster["sessions"].as_array().unwrap().clone()
}

fn count(rows: &[Value], agent: &str) -> usize {
    rows.iter().filter(|row| row["agent"] == agent).count()
}

fn sessions_with(home: &Home, words: &[&str]) -> usize {
    let answer = home.json(&[&["search", "--json"], words].concat());
    let hits = answer["hits"].as_array().unwrap();
    let ids: std::collections::BTreeSet<_> = hits.iter().map(|hit| hit["sessionId"].to_string()).collect();
    ids.len()
}

#[test]
fn both_agents_have_rows_and_a_subagent_has_none() {
    let home = with_rollouts("");
    let all = rows(&home, &[]);
    assert_eq!((count(&all, "codex"), count(&all, "claude"), all.len()), (10, 1, 11));
    let ran = all.iter().find(|row| row["sessionId"] == RAN).unwrap();
    assert_eq!(ran["cwd"], "/home/dev/work_codex");
    assert_eq!(ran["projectId"], "-home-dev-work-codex", "the same as of Claude Code");
    assert_eq!((&ran["tokens"]["input"], &ran["tokens"]["output"]), (&json!(200), &json!(40)));
    assert!(
        home.out(&["roster", "--all", "--programs"]).contains("01a1f9a8-a52d"),
        "enough of the id to name it"
    );
    home.out(&["why", "01a1f9a8-a52d"]);
    // Roots can be named, and left out.
    assert_eq!(count(&rows(&home, &["--root", "codex="]), "codex"), 0);
    let there = format!("codex={}", home.path().join(".codex").display());
    assert_eq!(count(&rows(&home, &["--root", &there]), "codex"), 10);
    for wrong in ["Codex=/x", "aider=/x"] {
        assert_eq!(home.run_watchbill(&["--root", wrong, "roster"]).code, 2, "{wrong}");
    }
    let unit = home.out(&["--root", "codex=", "serve", "--systemd"]);
    assert!(unit.contains("--claude-dir \"codex=\""), "{unit}");
    let doctor = home.json(&["doctor", "--json"]);
    let agents: Vec<_> = doctor["roots"].as_array().unwrap().iter().map(|root| &root["agent"]).collect();
    assert_eq!(agents, ["claude", "codex"]);
}

#[test]
fn the_report_for_one_who_helps_has_numbers_and_no_path_or_text() {
    let home = with_rollouts("");
    let transcript =
        home.claude().join("projects/-home-dev-secret/5a1e0000-0000-4000-8000-000000000001.jsonl");
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    std::fs::write(transcript, "{\"type\":\"user\", broken\n").unwrap();
    let report = home.out(&["doctor", "--report"]);
    assert!(report.contains("\ncodex: 11 sessions, "), "{report}");
    assert!(report.contains("\nproblem "), "{report}");
    for private in ["/", "hello", "secret", "work_codex", RAN] {
        let mut lines = report.lines().filter(|line| !line.contains('='));
        assert!(!lines.any(|line| line.contains(private)), "{private}: {report}");
    }
}

#[test]
fn what_codex_said_is_found_shown_and_forgotten() {
    let home = with_rollouts("");
    assert_eq!(sessions_with(&home, &["hello"]), 3);
    assert_eq!(sessions_with(&home, &["hello", "--agent", "claude"]), 1);
    assert_eq!(sessions_with(&home, &["hello", "--agent", "codex"]), 2);
    let shown = home.out(&["show", RAN]);
    assert!(shown.contains("echo hi > out.txt"), "{shown}");
    assert!(home.out(&["export", RAN]).contains("echo hi > out.txt"));
    assert_eq!(sessions_with(&home, &["echo", "hi", "--agent", "codex"]), 2);
    home.out(&["forget", RAN, "--yes"]);
    assert_eq!(sessions_with(&home, &["echo", "hi"]), 1);
}

#[test]
fn an_excluded_folder_leaves_nothing_of_a_rollout() {
    let home = with_rollouts("[store]\nexclude = [\"/home/dev/work_codex\"]\n");
    assert_eq!(sessions_with(&home, &["hello"]), 0);
    assert_eq!(sessions_with(&home, &["echo"]), 0);
}

#[test]
fn a_session_that_began_in_a_terminal_goes_on_there_or_as_a_copy() {
    let home = with_rollouts("");
    let refused = home.run_watchbill(&["resume", RAN]);
    assert!(refused.err.contains(&format!("goes on there: `codex resume {RAN}`")), "{}", refused.err);
    let forked = home.run_watchbill(&["fork", RAN]);
    assert!(
        forked.err.contains("the folder /home/dev/work_codex does not exist"),
        "else it began: {}",
        forked.err
    );
}
