//! Sessions of Cursor: found, shown, searched and left out, by the shape of real files.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::forget::until;
use crate::home::Home;
use crate::memory::{RULE, corrected, memories, work};
use crate::program::watchbill;
use crate::with_serve::Serve;

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

#[test]
fn hooks_are_installed_in_hooks_json_and_undone_to_the_byte() {
    let home = home("");
    let settings = home.path().join(".cursor/hooks.json");
    let install = |more: &[&str]| home.out(&[&["hooks", "install", "--agent", "cursor"], more].concat());
    let uninstall = |more: &[&str]| home.out(&[&["hooks", "uninstall", "--agent", "cursor"], more].concat());
    let others = [
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"./mine.sh\" }\n    ]\n  }\n}\n",
        "{\"version\":1}",
        "{ \"version\": 1, \"hooks\": {} }",
        "{ \"hooks\": { \"stop\": [] }, \"version\": 1 }",
        "{\n  \"hooks\": {\n    \"stop\": [\n      { \"command\": \"./mine.sh\" }\n    ]\n  }\n}\n",
        "{}",
    ];
    for before in others {
        std::fs::write(&settings, before).unwrap();
        install(&[]);
        let text = std::fs::read_to_string(&settings).unwrap();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["version"], 1, "{text}");
        let ours = read["hooks"]["stop"].as_array().unwrap().last().unwrap();
        assert!(
            ours["command"].as_str().unwrap().ends_with("--agent cursor"),
            "a handler, in no group: {text}"
        );
        assert_eq!(ours["timeout"], 5);
        for never in ["beforeShellExecution", "beforeMCPExecution", "preCompact", "async", "http"] {
            assert!(!text.contains(never), "{never}");
        }
        assert!(install(&[]).contains("already installed"));
        install(&["--context"]);
        let text = std::fs::read_to_string(&settings).unwrap();
        assert!(text.contains("\"matcher\": \"Read|Write|StrReplace\", \"type\""), "{text}");
        uninstall(&["--context"]);
        uninstall(&[]);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
    }
    std::fs::remove_file(&settings).unwrap();
    install(&[]);
    let new: Value = serde_json::from_str(&std::fs::read_to_string(&settings).unwrap()).unwrap();
    assert_eq!((&new["version"], new["hooks"].as_object().unwrap().len()), (&json!(1), 7));
    uninstall(&[]);
    assert!(!settings.exists(), "it was made for the hooks alone");

    for refused in ["--answer", "--markers"] {
        let refused = home.run_watchbill(&["hooks", "install", "--agent", "cursor", refused]);
        assert!(refused.code == 1 && refused.err.contains("Cursor"), "{}", refused.err);
    }
    let commented = "{\n  // mine\n  \"version\": 1\n}\n";
    std::fs::write(&settings, commented).unwrap();
    let refused = home.run_watchbill(&["hooks", "install", "--agent", "cursor"]);
    assert!(refused.code == 1 && refused.err.contains("without comments"), "{}", refused.err);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), commented);
}

