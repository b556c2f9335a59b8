//! `index` gets large pages if the system gives them on request. It restarts itself once, and only then.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::interrupt::{home, index};
use crate::program::run;
use crate::skipped::skipped;

/// The environment of the process after its work has begun. Whether the C library obeys it is not tested: glibc 2.36
/// ignored it in half of the starts of an unoptimized build, and in none of an optimized one.
fn environment_of(command: &mut Command) -> String {
    command.env("WATCHBILL_LOG", "watchbill_history::index=debug");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("a step is stored"), "{line}");
    let environment_of = fs::read(format!("/proc/{}/environ", child.id())).unwrap();
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    String::from_utf8(environment_of).unwrap().replace('\0', "\n")
}

fn is_offered() -> bool {
    let system = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let offered = system.contains("[madvise]");
    if !offered {
        skipped("large pages for the index: this system does not give them on request");
    }
    offered
}

#[test]
fn index_gets_large_pages_where_the_system_offers_them() {
    let home = home();
    let environment_of = environment_of(&mut index(home.path(), "data with a gap"));
    for ours in ["WATCHBILL_LARGE_PAGES=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"] {
        assert_eq!(environment_of.lines().any(|line| line == ours), is_offered(), "{environment_of}");
    }
    // The arguments were passed on.
    assert!(home.path().join("data with a gap/watchbill.db").is_file());
}

#[test]
fn index_does_not_restart_twice_and_keeps_the_users_tunables() {
    let home = home();
    for (name, value) in [("WATCHBILL_LARGE_PAGES", "1"), ("GLIBC_TUNABLES", "glibc.malloc.arena_max=9")] {
        let environment_of = environment_of(index(home.path(), name).env(name, value));
        let ours = |line: &&str| line.starts_with("WATCHBILL_LARGE") || line.starts_with("GLIBC");
        assert_eq!(environment_of.lines().filter(ours).collect::<Vec<_>>(), [format!("{name}={value}")]);
    }
}

#[test]
fn a_file_of_another_name_is_not_started_again() {
    let home = tempfile::tempdir().unwrap();
    let other = home.path().join("loader");
    fs::copy(env!("CARGO_BIN_EXE_watchbill"), &other).unwrap();
    let mut command = Command::new(&other);
    command.env_clear().env("HOME", home.path()).env("WATCHBILL_LOG", "watchbill=debug").arg("index");
    let output = run(&mut command);
    assert_eq!(output.code, 0, "{}", output.err);
    assert_eq!(output.err.contains("is not called watchbill"), is_offered(), "{}", output.err);
}
