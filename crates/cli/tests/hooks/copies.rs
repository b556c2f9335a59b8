//! Several copies of the program, several client folders, several clients: one set of handlers, and one status.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::installing::{ok, output_texts, watchbill};

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill");

/// A copy of the program under another name.
fn copy(home: &Path, name: &str) -> PathBuf {
    let path = home.join(name);
    if std::fs::hard_link(PROGRAM, &path).is_err() {
        std::fs::copy(PROGRAM, &path).unwrap();
    }
    path
}

fn run(program: &Path, home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home).env("PATH", home.join("bin")).current_dir(home);
    command.args(words).output().unwrap()
}

fn user_settings(home: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn handlers(settings: &serde_json::Value) -> Vec<String> {
    let events = settings["hooks"].as_object().unwrap().values();
    let groups = events.flat_map(|groups| groups.as_array().unwrap());
    let handlers = groups.flat_map(|group| group["hooks"].as_array().unwrap());
    handlers.map(|handler| handler["command"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn renamed_copies_replace_each_others_handlers_and_any_uninstalls_them() {
    let home = tempfile::tempdir().unwrap();
    let copies = ["watchbill-0.1.0", "wb", "my watch", "watchbill-next"].map(|name| copy(home.path(), name));
    for program in &copies {
        for _ in 0..2 {
            ok(&run(program, home.path(), &["hooks", "install"]));
            let settings = user_settings(home.path());
            let lines = handlers(&settings);
            assert_eq!(lines.len(), 9, "{lines:?}");
            assert!(lines.iter().all(|line| line.contains(program.to_str().unwrap())), "{lines:?}");
            let status = ok(&watchbill(home.path(), None, &["hooks", "status", "--json"]));
            let status: serde_json::Value = serde_json::from_str(&status).unwrap();
            assert_eq!(status["scopes"][0]["state"], "installed", "another copy does as well: {status}");
        }
    }
    // The installed command line starts the sender, with its mark.
    let data = home.path().join(".local/share/watchbill");
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().env("HOME", home.path()).arg("-c").arg(&handlers(&user_settings(home.path()))[0]);
    shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    crate::agent::run(shell, &crate::agent::payload("s", 1));
    assert_eq!(crate::agent::spooled(&data).len(), 1);

    ok(&run(&copies[0], home.path(), &["hooks", "uninstall"]));
    assert!(!home.path().join(".claude/settings.json").exists());
}

fn doctor(home: &Path, words: &[&str]) -> (String, String) {
    let text = ok(&watchbill(home, None, &[&["doctor"], words].concat()));
    let json = ok(&watchbill(home, None, &[&["doctor", "--json"], words].concat()));
    (text, json)
}

/// The commands that a text recommends, in backticks.
fn advised(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|words| words.contains("hooks install")).map(str::to_owned).collect()
}

/// Runs a command as a user would type it, in another folder.
fn typed(home: &Path, command: &str) -> String {
    let words = command.strip_prefix("watchbill ").unwrap();
    let mut shell = Command::new("/bin/sh");
    shell.env_clear().env("HOME", home).env("PATH", home.join("bin")).current_dir("/");
    ok(&shell.args(["-c", &format!("{PROGRAM} {words}")]).output().unwrap())
}

#[test]
fn the_doctors_advice_repairs_every_folder() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("two.toml"), "roots = [\"~/one\", \"~/the other\"]\n").unwrap();
    let one = home.path().join("one/settings.json");
    let other = home.path().join("the other/settings.json");
    let (first, second) = (home.path().join("one"), home.path().join("the other"));
    let named = ["--claude-dir", first.to_str().unwrap(), "--claude-dir", second.to_str().unwrap()];
    for words in [&named[..], &["--config", "two.toml"], &["--config", "two.toml", "--data-dir", "the data"]]
    {
        std::fs::create_dir_all(&first).unwrap();
        std::fs::create_dir_all(&second).unwrap();
        let (text, json) = doctor(home.path(), words);
        assert_eq!(text.matches("not installed; `").count(), 2, "{text}");
        assert_eq!(json.matches("\"state\":\"absent\"").count(), 2, "{json}");
        let out = typed(home.path(), &advised(&text)[1]);
        assert!(one.exists() && other.exists(), "{out}");
        assert_eq!(out.matches("installed into").count(), 2, "{out}");

        let (text, json) = doctor(home.path(), words);
        assert_eq!(advised(&text), [""; 0], "{text}");
        assert_eq!(json.matches("\"state\":\"installed\"").count(), 2, "{json}");
        let status = ok(&watchbill(home.path(), None, &[&["hooks", "status"], words].concat()));
        assert_eq!(status.matches("installed, 9 events").count(), 2, "{status}");

        let undo = out.lines().last().unwrap().strip_prefix("undo: ").unwrap();
        let out = typed(home.path(), undo);
        assert!(!one.exists() && !other.exists(), "{undo}: {out}");
    }
}

#[test]
fn an_error_in_one_folder_does_not_stop_the_others() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("one")).unwrap();
    std::fs::write(home.path().join("one/settings.json"), "{").unwrap();
    let roots = ["--claude-dir", "one", "--claude-dir", "two"];
    let output = watchbill(home.path(), None, &[&["hooks", "install"], &roots[..]].concat());
    let (out, err) = output_texts(&output);
    assert!(!output.status.success() && err.contains("one/settings.json was left as it is"), "{err}");
    assert!(out.contains("two/settings.json"), "{out}");
    assert_eq!(std::fs::read_to_string(home.path().join("one/settings.json")).unwrap(), "{");
    assert!(home.path().join("two/settings.json").exists());
}

