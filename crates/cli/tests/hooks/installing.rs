//! `hooks install`, `uninstall` and `status` on real files, with the real program.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use crate::agent::{payload, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill");

/// The program in a home of its own, with a client of the given version on the `PATH`.
pub fn watchbill(home: &Path, version: Option<&str>, words: &[&str]) -> Output {
    let bin = home.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    if let Some(version) = version {
        let client = bin.join("claude");
        std::fs::write(&client, format!("#!/bin/sh\necho '{version} (Claude Code)'\n")).unwrap();
        std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(PROGRAM);
    command.env_clear().env("HOME", home).env("PATH", bin).current_dir(home);
    command.args(words).output().unwrap()
}

pub fn output_texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

pub fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    output_texts(output).0
}

fn report(home: &Path) -> serde_json::Value {
    serde_json::from_str(&ok(&watchbill(home, None, &["hooks", "status", "--json"]))).unwrap()
}

#[test]
fn where_hooks_have_a_file_of_their_own_nothing_is_left_of_it() {
    for (agent, folder, file) in [
        ("opencode", ".config/opencode", "plugins/watchbill.js"),
        ("pi", ".pi/agent", "extensions/watchbill.js"),
        ("copilot", ".copilot", "hooks/watchbill.json"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        if agent == "opencode" {
            std::fs::create_dir_all(home.path().join(".local/share/opencode")).unwrap();
        }
        let unseen =
            || output_texts(&watchbill(home.path(), None, &["doctor"])).0.contains("Watchbill does not see ");
        assert_eq!(unseen(), agent != "copilot", "{agent}");
        ok(&watchbill(home.path(), None, &["hooks", "install", "--agent", agent]));
        assert!(!unseen(), "{agent}");
        assert!(std::fs::read_to_string(folder.join(file)).unwrap().contains("watchbill"), "{agent}");
        ok(&watchbill(home.path(), None, &["hooks", "uninstall", "--agent", agent]));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "{agent}");
        // A file of that name that is the user's stays.
        let file = folder.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "mine").unwrap();
        let refused = watchbill(home.path(), None, &["hooks", "install", "--agent", agent]);
        assert!(!refused.status.success(), "{agent} {refused:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine", "{agent}");
    }
}

const SETTINGS: &str = "{\n\t\"model\": \"opus\", // mine\n\t\"env\": { \"KEY\": \"secret\" }\n}";

