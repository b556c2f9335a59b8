//! `focus` with real terminals on a private display: the program, a registry file, and a sleeping process in place of
//! the agent. The tests check what the user would see: the window in front, the tab, the pane.
//!
//! Each test has its own desktop and home. Linux only. If a terminal is not installed, its test prints that and is
//! skipped.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod agent;
mod front;
mod graphical;
mod multiplexed;
mod prompts;
mod wayland;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

use agent::Agent;

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill");

/// Whether a terminal is installed. If not, prints that the test is skipped.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        let said = format!("NOT RUN: {program} is not installed (Debian: apt-get install {program})\n");
        // Without an output there is nothing to report to.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes());
    }
    found
}

/// The answer of `watchbill focus --json`.
async fn focus(desktop: &Desktop, agent: &Agent) -> Result<Value> {
    let mut command = desktop.command(PROGRAM);
    ask(&mut command, desktop, agent).await
}

/// The same, with a prepared environment.
async fn ask(command: &mut tokio::process::Command, desktop: &Desktop, agent: &Agent) -> Result<Value> {
    let output = command
        .args(["focus", &agent.session, "--json", "--claude-dir"])
        .arg(agent::claude_dir(desktop))
        .arg("--data-dir")
        .arg(desktop.home().join("watchbill"))
        .output()
        .await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_slice(&output.stdout).with_context(|| said.clone())?;
    // The exit code agrees with the answer.
    let not_possible = answer["outcome"] == "notPossible";
    assert_eq!(output.status.code(), Some(i32::from(not_possible)), "{answer} {said}");
    assert_eq!(said.lines().count(), usize::from(not_possible), "{said}");
    Ok(answer)
}

/// Opens another window in front, so that raising is visible.
async fn decoy(desktop: &Desktop) -> Result<Child> {
    let xterm = desktop.command("xterm").args(["-T", "decoy", "-e", "sleep", "600"]).spawn()?;
    in_front(desktop, "decoy").await?;
    Ok(xterm)
}

/// Waits until the window with this title is in front.
async fn in_front(desktop: &Desktop, title: &str) -> Result<()> {
    let is_it = async || (desktop.focused().await.ok()??.as_str() == title).then_some(());
    until(&format!("the window `{title}` to be in front"), 20, is_it).await
}

/// The output of a program.
async fn output(desktop: &Desktop, program: &str, args: &[&str]) -> Result<String> {
    let output = desktop.command(program).args(args).output().await?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{program} {args:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
