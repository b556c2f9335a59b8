//! Help, completions and the man page.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::program::{run, run_watchbill, watchbill};

const COMMANDS: [&str; 38] = [
    "roster",
    "watch",
    "serve",
    "mcp",
    "why",
    "chain",
    "run",
    "attach",
    "prompt",
    "queue",
    "interrupt",
    "stop",
    "resume",
    "fork",
    "answer",
    "answers",
    "snooze",
    "put-away",
    "show",
    "search",
    "index",
    "alerts",
    "day",
    "limits",
    "stats",
    "export",
    "memory",
    "summary",
    "forget",
    "status",
    "open",
    "focus",
    "hook",
    "statusline",
    "hooks",
    "doctor",
    "completions",
    "man",
];

#[test]
fn every_command_explains_itself() {
    let mut pages = run_watchbill(&["--help"]).out;
    for command in COMMANDS {
        let output = run_watchbill(&[command, "--help"]);
        assert_eq!(output.code, 0, "{command}");
        pages.push_str(&format!("\n======== {command}\n{}", output.out));
    }
    insta::assert_snapshot!(pages);
}

#[test]
fn the_list_of_commands_is_complete() {
    let help = run_watchbill(&["--help"]).out;
    let section = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names: Vec<_> = section
        .lines()
        .filter_map(|line| {
            line.strip_prefix("  ")?.split_whitespace().next().filter(|_| !line.starts_with("   "))
        })
        .filter(|name| *name != "help")
        .collect();
    let mut known = COMMANDS.to_vec();
    known.sort_unstable();
    let mut shown = names.clone();
    shown.sort_unstable();
    assert_eq!(shown, known);
}

#[test]
fn it_says_its_version() {
    assert_eq!(run_watchbill(&["--version"]).out, format!("watchbill {}\n", env!("CARGO_PKG_VERSION")));
}

/// Feeds `text` to a program that checks it; `None` if this system does not have the program.
fn check(program: &str, words: &[&str], text: &str) -> Option<std::process::Output> {
    let mut command = Command::new(program);
    let piped = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().ok()?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    Some(child.wait_with_output().unwrap())
}

#[test]
fn completions_are_valid_and_know_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = run_watchbill(&["completions", shell]);
        assert_eq!((output.code, output.err.as_str()), (0, ""), "{shell}");
        for command in COMMANDS {
            assert!(output.out.contains(command), "{shell} does not know {command}");
        }
        if let Some(verdict) = check(shell, &["-n"], &output.out).filter(|_| matches!(shell, "bash" | "zsh"))
        {
            assert!(verdict.status.success(), "{shell}: {}", String::from_utf8_lossy(&verdict.stderr));
        }
    }
}

#[test]
fn the_man_page_has_every_command_and_renders_without_a_warning() {
    let page = run_watchbill(&["man"]).out;
    for command in COMMANDS {
        assert!(page.contains(&format!(".SH WATCHBILL {}", command.to_uppercase())), "{command}");
    }
    if let Some(verdict) = check("groff", &["-man", "-Tutf8", "-ww", "-z"], &page) {
        assert_eq!(String::from_utf8_lossy(&verdict.stderr), "", "groff's warnings");
    }
    let home = tempfile::tempdir().unwrap();
    assert_eq!(run(watchbill(home.path()).arg("man")).out, page, "the page is the same each time");
}

#[test]
fn every_command_gets_a_man_page_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let output = run(watchbill(home.path()).args(["man", "--folder", "pages"]).current_dir(home.path()));
    assert_eq!((output.code, output.out.as_str(), output.err.as_str()), (0, "", ""));
    for command in COMMANDS {
        let page = home.path().join(format!("pages/watchbill-{command}.1"));
        let page =
            std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        if let Some(verdict) = check("groff", &["-man", "-Tutf8", "-ww", "-z"], &page) {
            assert_eq!(String::from_utf8_lossy(&verdict.stderr), "", "groff's warnings about {command}");
        }
    }
    let pages = std::fs::read_dir(home.path().join("pages")).unwrap().count();
    assert!(pages > COMMANDS.len(), "the program's own, and those of `hooks`: {pages}");
    let output = run(watchbill(home.path()).args(["man", "--folder", "/dev/null/pages"]));
    assert_eq!(output.code, 1);
    assert!(output.err.contains("cannot write the man pages into /dev/null/pages"), "{}", output.err);
}
