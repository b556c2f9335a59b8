//! Codex's hooks: `hooks.json`, the trust that it asks for, and what the sender says of them.

use std::path::Path;

use watchbill_agents::Agent;
use watchbill_hooks::envelope::{Decoded, Envelope, decode};

use crate::agent::{hook, run, spooled};
use crate::installing::{ok, output_texts, watchbill};

const OTHERS: &str = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n    ]\n  }\n}\n";

fn codex(home: &Path, words: &[&str]) -> String {
    ok(&watchbill(home, None, &["hooks"].iter().chain(words).copied().collect::<Vec<_>>()))
}

#[test]
fn hooks_wait_for_trust_until_the_configuration_has_their_keys() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".codex");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("hooks.json");
    std::fs::write(&file, OTHERS).unwrap();
    // Reading it would wait for a writer.
    let pipe = folder.join("auth.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(folder.join("config.toml"), "model = \"m\"\n").unwrap();

    let out = codex(home.path(), &["install", "--agent", "codex"]);
    assert!(out.contains("hooks for 12 events installed into"), "{out}");
    assert!(out.contains("Codex runs them once you trust them: start `codex`"), "{out}");
    assert!(out.ends_with("undo: watchbill hooks uninstall --agent codex\n"), "{out}");
    let installed = std::fs::read_to_string(&file).unwrap();
    assert_eq!(installed.matches(" hook --agent codex\"").count(), 12, "{installed}");
    assert!(codex(home.path(), &["install", "--agent", "codex"]).contains("already installed"));
    assert!(!home.path().join(".claude").exists(), "the settings of the other agent stay as they are");

    let waits = |words: &[&str]| codex(home.path(), words).contains("waits for trust: start `codex`");
    assert!(waits(&["status", "--agent", "codex"]));
    let doctor = || ok(&watchbill(home.path(), None, &["doctor"]));
    assert!(doctor().contains("installed, and run only when you trust them: start `codex`"), "{}", doctor());
    let settings: serde_json::Value = serde_json::from_str(&installed).unwrap();
    let mut config = "model = \"m\"\n[hooks.state]\n".to_owned();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let snake: String = event
            .chars()
            .flat_map(|c| {
                let divider = c.is_ascii_uppercase().then_some('_');
                divider.into_iter().chain([c.to_ascii_lowercase()])
            })
            .collect();
        let (event, group) = (snake.trim_start_matches('_'), groups.as_array().unwrap().len() - 1);
        let key = format!("{}:{event}:{group}:0", file.display());
        config.push_str(&format!("[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:00\"\n"));
    }
    std::fs::write(folder.join("config.toml"), &config).unwrap();
    assert!(!waits(&["status", "--agent", "codex"]));
    assert!(doctor().contains("hooks.json: installed\n"), "{}", doctor());
    codex(home.path(), &["install", "--agent", "codex", "--answer"]);
    assert!(waits(&["status", "--agent", "codex"]), "the new handler");
    assert_eq!(std::fs::read_to_string(folder.join("config.toml")).unwrap(), config, "trust is the person's");

    codex(home.path(), &["uninstall", "--agent", "codex", "--answer"]);
    codex(home.path(), &["uninstall", "--agent", "codex"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), OTHERS);
}

#[test]
fn what_codex_has_not_is_refused_with_the_reason() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".codex");
    std::fs::create_dir(&folder).unwrap();
    let refused = |words: &[&str]| {
        let output = watchbill(home.path(), None, words);
        assert!(!output.status.success(), "{output:?}");
        output_texts(&output).1
    };
    let install = ["hooks", "install", "--agent", "codex"];
    let with = |more: &[&'static str]| refused(&[&install[..], more].concat());
    assert!(with(&["--context"]).contains("Codex cannot be told what was learned yet"));
    assert!(with(&["--markers"]).contains("Codex leaves no markers"));
    assert!(with(&["--scope", "local"]).contains("Codex has no such settings"));
    assert!(
        refused(&["hooks", "status", "--agent", "kimi"])
            .contains("expected claude or codex or gemini or opencode or copilot or pi")
    );
    std::fs::write(folder.join("hooks.json"), "{\n  // mine\n}\n").unwrap();
    let why = with(&[]);
    assert!(
        why.contains("hooks.json was left as it is: line 2, column 3: the agent reads plain JSON"),
        "{why}"
    );
    assert_eq!(std::fs::read_to_string(folder.join("hooks.json")).unwrap(), "{\n  // mine\n}\n");
}

fn sent(data_dir: &Path) -> Vec<Envelope> {
    let read = |file: &std::path::PathBuf| match decode(&std::fs::read(file).unwrap()) {
        Decoded::Whole { envelope, .. } => *envelope,
        other => panic!("{other:?}"),
    };
    spooled(data_dir).iter().map(read).collect()
}

#[test]
fn the_sender_takes_no_terminal_and_no_process_from_a_hook_of_codex() {
    let data = tempfile::tempdir().unwrap();
    let payload = br#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;
    for agent in [&[][..], &["--agent", "codex"]] {
        let mut command = hook(data.path());
        command.args(agent).env("TMUX", "/run/tmux.sock,1,0").env("TMUX_PANE", "%0");
        run(command, payload);
    }
    let [claudes, codexs] = &sent(data.path())[..] else { panic!("two events were sent") };
    assert_eq!(
        (claudes.of, claudes.terminal.is_some(), claudes.ancestors.is_empty()),
        (Agent::Claude, true, false)
    );
    assert_eq!((codexs.of, &codexs.terminal, &codexs.agent), (Agent::Codex, &None, &None));
    assert!(codexs.ancestors.is_empty());
}

#[test]
fn what_notify_says_and_the_events_of_unknown_agents_are_not_sent() {
    let data = tempfile::tempdir().unwrap();
    let mut command = hook(data.path());
    command.args(["--agent", "codex", r#"{"type":"agent-turn-complete","thread-id":"t"}"#]);
    run(command, b"");
    let mut command = hook(data.path());
    command.args(["--agent", "a-later-one"]);
    run(command, br#"{"session_id":"s","hook_event_name":"Stop"}"#);
    assert!(spooled(data.path()).is_empty());
}

/// Copilot runs the hooks of a project's `.claude/settings.json`, Grok those of the user too.
#[test]
fn events_of_agents_that_run_claude_codes_hooks_are_not_sent_as_its_events() {
    are_not_sent("copilot/recordings/08-claudes-hooks-run.ndjson", "COPILOT_CLI", 9);
    are_not_sent("grok/recordings/06-claude-hooks-subagent.ndjson", "GROK_SESSION_ID", 40);
}

fn are_not_sent(fixture: &str, sign: &str, count: usize) {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/");
    let text = std::fs::read_to_string(format!("{fixtures}{fixture}")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let payloads: Vec<String> =
        lines.filter(|line| line["op"] == "hook").map(|line| line["payload"].to_string()).collect();
    assert_eq!(payloads.len(), count);
    let data = tempfile::tempdir().unwrap();
    let below = |payload: &str| {
        let mut command = hook(data.path());
        command.env(sign, "1");
        run(command, payload.as_bytes());
    };
    payloads.iter().for_each(|payload| below(payload));
    assert!(spooled(data.path()).is_empty());
    // Claude Code in a command of such an agent.
    below(
        r#"{"session_id":"s","hook_event_name":"Stop","transcript_path":"/home/dev/.claude/projects/p/s.jsonl"}"#,
    );
    assert_eq!(sent(data.path()).len(), 1);
}