/// The states that `hooks status` and `doctor` report for the user's own settings.
fn opinions(home: &Path, words: &[&str]) -> (String, String) {
    let status = ok(&watchbill(home, None, &[&["hooks", "status", "--json"], words].concat()));
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    let doctor: serde_json::Value = serde_json::from_str(&doctor(home, words).1).unwrap();
    let settings = &doctor["hooks"]["settings"][0];
    let is_complete = settings["missing"].as_array().unwrap().is_empty();
    let state = settings["state"].as_str().unwrap();
    let of_doctor = if state == "installed" && !is_complete { "outdated" } else { state };
    (status["scopes"][0]["state"].as_str().unwrap().to_owned(), of_doctor.to_owned())
}

#[test]
fn status_and_doctor_agree_on_every_installation() {
    for (client, words, expected) in [
        // The agent's version is unknown: the named version counts, for both commands.
        (None, &["--client-version", "2.1.329"][..], "installed"),
        (None, &["--client-version", "2.1.40"], "installed"),
        (None, &[], "installed"),
        (None, &["--markers"], "installed"),
        // The agent's version is known; it has more or fewer events than the named version.
        (Some("2.1.329"), &["--client-version", "2.1.40"], "outdated"),
        (Some("2.1.40"), &["--client-version", "2.1.329"], "outdated"),
        (Some("2.1.40"), &[], "installed"),
    ] {
        let home = tempfile::tempdir().unwrap();
        ok(&watchbill(home.path(), None, &[&["hooks", "install"], words].concat()));
        if let Some(version) = client {
            ok(&watchbill(home.path(), Some(version), &["roster"]));
        }
        if words.is_empty() {
            ok(&watchbill(home.path(), None, &["hooks", "install"]));
        }
        let expected = (expected.to_owned(), expected.to_owned());
        assert_eq!(opinions(home.path(), &[]), expected, "{client:?} {words:?}");
        // The recommended commands repair the settings.
        let (text, _) = doctor(home.path(), &[]);
        for command in advised(&text) {
            typed(home.path(), &command);
        }
        let installed = ("installed".to_owned(), "installed".to_owned());
        assert_eq!(opinions(home.path(), &[]), installed, "{client:?} {words:?}: {text}");
        // If nothing is wrong, installing changes nothing.
        let named = handlers(&user_settings(home.path())).len();
        ok(&watchbill(home.path(), None, &["hooks", "install"]));
        assert_eq!(handlers(&user_settings(home.path())).len(), named, "{client:?} {words:?}");
    }
}

#[test]
fn handlers_for_another_data_folder_count_as_outdated() {
    let home = tempfile::tempdir().unwrap();
    ok(&watchbill(home.path(), None, &["hooks", "install", "--data-dir", "elsewhere"]));
    let outdated = ("outdated".to_owned(), "outdated".to_owned());
    assert_eq!(opinions(home.path(), &[]), outdated);
    let status = ok(&watchbill(home.path(), None, &["hooks", "status"]));
    assert!(status.contains("events go to another data folder: "), "{status}");
    let installed = ("installed".to_owned(), "installed".to_owned());
    assert_eq!(opinions(home.path(), &["--data-dir", "elsewhere"]), installed);
    assert_eq!(opinions(home.path(), &["--data-dir", "bin/../elsewhere"]), installed, "spelled otherwise");
}

#[test]
fn the_advice_for_a_projects_settings_names_their_file() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    let text =
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/gone/watchbill hook"}]}]}}"#;
    std::fs::write(home.path().join(".claude/settings.local.json"), text).unwrap();
    // The advice names the project's settings, and does not change the user's own.
    let status = ok(&watchbill(home.path(), None, &["hooks", "status"]));
    let command = advised(&status).pop().unwrap();
    assert!(command.contains("--settings") && command.contains("settings.local.json"), "{status}");
    typed(home.path(), &command);
    assert!(!home.path().join(".claude/settings.json").exists());
    let text = std::fs::read_to_string(home.path().join(".claude/settings.local.json")).unwrap();
    assert!(!text.contains("/gone/"), "{text}");
}