#[test]
fn installing_twice_changes_nothing_and_uninstalling_restores_every_byte() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    std::fs::write(&file, SETTINGS).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();

    let dry = ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", "install", "--dry-run"]));
    assert!(dry.contains("+        \"SessionStart\"") && dry.contains("-    \"env\""), "{dry}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SETTINGS);

    let out = ok(&watchbill(home.path(), None, &["hooks", "install"]));
    assert!(out.contains("hooks for 18 events installed into"), "{out}");
    assert!(out.ends_with("undo: watchbill hooks uninstall\n"), "{out}");
    let installed = std::fs::read_to_string(&file).unwrap();
    assert!(installed.contains("\"KEY\": \"secret\"") && installed.contains("// mine"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_dir(home.path().join(".claude")).unwrap().count(), 1);

    let again = ok(&watchbill(home.path(), None, &["hooks", "install"]));
    assert!(again.contains("already installed"), "{again}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), installed);

    let user = &report(home.path())["scopes"][0];
    assert_eq!((user["scope"].as_str(), user["state"].as_str()), (Some("user"), Some("installed")));

    ok(&watchbill(home.path(), None, &["hooks", "uninstall"]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SETTINGS);
    assert_eq!(report(home.path())["scopes"][0]["state"], "absent");
}

#[test]
fn the_installed_command_works_from_a_shell() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("my data's folder");
    let data_dir = data.to_str().unwrap();
    ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", "install", "--data-dir", data_dir]));
    let text = std::fs::read_to_string(home.path().join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (number, event) in ["PreToolUse", "SessionEnd"].iter().enumerate() {
        let handler = &settings["hooks"][event][0]["hooks"][0];
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().arg("-c").arg(handler["command"].as_str().unwrap());
        shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        shell.stderr(std::process::Stdio::piped());
        run(shell, &payload("s", number));
        assert_eq!(handler["async"].as_bool(), (*event == "PreToolUse").then_some(true));
        assert_eq!(crate::agent::spooled(&data).len(), number + 1);
    }
    ok(&watchbill(home.path(), None, &["hooks", "uninstall"]));
    assert!(!home.path().join(".claude/settings.json").exists());
}

#[test]
fn installing_for_an_old_or_unknown_client_omits_events_it_does_not_know() {
    let home = tempfile::tempdir().unwrap();
    let out = ok(&watchbill(home.path(), None, &["hooks", "install"]));
    assert!(out.contains("hooks for 9 events") && out.contains("--client-version"), "{out}");
    let out = ok(&watchbill(home.path(), Some("2.1.40"), &["hooks", "install"]));
    assert!(out.contains("hooks for 12 events") && out.contains("which is 2.1.40"), "{out}");
    // The agent was updated.
    ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", "status"]));
    let user = &report(home.path())["scopes"][0];
    assert_eq!(user["state"], "outdated");
    assert_eq!(user["missing"].as_array().unwrap().len(), 6);
    let named = ["hooks", "install", "--client-version", "2.1.100"];
    let out = ok(&watchbill(home.path(), None, &named));
    assert!(out.contains("hooks for 17 events"), "{out}");
}

#[test]
fn other_scopes_and_files_are_left_alone_and_links_are_followed() {
    let home = tempfile::tempdir().unwrap();
    let truth = home.path().join("dotfiles.json");
    std::fs::write(&truth, "{}\n").unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let link = home.path().join(".claude/settings.local.json");
    symlink("../dotfiles.json", &link).unwrap();
    let out = ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", "install", "--scope", "local"]));
    assert!(out.ends_with("/.claude/settings.local.json\n"), "undone from any folder: {out}");
    assert!(link.is_symlink());
    assert!(std::fs::read_to_string(&truth).unwrap().contains("watchbill"));
    assert!(!home.path().join(".claude/settings.json").exists());
    ok(&watchbill(home.path(), None, &["hooks", "uninstall", "--scope", "local"]));
    assert_eq!(std::fs::read_to_string(&truth).unwrap(), "{}\n");

    let other = home.path().join("other/settings.json");
    let other = other.to_str().unwrap();
    ok(&watchbill(home.path(), None, &["hooks", "install", "--settings", other, "--markers"]));
    assert!(std::fs::read_to_string(other).unwrap().contains("hook --markers"));
}

#[test]
fn uninstalling_removes_a_folder_if_it_was_made_for_hooks_and_is_empty() {
    let install = ["hooks", "install", "--scope", "project"];
    let uninstall = ["hooks", "uninstall", "--scope", "project"];
    for (before, meanwhile, stays) in [(false, false, false), (true, false, true), (false, true, true)] {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude");
        if before {
            std::fs::create_dir(&folder).unwrap();
        }
        ok(&watchbill(home.path(), Some("2.1.329"), &install));
        ok(&watchbill(home.path(), None, &install));
        if meanwhile {
            std::fs::write(folder.join("CLAUDE.md"), "mine").unwrap();
        }
        ok(&watchbill(home.path(), None, &uninstall));
        assert_eq!(folder.exists(), stays, "before: {before}, meanwhile: {meanwhile}");
        // By now the folder is the user's, even if it is empty again.
        std::fs::remove_file(folder.join("CLAUDE.md")).unwrap_or_default();
        ok(&watchbill(home.path(), None, &uninstall));
        assert_eq!(folder.exists(), stays, "before: {before}, meanwhile: {meanwhile}");
        let places = watchbill_hooks::places::HookPaths::new(&home.path().join(".local/share/watchbill"));
        assert!(places.root().is_dir() && !places.made_folders().exists(), "nothing is noted any more");
    }
}

#[test]
fn uninstalling_keeps_a_folder_that_another_program_has_made_since() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("deep/er/settings.json");
    let settings = file.to_str().unwrap();
    let hooks = |word| ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", word, "--settings", settings]));
    hooks("install");
    std::fs::remove_dir_all(home.path().join("deep")).unwrap();
    std::fs::create_dir(home.path().join("deep")).unwrap();
    hooks("install");
    hooks("uninstall");
    assert!(home.path().join("deep").is_dir() && !home.path().join("deep/er").exists());
}

#[test]
fn the_undo_command_works_when_pasted_into_a_shell() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(home.path().join("my  config.toml"), "roots = [\"~/of the config\"]\n").unwrap();
    for (words, file) in [
        (&["--claude-dir", "it's  mine"][..], "it's  mine/settings.json"),
        (&["--settings", "some $settings.json"], "some $settings.json"),
        (&["--config", "my  config.toml"], "of the config/settings.json"),
        (&["--data-dir", "my data"], ".claude/settings.json"),
        (&["--scope", "project"], ".claude/settings.json"),
        (&["--scope", "local"], ".claude/settings.local.json"),
    ] {
        let out = ok(&watchbill(home.path(), Some("2.1.329"), &[&["hooks", "install"], words].concat()));
        let file = home.path().join(file);
        assert!(file.exists(), "{out}");
        let undo = out.lines().last().unwrap().strip_prefix("undo: watchbill ").unwrap().to_owned();
        let mut shell = Command::new("/bin/sh");
        shell.env_clear().env("HOME", home.path()).current_dir(&elsewhere);
        ok(&shell.args(["-c", &format!("{PROGRAM} {undo}")]).output().unwrap());
        assert!(!file.exists(), "{undo}");
    }
}

#[test]
fn malformed_settings_are_refused_with_their_position_and_stay() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("settings.json");
    for (text, place) in [
        ("{\n  \"hooks\": {,}\n}", "line 2, column 13"),
        ("[]", "line 1, column 1"),
        ("", "it is empty"),
        ("{\"hooks\": {\"Stop\": 7}}", "line 1, column 20"),
    ] {
        std::fs::write(&file, text).unwrap();
        for command in ["install", "uninstall"] {
            let output = watchbill(
                home.path(),
                Some("2.1.329"),
                &["hooks", command, "--settings", file.to_str().unwrap()],
            );
            if command == "uninstall" && text.contains("Stop") {
                continue;
            }
            let (out, err) = output_texts(&output);
            assert_eq!(output.status.code(), Some(1), "{text}: {out}");
            assert!(err.contains(place) && err.contains("settings.json"), "{err}");
            assert_eq!(err.lines().count(), 1, "{err}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn the_status_names_what_keeps_events_from_arriving() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let gone = r#"{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "/gone/watchbill hook"}]}]}}"#;
    std::fs::write(home.path().join(".claude/settings.json"), gone).unwrap();
    std::fs::write(home.path().join(".claude/settings.local.json"), "{").unwrap();
    let report = report(home.path());
    let user = &report["scopes"][0];
    assert_eq!(user["state"], "outdated");
    assert_eq!(user["missingPrograms"][0], "/gone/watchbill");
    assert_eq!(user["outdated"][0], "/gone/watchbill hook");
    assert_eq!(user["disabled"], true);
    assert_eq!(report["scopes"][2]["state"], "unreadable");
    let words = ok(&watchbill(home.path(), None, &["hooks", "status"]));
    for part in ["not there: /gone/watchbill", "disableAllHooks", "line 1, column", "0 programs receiving"] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn read_only_settings_are_refused_and_stay() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("settings.json");
    let mark = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    let refused = |what: &str| {
        mark(0o444);
        let before = std::fs::read_to_string(&file).unwrap();
        let refused =
            watchbill(home.path(), Some("2.1.329"), &["hooks", what, "--settings", "settings.json"]);
        assert!(!refused.status.success(), "{what}: {refused:?}");
        assert!(output_texts(&refused).1.contains("settings.json is marked read-only and was left as it is"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
        mark(0o644);
    };
    std::fs::write(&file, SETTINGS).unwrap();
    refused("install");
    ok(&watchbill(home.path(), Some("2.1.329"), &["hooks", "install", "--settings", "settings.json"]));
    refused("uninstall");
    ok(&watchbill(home.path(), None, &["hooks", "uninstall", "--settings", "settings.json"]));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), SETTINGS);
}

/// Reading a pipe would hang, and replacing a device by a file would break it.
#[test]
fn settings_that_are_no_ordinary_file_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("settings.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let words = ["hooks", "install", "--settings", pipe.to_str().unwrap()];
    let refused = watchbill(home.path(), Some("2.1.329"), &words);
    assert!(!refused.status.success());
    assert!(output_texts(&refused).1.contains("no ordinary file"), "{refused:?}");
    assert!(pipe.symlink_metadata().is_ok_and(|found| !found.is_file()));
}

#[test]
fn doctor_names_the_sources_of_states_without_a_registry() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join(".local/share/watchbill");
    std::fs::create_dir_all(home.path().join(".claude/projects")).unwrap();
    let doctor = || ok(&watchbill(home.path(), None, &["doctor"]));
    assert!(doctor().contains("states come from the transcripts alone"), "{}", doctor());
    run(crate::agent::hook(&data), &payload("s", 1));
    assert!(doctor().contains("states come from hooks and transcripts"), "{}", doctor());
}