/// What a hook of an agent prints.
fn told(home: &Home, agent: &str, more: &[&str], payload: &Value) -> String {
    let mut command = watchbill(home.path());
    command.args(["hook", "--agent", agent]).args(more).arg("--data-dir").arg(home.data());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

fn payload(session: &str, cwd: &str, event: &str, more: Value) -> Value {
    let mut payload = json!({
        "conversation_id": session, "generation_id": "g", "hook_event_name": event, "cursor_version": "2026.11.1",
        "workspace_roots": [cwd], "user_email": EMAIL, "transcript_path": null,
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

const EMAIL: &str = "someone@example.org";

/// The files below a folder that have these bytes in them.
fn files_with(folder: &Path, bytes: &[u8]) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let count = |entry: std::fs::DirEntry| match entry.file_type().unwrap() {
        kind if kind.is_dir() => files_with(&entry.path(), bytes),
        kind if kind.is_file() => {
            usize::from(std::fs::read(entry.path()).unwrap().windows(bytes.len()).any(|part| part == bytes))
        }
        _ => 0,
    };
    entries.map(count).sum()
}

#[test]
fn hooks_tell_the_state_and_the_address_of_the_account_reaches_no_file() {
    let home = home("");
    let id = SESSION;
    let tell = |event: &str, more: Value| {
        let more = payload(id, "/home/dev/work", event, more);
        assert_eq!(told(&home, "cursor", &[], &more), "", "{event}");
    };
    // No program listens: the events wait in the spool.
    tell("sessionStart", json!({ "session_id": id }));
    tell("beforeSubmitPrompt", json!({ "prompt": "a cedar word", "attachments": [] }));
    tell("preToolUse", json!({ "tool_name": "Shell", "tool_input": { "command": "make cedar" } }));
    tell("beforeShellExecution", json!({ "command": "rm cedar", "cwd": "/" }));
    assert!(files_with(&home.data(), b"cedar") > 0);
    assert_eq!(files_with(&home.data(), EMAIL.as_bytes()), 0, "in the spool");
    let serve = Serve::of(&home);
    let row = |state: &str| {
        let mut found = Value::Null;
        until(state, || {
            let roster = home.json(&["roster", "--all", "--json"]);
            let rows = roster["sessions"].as_array().unwrap();
            let row = rows.iter().find(|row| row["sessionId"] == id && row["state"] == state);
            found = row.cloned().unwrap_or_default();
            row.is_some()
        });
        found
    };
    let works = row("working");
    assert_eq!((&works["agent"], &works["cwd"]), (&json!("cursor"), &json!("/home/dev/work")));
    tell("stop", json!({ "status": "aborted", "loop_count": 0 }));
    assert_eq!(row("waiting_for_input")["stateKind"], "interrupted");
    tell("stop", json!({ "status": "completed", "loop_count": 0 }));
    drop(serve);
    assert_eq!(files_with(&home.data(), EMAIL.as_bytes()), 0, "in the journal and the store");
}

#[test]
fn cursor_is_told_what_claude_code_is_told_at_the_same_events() {
    let home = corrected("[memory]\ncontext = \"all\"\n");
    let serve = Serve::of(&home);
    assert_eq!(memories(&home, &["list"]).len(), 2);
    let (cwd, file) = (work(&home), format!("{}/src/log.rs", work(&home)));
    let prompt = json!({ "prompt": "which port does the proxy hold?" });
    let read = json!({ "tool_name": "Read", "tool_input": { "file_path": file } });
    let pairs = [
        ("SessionStart", json!({ "source": "startup" }), "sessionStart", json!({})),
        ("UserPromptSubmit", prompt.clone(), "beforeSubmitPrompt", prompt),
        ("PostToolUse", read.clone(), "postToolUse", read),
    ];
    let mut all = String::new();
    for (n, (ours, mut claudes, theirs, cursors)) in pairs.into_iter().enumerate() {
        let within = ["--context", "--within", "60000"];
        claudes["session_id"] = format!("cccc000{n}-0000-4000-8000-000000000001").into();
        (claudes["cwd"], claudes["hook_event_name"]) = (cwd.as_str().into(), ours.into());
        let claude: Value = serde_json::from_str(&told(&home, "claude", &within, &claudes)).unwrap();
        let claude = claude["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        let session = format!("9999000{n}-0000-4000-8000-000000000001");
        let cursor = told(&home, "cursor", &within, &payload(&session, &cwd, theirs, cursors));
        let cursor: Value = serde_json::from_str(&cursor).unwrap();
        assert_eq!(cursor, json!({ "additional_context": claude }), "{theirs}");
        all += &claude;
    }
    assert!(all.contains(RULE) && all.contains("the proxy holds port 8080"), "{all}");
    drop(serve);
}
