//! The program as the user sees it: real window, real page, real tray on a real bus, simulated sessions.
//!
//! Every test has a desktop, a home and a folder of sessions of its own. Linux only.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod agent;
mod alerts;
mod answers;
mod chains;
mod colours;
mod drawn;
mod faults;
mod keyboard;
mod long_timeline;
mod malicious_transcripts;
mod memory;
mod pictures;
mod roster;
mod screen_reader;
mod settings;
mod shell;
mod window_and_tray;

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_watchbill-desktop");
const TITLE: &str = "Watchbill";

/// Starts the program on this desktop; it ends with the returned value.
fn start(desktop: &Desktop, args: &[&str]) -> Result<Child> {
    let mut command = desktop.command(PROGRAM);
    let log = std::fs::File::create(desktop.home().join("program.log"))?;
    command.args(args).env("WATCHBILL_LOG", "info").stderr(log);
    command.spawn().with_context(|| format!("{PROGRAM} could not be started"))
}

/// Waits until the program has ended by itself.
async fn ended(mut program: Child) -> Result<ExitStatus> {
    let status = tokio::time::timeout(Duration::from_secs(60), program.wait()).await;
    Ok(status.context("the program goes on although it should have ended")??)
}

/// Waits until there is a window, and returns its id.
async fn window(desktop: &Desktop) -> Result<String> {
    until("the window", 60, async || desktop.windows(TITLE).await.ok()?.pop()).await
}

/// Waits until there is no window.
async fn no_window(desktop: &Desktop) -> Result<()> {
    until("the window to close", 60, async || desktop.windows(TITLE).await.ok()?.is_empty().then_some(()))
        .await
}

/// The folder for pictures: in the build's folder, which is not checked in.
fn picture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}
