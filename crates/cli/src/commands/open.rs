//! `open`: starts the window, or raises the one that is open.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use watchbill_engine::engine::Outlook;

use crate::args::Global;

const DESKTOP: &str = "watchbill-desktop";

/// Starts the desktop program, which hands over to a running one by itself.
///
/// # Errors
/// When the session is not known or the program cannot be started.
pub fn open(global: &Global, session: Option<&str>) -> anyhow::Result<()> {
    let session = match session {
        Some(asked) => Some(super::engine(global, Outlook::LIVE)?.find(asked)?),
        None => None,
    };
    let mut command = Command::new(desktop());
    for dir in &global.claude_dirs {
        command.arg("--claude-dir").arg(dir);
    }
    if let Some(dir) = &global.data_dir {
        command.arg("--data-dir").arg(dir);
    }
    if let Some(file) = &global.config {
        command.arg("--config").arg(file);
    }
    if global.demo {
        command.arg("--demo");
    }
    if let Some(session) = &session {
        command.arg("--session").arg(session.as_str());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "the window is not installed: no program `{DESKTOP}` beside this one or on PATH; build it with `cargo xtask run`"
        ),
        Err(error) => Err(error).context(format!("cannot start {DESKTOP}")),
    }
}

/// The desktop program beside this one, else whatever PATH has.
fn desktop() -> PathBuf {
    let name = format!("{DESKTOP}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join(&name)))
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from(name))
}
