//! `focus` through real terminals on a display of their own: the program, a registry file, a process that sleeps in the
//! place of an agent. What is asserted is what the person would see: the window in front, the tab, the pane.
//!
//! Each test has a desktop and a home of its own. Linux only. A terminal that is not installed is said and left out.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod agent;
mod front;
mod graphical;
mod multiplexed;
mod wayland;

use anyhow::{Context, Result};
use serde_json::Value;
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

use agent::Agent;

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill");

/// Whether a terminal is installed. Where it is not, the test says so and shows nothing.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        let said = format!("NOT RUN: {program} is not installed (Debian: apt-get install {program})\n");
        // A test whose output is gone has nobody to tell.
        let _ = std::io::Write::write_all(&mut std::io::stdout(), said.as_bytes());
    }
    found
}

/// What `watchbill focus --json` answers.
async fn focus(desktop: &Desktop, agent: &Agent) -> Result<Value> {
    let mut command = desktop.command(PROGRAM);
    ask(&mut command, desktop, agent).await
}

/// The same, with an environment of choice.
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
    // The exit code says the same as the answer.
    let not_possible = answer["outcome"] == "notPossible";
    assert_eq!(output.status.code(), Some(i32::from(not_possible)), "{answer} {said}");
    assert_eq!(said.lines().count(), usize::from(not_possible), "{said}");
    Ok(answer)
}

/// Something else in front, so that raising shows.
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

/// What a program prints.
async fn output(desktop: &Desktop, program: &str, args: &[&str]) -> Result<String> {
    let output = desktop.command(program).args(args).output().await?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{program} {args:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
