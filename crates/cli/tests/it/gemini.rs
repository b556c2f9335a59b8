//! Sessions of Gemini: found, shown, searched and left out; its hooks installed, and told what was learned.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::home::Home;
use crate::memory::{RULE, corrected, memories, work};
use crate::program::watchbill;
use crate::with_serve::Serve;

const WHOLE: &str = "14c59a54-cb06-4496-a11e-6790cf8c8cbf";
const SHORT: &str = "14c59a54";

/// A home with a session of three turns, and one without a prompt.
fn home(config: &str) -> Home {
    let home = Home::empty().configured(config);
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    let recording = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures/gemini/recordings/01-approve-deny.ndjson");
    let mut chat = String::new();
    for line in std::fs::read_to_string(recording).unwrap().lines() {
        let operation: Value = serde_json::from_str(line).unwrap();
        if operation["op"] == "append" {
            chat += operation["text"].as_str().unwrap();
        }
    }
    let chats = home.path().join(".gemini/tmp/work/chats");
    std::fs::create_dir_all(&chats).unwrap();
    std::fs::write(chats.with_file_name(".project_root"), "/home/dev/work").unwrap();
    let empty: String =
        chat.lines().take(2).map(|line| line.replace(WHOLE, "00000000-cb06") + "\n").collect();
    std::fs::write(chats.join("session-2026-11-23T16-20-00000000.jsonl"), empty).unwrap();
    std::fs::write(chats.join(format!("session-2026-11-23T16-28-{SHORT}.jsonl")), chat).unwrap();
    home
}

fn hits(home: &Home, words: &[&str]) -> usize {
    let found = home.json(&[&["search", "--json", "--agent", "gemini"], words].concat());
    found["hits"].as_array().unwrap().len()
}

#[test]
fn a_session_has_a_row_and_its_words_are_found() {
    let home = home("");
    let roster = home.json(&["roster", "--all", "--json"]);
    let rows = roster["sessions"].as_array().unwrap();
    assert_eq!((rows.len(), &roster["problems"]), (1, &json!([])), "a chat without a prompt has no row");
    let row = &rows[0];
    assert_eq!((&row["agent"], &row["sessionId"]), (&json!("gemini"), &json!(SHORT)));
    assert_eq!((&row["cwd"], &row["model"]), (&json!("/home/dev/work"), &json!("gemini-2.5-flash")));
    assert_eq!((&row["tokens"]["input"], &row["tokens"]["output"]), (&json!(400), &json!(40)));
    assert_eq!(hits(&home, &["Gemini", "done"]), 1, "history that was written again is not found twice");
    for name in [SHORT, WHOLE] {
        let shown = home.out(&["show", name]);
        assert!(shown.contains("echo hi > g.txt") && !shown.contains("session_context"), "{shown}");
    }
    let refused = home.run_watchbill(&["resume", SHORT]);
    assert!(refused.err.contains(&format!("gemini --resume {WHOLE}")), "{}", refused.err);
}

#[test]
fn an_excluded_folder_leaves_nothing_though_no_line_names_it() {
    assert_eq!(hits(&home("[store]\nexclude = [\"/home/dev/work\"]\n"), &["hello"]), 0);
    let later = home("");
    assert_eq!(hits(&later, &["hello"]), 1);
    let later = later.configured("[store]\nexclude = [\"/home/dev/work\"]\n");
    assert_eq!(hits(&later, &["hello"]), 0);
}

#[test]
fn the_whole_id_is_forgotten_too() {
    let home = home("");
    assert_eq!(hits(&home, &["hello"]), 1);
    home.out(&["forget", WHOLE, "--yes"]);
    assert_eq!(hits(&home, &["hello"]), 0);
}

#[test]
fn hooks_are_installed_in_its_settings_and_undone_to_the_byte() {
    let home = home("");
    let settings = home.path().join(".gemini/settings.json");
    let before = "{\n  // the model\n  \"model\": { \"name\": \"gemini-2.5-flash\" },\n  \"hooks\": {}\n}\n";
    std::fs::write(&settings, before).unwrap();
    home.out(&["hooks", "install", "--agent", "gemini"]);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(
        text.contains("// the model") && text.contains("hook --") && text.contains("--agent gemini"),
        "{text}"
    );
    assert!(text.contains("\"timeout\": 5000") && !text.contains("async"), "{text}");
    for never in ["BeforeModel", "AfterModel", "BeforeToolSelection", "PreCompress"] {
        assert!(!text.contains(never), "{never}");
    }
    home.out(&["hooks", "install", "--agent", "gemini", "--context"]);
    let text = std::fs::read_to_string(&settings).unwrap();
    assert!(
        text.contains("\"read_file|write_file|replace\"") && text.contains("\"timeout\": 1000"),
        "{text}"
    );
    home.out(&["hooks", "uninstall", "--agent", "gemini", "--context"]);
    home.out(&["hooks", "uninstall", "--agent", "gemini"]);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
    for other in ["--answer", "--markers"] {
        let refused = home.run_watchbill(&["hooks", "install", "--agent", "gemini", other]);
        assert!(refused.code == 1 && refused.err.contains("Gemini"), "{}", refused.err);
    }
    std::fs::write(&settings, "{ \"hooks\": [").unwrap();
    let refused = home.run_watchbill(&["hooks", "install", "--agent", "gemini"]);
    assert!(refused.code == 1 && refused.err.contains("was left as it is: line 1"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), "{ \"hooks\": [");
}

/// What a hook prints for an agent.
fn told(home: &Home, agent: &str, payload: &Value) -> Value {
    let mut command = watchbill(home.path());
    command.args(["hook", "--agent", agent, "--context", "--within", "60000", "--data-dir"]).arg(home.data());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap_or_default()
}

#[test]
fn gemini_is_told_what_claude_code_is_told_at_the_same_events() {
    let home = corrected("[memory]\ncontext = \"all\"\n");
    let serve = Serve::of(&home);
    assert_eq!(memories(&home, &["list"]).len(), 2);
    let (cwd, file) = (work(&home), format!("{}/src/log.rs", work(&home)));
    let prompt = "which port does the proxy hold?";
    let pairs = [
        (
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
            json!({ "hook_event_name": "SessionStart", "source": "startup" }),
        ),
        (
            json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt }),
            json!({ "hook_event_name": "BeforeAgent", "prompt": prompt }),
        ),
        (
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": { "file_path": file } }),
            json!({ "hook_event_name": "AfterTool", "tool_name": "read_file", "tool_input": { "file_path": file }, "tool_response": {} }),
        ),
    ];
    let mut all = String::new();
    for (n, (claudes, geminis)) in pairs.into_iter().enumerate() {
        let answer = |agent: &str, mut payload: Value, session: String| {
            payload["session_id"] = session.into();
            payload["cwd"] = cwd.as_str().into();
            let said = told(&home, agent, &payload)["hookSpecificOutput"].clone();
            assert_eq!(said["hookEventName"], payload["hook_event_name"], "{said}");
            said["additionalContext"].as_str().unwrap().to_owned()
        };
        let claude = answer("claude", claudes, format!("cccc000{n}-0000-4000-8000-000000000001"));
        assert_eq!(answer("gemini", geminis, format!("9999000{n}-0000-4000-8000-000000000001")), claude);
        all += &claude;
    }
    assert!(all.contains(RULE) && all.contains("the proxy holds port 8080"), "{all}");
    let said = home.json(&["memory", "said", "99990001", "--json"]);
    assert!(
        said["lines"].as_array().is_some_and(|lines| !lines.is_empty()),
        "under the name of its files: {said}"
    );
    drop(serve);
}
