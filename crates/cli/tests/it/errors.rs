//! Errors of commands: one line each, with the right exit code.

use std::path::Path;

use crate::program::{Finished, run, watchbill};

fn refuse(home: &Path, words: &[&str]) -> Finished {
    let output = run(watchbill(home).args(words));
    assert_eq!(output.out, "", "{words:?}");
    assert_ne!(output.code, 0, "{words:?}");
    Finished { err: output.err.replace(home.to_str().unwrap(), "[home]"), ..output }
}

#[test]
fn failed_commands_exit_with_1_and_print_one_line() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("wrong.toml"), "[store]\nexclude = \"~/secret\"\n").unwrap();
    std::fs::write(home.path().join("broken.toml"), "roots = [\n").unwrap();
    let mut listing = String::new();
    for words in [
        &["--demo", "why", "nobody"][..],
        &["--demo", "why", ""],
        &["--demo", "chain", "1"],
        &["--demo", "show", "nobody"],
        &["--demo", "open", "nobody"],
        &["--demo", "why", "a\x1b[31m\nb"],
        &["--config", "wrong.toml", "index"],
        &["--config", "broken.toml", "index"],
        &["--config", "broken.toml", "hooks", "install"],
        &["--config", "missing.toml", "watch"],
    ] {
        let output = refuse(home.path(), words);
        assert_eq!(output.code, 1, "{words:?}");
        assert_eq!(output.err.lines().count(), 1, "{words:?}: {}", output.err);
        assert!(!output.err.contains('\x1b'), "{words:?}");
        listing.push_str(&output.err);
    }
    insta::assert_snapshot!(listing);
}

/// The disk works and belongs to the user; only the path is unusable.
#[test]
fn an_impossible_data_folder_is_reported_with_the_obstacle() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    std::fs::create_dir_all(home.path().join(".claude/projects")).unwrap();
    let mut listing = String::new();
    for data_dir in ["file", "file/below/it"] {
        for words in [
            &["index"][..],
            &["search", "x"],
            &["stats"],
            &["forget", "--again", "x"],
            &["snooze", "x", "1h"],
            &["hooks", "install"],
        ] {
            let output = refuse(home.path(), &[&["--data-dir", data_dir], words].concat());
            assert_eq!((output.code, output.err.lines().count()), (1, 1), "{words:?}: {}", output.err);
            listing.push_str(&format!("$ watchbill {}\n{}", words.join(" "), output.err));
        }
        for words in ["roster", "doctor", "status"] {
            let output = run(watchbill(home.path()).args(["--data-dir", data_dir, words]));
            assert_eq!((output.code, &*output.err), (0, ""), "{words}");
            let about = output.out.lines().filter(|line| line.contains("is no folder"));
            listing.push_str(&format!("$ watchbill {words}\n"));
            about.for_each(|line| listing.push_str(&format!("{line}\n")));
        }
    }
    assert!(!home.path().join(".claude/settings.json").exists(), "nothing is installed by halves");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mine");
    insta::assert_snapshot!(listing.replace(home.path().to_str().unwrap(), "[home]"));
}

#[test]
fn wrong_usage_ends_with_two() {
    let home = tempfile::tempdir().unwrap();
    for words in [
        &["fly"][..],
        &[],
        &["roster", "--at", "yesterday"],
        &["roster", "--at", "2026-02-30T00:00:00Z"],
        &["show"],
        &["show", "x", "--from", "-1"],
        &["show", "x", "--limit", "many"],
        &["status", "--format", "xml"],
        &["--color", "sometimes", "roster"],
        &["completions", "tcsh"],
        &["roster", "--demon"],
    ] {
        let output = refuse(home.path(), words);
        assert_eq!(output.code, 2, "{words:?}: {}", output.err);
        assert!(!output.err.is_empty());
    }
}

#[test]
fn a_full_disk_is_reported_as_an_error() {
    let home = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = run(watchbill(home.path()).args(["--demo", "roster"]).stdout(full));
    assert_eq!(output.code, 1);
    assert!(output.err.contains("space"), "{}", output.err);
}

#[test]
fn a_closed_pipe_is_no_error() {
    for words in
        [&["--demo", "roster"][..], &["--demo", "show", "ae01", "--json"], &["man"], &["completions", "bash"]]
    {
        let home = tempfile::tempdir().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(watchbill(home.path()).args(words).stdout(writer));
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{words:?}");
    }
}
