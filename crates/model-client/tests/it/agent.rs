//! A made-up agent in print mode.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use watchbill_protocol::model::{ModelAddress, ModelJob};

use crate::{question, run, start, wait_for};

/// A script that stands for the agent.
fn agent(folder: &Path, script: &str) -> PathBuf {
    let program = folder.join("agent");
    std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    program
}

fn job(folder: &Path, program: &Path, timeout_ms: u64) -> ModelJob {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let to = ModelAddress::Agent {
        program: text(program),
        name: String::new(),
        folder: text(folder),
        most_micro_usd: 20_000,
    };
    ModelJob { to, question: Some(question()), timeout_ms }
}

#[test]
fn the_agent_gets_the_question_on_its_input_without_tools_and_with_the_mark() {
    let folder = tempfile::tempdir().unwrap();
    let program = agent(
        folder.path(),
        "printf '%s\\n' \"$@\" > args; env > env; pwd > cwd; cat > input\n\
         echo '{\"is_error\":false,\"result\":\"x\",\"structured_output\":{\"memories\":[]},\"total_cost_usd\":0.00031,\
         \"usage\":{\"input_tokens\":30,\"cache_read_input_tokens\":1000,\"output_tokens\":15}}'",
    );
    let (result, _) = run(&job(folder.path(), &program, 20_000), &[("CLAUDECODE", "1")]);
    assert_eq!(result.reply.as_deref(), Some("{\"memories\":[]}"));
    assert_eq!((result.tokens_in, result.tokens_out, result.micro_usd), (Some(1030), Some(15), Some(310)));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("input"), "Request: mend the log");
    assert!(read("env").contains("WATCHBILL_MEMORY=own") && !read("env").contains("CLAUDECODE"));
    assert_eq!(Path::new(read("cwd").trim()), folder.path().canonicalize().unwrap());
    let args: Vec<String> = read("args").lines().map(str::to_owned).collect();
    let follows = |name: &str| args.iter().position(|arg| arg == name).map(|at| args[at + 1].clone());
    assert_eq!(follows("--tools").as_deref(), Some(""));
    assert_eq!(follows("--setting-sources").as_deref(), Some(""));
    assert_eq!(follows("--model").as_deref(), Some("haiku"));
    assert_eq!(follows("--max-budget-usd").as_deref(), Some("0.020000"));
    assert!(args.iter().any(|arg| arg == "--no-session-persistence"));
}

#[test]
fn an_agent_that_fails_or_hangs_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (script, words) in [
        ("echo 'Invalid API key'; exit 1", "with code 1 and gave no JSON"),
        ("echo '{\"is_error\":true,\"result\":\"limit reached\"}'", "limit reached"),
        ("yes x | head -c 3000000", "longer than"),
        ("sleep 600", "took too long"),
    ] {
        let program = agent(folder.path(), script);
        let (result, _) = run(&job(folder.path(), &program, 1_500), &[]);
        let error = result.error.unwrap();
        assert!(error.contains(words), "{error}");
    }
    let missing = job(folder.path(), &folder.path().join("missing"), 5_000);
    assert!(run(&missing, &[]).0.error.unwrap().contains("code 127"));
}

/// Whether a process runs; a dead one that waits to be reaped does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// The ids of the agent and of its helper.
fn pids(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_agent_dies_with_the_program_however_that_ends() {
    for way in ["input", "killed"] {
        let folder = tempfile::tempdir().unwrap();
        let program = agent(folder.path(), "sleep 600 & echo $$ > pids; echo $! >> pids; wait");
        let mut child = start(&job(folder.path(), &program, 600_000), &[]);
        wait_for("the agent", || pids(folder.path()).len() == 2);
        let pids = pids(folder.path());
        assert!(pids.iter().all(|pid| runs(pid)));
        if way == "input" {
            drop(child.stdin.take());
            wait_for("the helper's end", || !runs(&pids[1]));
        } else {
            child.kill().unwrap();
        }
        wait_for("the agent's end", || !runs(&pids[0]));
        child.wait().unwrap();
        // A helper of a killed group's agent is none of ours to find; end it here.
        let _ = std::process::Command::new("kill").args(["-9", &pids[1]]).output();
    }
}
