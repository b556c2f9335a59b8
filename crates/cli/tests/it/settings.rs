//! Which folder is used: options before environment before configuration before home.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::{run, watchbill};
use crate::tree::{now, transcript};

fn root(home: &Path, name: &str) -> String {
    let root = home.join(name);
    let name = name.trim_start_matches('.');
    let record = json!({
        "type": "user", "message": { "role": "user", "content": "hello" }, "uuid": format!("{name}-1"),
        "timestamp": now().to_string(), "cwd": "/home/dev/x", "sessionId": name,
    });
    transcript(&root, name, &[record]);
    root.to_str().unwrap().to_owned()
}

#[test]
fn options_override_environment_and_environment_overrides_configuration() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let roots = ["option", "variable", "second", "file", "client", ".claude"].map(|name| root(home, name));
    let [option, variable, second, file, client, _] = &roots;
    std::fs::write(home.join("config.toml"), format!("roots = [{file:?}]\n")).unwrap();
    let list = std::env::join_paths([variable, second]).unwrap();
    let seen = |words: &[&str], vars: &[(&str, &std::ffi::OsStr)]| -> Vec<String> {
        let output = run(watchbill(home).args(words).args(["roster", "--json"]).envs(vars.iter().copied()));
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{words:?}");
        let roster: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(roster["problems"], json!([]));
        let mut ids: Vec<String> = roster["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["sessionId"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids
    };
    let client = ("CLAUDE_CONFIG_DIR", client.as_ref());
    let config = ("WATCHBILL_CONFIG", "config.toml".as_ref());
    let variables = ("WATCHBILL_CLAUDE_DIR", list.as_os_str());
    assert_eq!(seen(&[], &[]), ["claude"]);
    assert_eq!(seen(&[], &[client]), ["client"]);
    assert_eq!(seen(&[], &[client, config]), ["file"]);
    assert_eq!(seen(&["--config", "config.toml"], &[client]), ["file"]);
    assert_eq!(seen(&[], &[client, config, variables]), ["second", "variable"]);
    assert_eq!(seen(&["--claude-dir", option], &[client, config, variables]), ["option"]);
    assert_eq!(seen(&["--claude-dir", option, "--claude-dir", second], &[client]), ["option", "second"]);
    assert_eq!(seen(&[], &[("WATCHBILL_CLAUDE_DIR", "".as_ref()), client]), ["client"], "empty is not set");
}

#[test]
fn commands_that_store_report_errors_of_the_settings() {
    let home = tempfile::tempdir().unwrap();
    let root = root(home.path(), ".claude");
    let run_watchbill = |wrong: &str, words: [&str; 2]| {
        std::fs::write(home.path().join("c.toml"), wrong).unwrap();
        let output =
            run(watchbill(home.path()).args(["--claude-dir", &root, "--config", "c.toml"]).args(words));
        assert_eq!(output.err.lines().count(), 1, "{}", output.err);
        output
    };
    for words in [["index", "--json"], ["search", "hello"]] {
        let output = run_watchbill("[watch]\nmoed = \"poll\"\n", words);
        assert_eq!(output.code, 0, "{}", output.err);
        let what = "c.toml: line 2, column 1: `moed` under [watch] is not known";
        assert!(output.err.contains(what), "{}", output.err);
    }
    // An entry that may have been meant as `exclude` is not ignored.
    let misspelt = "[store]\nexlude = [\"/home/dev/x\"]\n";
    let output = run_watchbill(misspelt, ["index", "--json"]);
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(output.err.contains("line 2, column 1: `exlude` under [store] is not known"), "{}", output.err);
    assert!(output.err.contains("not known what may be stored"), "{}", output.err);
}

#[test]
fn empty_and_missing_folders_are_no_error() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("empty")).unwrap();
    let output = run(watchbill(home.path()).args(["--claude-dir", "empty", "roster"]));
    assert_eq!(output.code, 0);
    insta::assert_snapshot!(output.out, @"No sessions. They appear here as soon as an agent writes its first record.");
    let output = run(watchbill(home.path()).args(["--claude-dir", "missing", "roster", "--json"]));
    let roster: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!((output.code, &roster["sessions"]), (0, &json!([])));
    assert_eq!(roster["problems"][0]["kind"], "missing");
    assert!(roster["problems"][0]["path"].as_str().unwrap().ends_with("missing"));
}

