//! `open`: finds the window's program and passes its options on.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::program::run;

/// The program in its own folder, so that no real window lies beside it.
fn alone(home: &Path) -> Command {
    let own = home.join("watchbill");
    let built = Path::new(env!("CARGO_BIN_EXE_watchbill"));
    if std::fs::hard_link(built, &own).is_err() {
        std::fs::copy(built, &own).unwrap();
    }
    let mut command = Command::new(own);
    command.env_clear().env("HOME", home).current_dir(home);
    command
}

fn window(folder: &Path, script: &str) {
    let path = folder.join("watchbill-desktop");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_a_window_open_says_how_to_get_one() {
    let home = tempfile::tempdir().unwrap();
    let output = run(alone(home.path()).arg("open").env("PATH", home.path().join("nothing")));
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert_eq!(output.err.lines().count(), 1);
    assert!(
        output.err.contains("watchbill-desktop") && output.err.contains("cargo xtask run"),
        "{}",
        output.err
    );
}

#[test]
fn open_passes_all_options_to_the_window() {
    let home = tempfile::tempdir().unwrap();
    window(home.path(), "echo \"$@\" > told.part && mv told.part told");
    let words = [
        "--demo",
        "--claude-dir",
        "a",
        "--claude-dir",
        "b",
        "--config",
        "c",
        "--data-dir",
        "d",
        "open",
        "09c2",
    ];
    let output = run(alone(home.path()).args(words).env("PATH", "/usr/bin:/bin"));
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "", ""));
    let told = std::fs::read_to_string(home.path().join("told")).unwrap();
    assert_eq!(
        told.trim(),
        "--claude-dir a --claude-dir b --data-dir d --config c --demo --session 09c2f561-3530-4e1a-b026-e91495aac3dd"
    );
}

#[test]
fn open_reports_a_window_that_fails() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("bin");
    std::fs::create_dir(&path).unwrap();
    window(&path, "exit 3");
    let output = run(alone(home.path()).arg("open").env("PATH", &path));
    assert_eq!(output.code, 1);
    assert!(output.err.contains("ended at once"), "{}", output.err);
}