#[test]
fn doctor_reports_how_each_folder_would_be_watched() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("there")).unwrap();
    std::fs::write(home.path().join("poll.toml"), "[watch]\nmode = \"poll\"\n").unwrap();
    let modes = |words: &[&str]| -> Vec<Value> {
        let output = run(watchbill(home.path())
            .args(["--claude-dir", "there", "--claude-dir", "missing", "doctor", "--json"])
            .args(words));
        let doctor: Value = serde_json::from_str(&output.out).unwrap();
        doctor["roots"].as_array().unwrap().iter().map(|root| root["watch"].clone()).collect()
    };
    assert_eq!(modes(&["--config", "poll.toml"]), ["poll", "none"]);
    let native = modes(&[]);
    // A temporary folder on a network file system is polled.
    assert!(native[0] == "native" || native[0] == "poll", "{native:?}");
    assert_eq!(native[1], "none");
}

#[test]
fn the_roster_counts_older_sessions_that_it_hides() {
    let home = tempfile::tempdir().unwrap();
    let old = json!({
        "type": "user", "message": { "role": "user", "content": "hello" }, "uuid": "u-1",
        "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/home/dev/x", "sessionId": "old",
    });
    transcript(&home.path().join(".claude"), "old", &[old]);
    let output = run(watchbill(home.path()).arg("roster"));
    insta::assert_snapshot!(output.out, @"Nothing is going on now; `watchbill roster --all` shows 1 older session.");
    assert!(run(watchbill(home.path()).args(["roster", "--all"])).out.contains("old"));
}

/// A wrong line must neither hide the roster nor be ignored silently.
#[test]
fn errors_of_the_configuration_are_reported_and_the_rest_is_used() {
    let home = tempfile::tempdir().unwrap();
    let text = "roots = ['there']\n[timeouts]\nidle = \"soon\"\n[timeout]\n";
    std::fs::write(home.path().join("config.toml"), text).unwrap();
    let output = run(watchbill(home.path()).args(["--config", "config.toml", "doctor", "--json"]));
    assert_eq!(output.code, 0, "{}", output.err);
    let doctor: serde_json::Value = serde_json::from_str(&output.out).unwrap();
    assert!(doctor["roots"][0]["path"].as_str().unwrap().ends_with("there"));
    let problems = doctor["problems"].as_array().unwrap();
    let listing = problems.iter().find(|problem| problem["kind"] == "configuration").unwrap();
    assert_eq!(listing["count"], 2);
    let detail = listing["detail"].as_str().unwrap();
    assert!(detail.contains("line 3, column 8: timeouts.idle: expected a time"), "{detail}");
    assert!(
        detail.contains("line 4, column 2: `timeout` is not known; there are: roots, timeouts,"),
        "{detail}"
    );
    assert_eq!(doctor["config"]["path"], home.path().join("config.toml").to_str().unwrap());

    let output = run(watchbill(home.path()).args(["--config", "config.toml", "roster"]));
    assert!(
        output.out.contains("timeouts.idle") || output.err.contains("timeouts.idle"),
        "{}{}",
        output.out,
        output.err
    );
}

#[test]
fn doctor_prints_the_end_of_muting_in_local_time() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("data")).unwrap();
    std::fs::write(home.path().join("data/muted-until"), "2199-12-31T23:05:59.000Z\n").unwrap();
    let output = run(watchbill(home.path()).args(["--data-dir", "data", "doctor"]).env("TZ", "CET-1"));
    assert!(
        output.out.contains("\nalerts are muted until 2200-01-01 00:05\n"),
        "{}{}",
        output.out,
        output.err
    );
}

#[test]
fn a_configuration_that_is_no_regular_file_blocks_no_command() {
    let home = tempfile::tempdir().unwrap();
    let make = |what: &str| home.path().join(what);
    for pipe in ["pipe", "data/muted-until", ".config/watchbill/config.toml"] {
        std::fs::create_dir_all(make(pipe).parent().unwrap()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(make(pipe)).status().unwrap();
        assert!(made.success());
    }
    std::fs::create_dir(make("folder")).unwrap();
    std::fs::write(make("long"), vec![b'#'; 2 << 20]).unwrap();
    std::os::unix::fs::symlink("pipe", make("link")).unwrap();
    for named in ["pipe", "link", "folder", "/dev/zero", "/dev/null"] {
        for words in [&["roster"][..], &["doctor"], &["watch"], &["index"], &["hooks", "status"]] {
            let output =
                run(watchbill(home.path()).args(["--data-dir", "data", "--config", named]).args(words));
            assert_eq!((output.code, &*output.out), (1, ""), "{named}: {words:?}");
            assert!(output.err.contains("not a regular file; name another with --config"), "{}", output.err);
        }
    }
    for config in [&["--config", "long"][..], &[]] {
        let output = run(watchbill(home.path()).args(["--data-dir", "data", "doctor"]).args(config));
        assert_eq!(output.code, 0, "{}", output.err);
        let listing = if config.is_empty() { "no ordinary file" } else { "far too long" };
        assert!(output.out.contains(listing), "{}", output.out);
    }
}
